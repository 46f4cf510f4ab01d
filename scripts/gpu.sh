#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds for that GPU, runs the tests that need it, and the parts asked for.
# Installs nothing. Results go to the folder $OUT (default build/gpu-results).
#
#   scripts/gpu.sh [PART ...]
#
#   test       ctest -L gpu, but for the next part's (the default)
#   suites     the suites and clients of ctest -L gpu
#   sanitize   compute-sanitizer, memcheck and racecheck, on a small conformance run and on the SANITIZE_ROWS of the
#              catalog (default sgemm_simt_64x64_4) in all their schedules; "" for all rows, which takes minutes
#   overhead   what preloading costs a call of 64 x 64 that goes to the host
#   ladder     bench/ladder: every rung beside cuBLAS
#   counters   the hardware counters that docs/ladder.md and docs/lab/simt.md quote (needs ncu)
#   kernels    bench/kernels: the production kernels beside cuBLAS; KERNELS_OPTIONS may be --regret, for instance
#   tensor     bench/tensor: the tensor-core kernels beside cuBLAS SGEMM and TF32
#   precision  bench/precision: their errors against k
#   streamed   bench/streamed: operands in host memory, beside NVBLAS, cublasXt, cuBLAS with copies, and OpenBLAS; about
#              200 s for each of STREAMED_MEMORY (default "pageable pinned"), 50 s with STREAMED_SIDES "link_in link_out
#              link_both kernel tileblas copy-run-copy nvblas-tuned"
#   regret     bench/regret: the dispatcher's choices beside the best that can be forced; two minutes for each kind of host
#              memory of REGRET_MEMORY (default all kinds), one for the device's
#   programs   bench/programs.py: whole processes with the library and without, 150 s; PROGRAMS_OPTIONS, for instance
#              "--sizes 4096 --calls 30"
#   callers    bench/callers.py: many threads that call at once, as KMeans does, 60 s; CALLERS_OPTIONS
#   fresh      bench/fresh.py: products into fresh memory, in C and, if PYTHON (default python3) has NumPy, in NumPy, 60 s;
#              FRESH_OPTIONS
set -euo pipefail
cd "$(dirname "$0")/.."

out=${OUT:-$PWD/build/gpu-results}
build=build/gpu
mkdir -p "$out" build
parts=("$@")
((${#parts[@]})) || parts=(test)

export PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "gpu.sh: nvcc is not on the PATH" >&2; exit 1; }
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)

if ! { cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DTILEBLAS_CUDA=ON \
    -DTILEBLAS_ARCHITECTURES="$architecture" && cmake --build "$build" --parallel "$(nproc)"; } >"$out/build.log" 2>&1; then
    tail -n 40 "$out/build.log" >&2
    exit 1
fi

others='^(suite|client)\.' # other people's programs
status=0
for part in "${parts[@]}"; do
    echo "== $part"
    case $part in
    test)
        ctest --test-dir "$build" -L gpu -E "$others" --output-on-failure >"$out/ctest.log" 2>&1 || status=1
        tail -n 45 "$out/ctest.log"
        ;;
    suites)
        SUITE_WHOLE=1 ctest --test-dir "$build" -L gpu -R "$others" --output-on-failure >"$out/suites.log" 2>&1 || status=1
        tail -n 45 "$out/suites.log"
        ;;
    sanitize)
        for tool in memcheck racecheck; do
            cases=12
            [[ $tool == racecheck ]] && cases=1 # 23 s
            compute-sanitizer --tool "$tool" --error-exitcode 1 "$build/tests/gpu/conformance_gpu" route=streamed \
                memory=device cases=$cases >"$out/$tool.log" 2>&1 || status=1
            # shellcheck disable=SC2086 # names
            compute-sanitizer --tool "$tool" --error-exitcode 1 "$build/tests/gpu/schedules_gpu" \
                ${SANITIZE_ROWS-sgemm_simt_64x64_4} >>"$out/$tool.log" 2>&1 || status=1
            grep -E 'checks|SUMMARY' "$out/$tool.log" || status=1
        done
        ;;
    overhead)
        "$build/bench/overhead" "$build/libtileblas-preload.so" | tee "$out/overhead.txt" || status=1
        ;;
    ladder)
        "$build/bench/ladder" --ceiling 59.6 --json "$out/ladder.json" | tee "$out/ladder.txt" || status=1
        ;;
    counters)
        python3 bench/counters.py "$build/bench/ladder" "$out/ladder-ncu.json" || status=1
        python3 bench/counters.py "$build/bench/kernels" "$out/kernels-ncu.json" --size 4096 --names '^sgemm_' || status=1
        ;;
    kernels)
        "$build/bench/kernels" --json "$out/kernels.json" ${KERNELS_OPTIONS:-} | tee "$out/kernels.txt" || status=1
        ;;
    tensor)
        "$build/bench/tensor" "$out/tensor.json" | tee "$out/tensor.txt" || status=1
        ;;
    precision)
        "$build/bench/precision" "$out/precision.json" >"$out/precision.txt" || status=1
        ;;
    streamed)
        for memory in ${STREAMED_MEMORY:-pageable pinned}; do
            # shellcheck disable=SC2086 # names
            "$build/bench/streamed" "$out/streamed-$memory.json" "$memory" ${STREAMED_SIDES:-} | tee "$out/streamed-$memory.txt" || status=1
        done
        ;;
    regret)
        # shellcheck disable=SC2086 # names
        "$build/bench/regret" "$out/regret.json" "${REGRET_SHAPES:-200}" ${REGRET_MEMORY:-} | tee "$out/regret.txt" || status=1
        ;;
    programs)
        # shellcheck disable=SC2086 # options
        python3 bench/programs.py "$build/bench/program" "$build/libtileblas-preload.so" --json "$out/programs.json" \
            ${PROGRAMS_OPTIONS:-} | tee "$out/programs.txt" || status=1
        ;;
    callers)
        # shellcheck disable=SC2086 # options
        python3 bench/callers.py "$build/bench/callers" "$build/libtileblas-preload.so" --json "$out/callers.json" \
            ${CALLERS_OPTIONS:-} | tee "$out/callers.txt" || status=1
        ;;
    fresh)
        # shellcheck disable=SC2086 # options
        python3 bench/fresh.py "$build/bench/fresh" "$build/libtileblas-preload.so" --json "$out/fresh.json" \
            --python "$(command -v "${PYTHON:-python3}")" ${FRESH_OPTIONS:-} | tee "$out/fresh.txt" || status=1
        ;;
    *)
        echo "gpu.sh: there is no part '$part'" >&2
        exit 2
        ;;
    esac
done
exit "$status"
