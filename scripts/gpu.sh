#!/usr/bin/env bash
# Runs on a machine with an NVIDIA GPU: builds for that GPU, runs the tests that need it, and the parts asked for.
# Installs nothing. Results go to the folder $OUT (default build/gpu-results), what a part prints to PART.txt, of
# which the last LINES_SHOWN (default 40) lines are shown.
#
#   scripts/gpu.sh [PART[:SECONDS] ...]
#
# A part that is given SECONDS is stopped after these; one that fails or is stopped does not keep the next from
# running. With $SECONDS_IN_ALL no part, nor the build, runs on after so many seconds. $ROUTINE is what is measured
# (default sgemm; dgemm, of kernels and streamed also ssyrk, dsyrk, sgemmt, dgemmt). TILEBLAS_* in the environment
# holds for all parts.
#
#   scripts/gpu.sh pack
#
# On a machine without a GPU: builds for $ARCHITECTURE (default 90) into $OUT/build.txz. With BUILT=FILE that is unpacked instead
# of building, in a folder of the same path.
#
#   test       ctest -L gpu, but for the next two parts' (the default, with accuracy); TEST_JOBS at a time
#              (default 1)
#   accuracy   the errors of kernels beside cuBLAS's
#   suites     the suites and clients of ctest -L gpu
#   sanitize   compute-sanitizer's SANITIZE_TOOLS (default "memcheck racecheck") on a small conformance run, of the
#              SANITIZE_KERNELS if there are any, and on the SANITIZE_ROWS of the catalog (default
#              sgemm_simt_64x64_4) in all their schedules; "" for all rows, which takes minutes
#   overhead   what preloading costs a call of 64 x 64 that goes to the host
#   ladder     bench/ladder: every rung beside cuBLAS
#   counters   the hardware counters that docs/ladder.md and docs/lab/simt.md quote (needs ncu)
#   kernels    bench/kernels: the production kernels beside cuBLAS; KERNELS_OPTIONS may be --regret, for instance
#   tensor     bench/tensor: the tensor-core kernels beside cuBLAS SGEMM and TF32
#   passes     bench/passes: what each launch of dgemm_crt adds, and what it costs numbers that are left to FP64 units
#   precision  bench/precision: their errors against k
#   spread     bench/spread.py: errors of dgemm_crt against how different magnitudes are, a minute; PYTHON (default
#              python3) has NumPy and PyTorch; SPREAD_OPTIONS
#   streamed   bench/streamed: operands in host memory, beside NVBLAS, cublasXt, cuBLAS with copies, and OpenBLAS;
#              about 200 s for each of STREAMED_MEMORY (default "pageable pinned"), 50 s with STREAMED_SIDES
#              "link_in link_out link_both kernel tileblas copy-run-copy nvblas-tuned"; PINNED_SIDES are those of
#              pinned memory, if others; STREAMED_OPTIONS may be "--size 1024 --size 4096"
#   level3     bench/level3: every routine and type of level 3, of each of LEVEL3_MEMORY (default "device host") beside
#              cuBLAS on the device, and in host memory beside OpenBLAS and cublasXt, some minutes each; LEVEL3_OPTIONS may be
#              "--size 1024,2048,4096"; bench/pictures.py level3 draws level3-device.json and level3-host.json
#   lapack     bench/lapack: LAPACK's routines, of each of LAPACK_MEMORY (default "device host") beside cuSOLVER on the device, and
#              in host memory beside OpenBLAS and copies; some minutes on the device, and in host memory half an hour, so
#              LAPACK_OPTIONS may be "--upper --routine dpotrf,dgetrf --size 1024,2048", or "--routine dgeqrf --rows 65536"
#   regret     bench/regret: the dispatcher's choices beside the best that can be forced; two minutes for each kind
#              of host memory of REGRET_MEMORY (default all kinds), one for the device's, and 200 REGRET_SHAPES; of
#              each of REGRET_ROUTINES (default $ROUTINE), which are any of level 3 that are no batches, in a file
#              of its own: bench/pictures.py routines draws them beside each other
#   programs   bench/programs.py: whole processes with the library and without, 150 s; PROGRAMS_OPTIONS, for
#              instance "--sizes 4096 --calls 30"
#   jobs       bench/jobs: whole jobs of real programs, plain and preloaded in turn, and their seconds in linear algebra;
#              half an hour, so by parts: JOBS_OPTIONS is "--part 1/3", for instance; PYTHON (default python3) has the
#              packages; jobs*.json of all parts go into bench/jobs/run.py --report
#   callers    bench/callers.py: many threads that call at once, as KMeans does, 60 s; CALLERS_OPTIONS
#   fresh      bench/fresh.py: products into fresh memory, in C and, if PYTHON (default python3) has NumPy, in
#              NumPy, 60 s; FRESH_OPTIONS
#   workers    bench/workers.py: sixteen worker processes of PYTHON, 120 s; WORKERS_OPTIONS may be "--sides plain,up,served"
#   beside     bench/beside.py: short products beside another program's long ones, 60 s; BESIDE_OPTIONS
set -euo pipefail
cd "$(dirname "$0")/.."

out=${OUT:-$PWD/build/gpu-results}
build=build/gpu
routine=${ROUTINE:-sgemm}
element=float
[[ $routine == d* ]] && element=double
export PATH=$PATH:/usr/local/cuda/bin PYTHONUNBUFFERED=1

make_build() { # make_build ARCHITECTURE
    cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DTILEBLAS_CUDA=ON -DTILEBLAS_ARCHITECTURES="$1"
    cmake --build "$build" --parallel "$(nproc)"
}

pack_build() {
    make_build "${ARCHITECTURE:-90}"
    echo "$PWD" >"$build/made-at"
    # Each test has all kernels in it: what lies far back is found again.
    tar -c --exclude=CMakeFiles --exclude='*.o' --exclude='*.a' --exclude='*_sim' --exclude='*-sim' \
        --exclude="$build/tests/"{unit,emulated,abi,attach,sim,forward,fuzz,packages,ptxas,tool,farther} "$build" |
        xz --lzma2=preset=3,dict=512MiB >"$out/build.txz"
}

# The build has its folder's path in it.
unpack_build() {
    tar -xJf "$BUILT"
    [[ $(<"$build/made-at") == "$PWD" ]] || { echo "gpu.sh: $BUILT was made at $(<"$build/made-at")" >&2; return 1; }
}

sanitize() { # sanitize TOOL
    local kernel cases=12 status=0
    [[ $1 == racecheck ]] && cases=1 # 23 s
    for kernel in ${SANITIZE_KERNELS:-all}; do
        [[ $kernel == all ]] && kernel='' # the program's word for it
        compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/gpu/conformance_gpu" route=streamed memory=device \
            cases=$cases kernel="$kernel" || status=1
    done
    # shellcheck disable=SC2086 # names
    compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/gpu/schedules_gpu" ${SANITIZE_ROWS-sgemm_simt_64x64_4} ||
        status=1
    return $status
}

measure_streamed() { # measure_streamed MEMORY
    local sides=${STREAMED_SIDES:-}
    [[ $1 == pinned ]] && sides=${PINNED_SIDES:-$sides}
    # shellcheck disable=SC2086 # options, names
    "$build/bench/streamed" --routine "$routine" ${STREAMED_OPTIONS:-} "$out/streamed-$1.json" "$1" $sides
}

measure_level3() { # measure_level3 MEMORY
    local where=()
    [[ $1 == host ]] && where=(--host)
    # shellcheck disable=SC2086 # options
    "$build/bench/level3" "${where[@]}" --json "$out/level3-$1.json" ${LEVEL3_OPTIONS:-}
}

measure_lapack() { # measure_lapack MEMORY
    local where=()
    [[ $1 == host ]] && where=(--host)
    # shellcheck disable=SC2086 # options
    "$build/bench/lapack" "${where[@]}" --json "$out/lapack-$1.json" ${LAPACK_OPTIONS:-}
}

measure_regret() { # measure_regret ROUTINE
    # shellcheck disable=SC2086 # names
    "$build/bench/regret" --routine "$1" "$out/regret-$1.json" "${REGRET_SHAPES:-200}" ${REGRET_MEMORY:-}
}

# Processes of one of bench's Python programs, which starts a program of bench, or Python.
measure_processes() { # measure_processes NAME PROGRAM OPTION...
    python3 "bench/$1.py" "$2" "$build/libtileblas-preload.so" --server "$build/tileblas" --json "$out/$1.json" \
        --element "$element" "${@:3}"
}

measure_jobs() { # measure_jobs SECONDS, 0 where they are not limited
    local limits=() label
    (($1 == 0)) || limits=(--seconds "$(($1 - 15))")
    label=$(git describe --always --dirty 2>/dev/null || echo unknown)
    # shellcheck disable=SC2086 # options
    "${PYTHON:-python3}" bench/jobs/run.py --preload "$build/libtileblas-preload.so" --count "$build/bench/jobs/libjobs_count.so" \
        --server "$build/tileblas" --programs "$build/bench/jobs" --json "$out/jobs.json" --label "$label" "${limits[@]}" \
        ${JOBS_OPTIONS:-}
}

# shellcheck disable=SC2086 # what the environment names
run_part() {
    local others='^(suite|client)\.' # other people's programs
    local each status=0
    local tests=(ctest --test-dir "$build" -L gpu --parallel "${TEST_JOBS:-1}" --output-on-failure)
    # So that it ends its tests itself: what runs on would be in the next part's way.
    ((limit == 0)) || tests+=(--stop-time "$(date -d "+$((limit - 3)) seconds" +%H:%M:%S)")
    case $1 in
    build)
        if [[ -n ${BUILT:-} ]]; then
            unpack_build
        else
            make_build "$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)"
        fi
        ;;
    test) "${tests[@]}" -E "$others|^gpu_accuracy" ;;
    accuracy) "${tests[@]}" --verbose -R '^gpu_accuracy' ;;
    suites) SUITE_WHOLE=1 "${tests[@]}" -R "$others" ;;
    sanitize)
        for each in ${SANITIZE_TOOLS:-memcheck racecheck}; do
            sanitize "$each" || status=1
        done
        return $status
        ;;
    overhead) "$build/bench/overhead" "$build/libtileblas-preload.so" "$routine" ;;
    ladder) "$build/bench/ladder" --ceiling 59.6 --json "$out/ladder.json" ;;
    counters)
        python3 bench/counters.py "$build/bench/ladder" "$out/ladder-ncu.json"
        python3 bench/counters.py "$build/bench/kernels" "$out/kernels-ncu.json" --size 4096 --names "^${routine::1}gemm_" \
            --options="--routine $routine"
        ;;
    kernels) "$build/bench/kernels" --routine "$routine" --json "$out/kernels.json" ${KERNELS_OPTIONS:-} ;;
    tensor) "$build/bench/tensor" "$out/tensor.json" ;;
    passes) "$build/bench/passes" ${PASSES_OPTIONS:-} ;;
    precision) "$build/bench/precision" "$out/precision.json" "$element" ;;
    spread)
        "${PYTHON:-python3}" bench/spread.py --library "$build/libtileblas.so" --json "$out/spread.json" ${SPREAD_OPTIONS:-}
        ;;
    streamed)
        for each in ${STREAMED_MEMORY:-pageable pinned}; do
            measure_streamed "$each" || status=1
        done
        return $status
        ;;
    level3)
        for each in ${LEVEL3_MEMORY:-device host}; do
            measure_level3 "$each" || status=1
        done
        return $status
        ;;
    lapack)
        for each in ${LAPACK_MEMORY:-device host}; do
            measure_lapack "$each" || status=1
        done
        return $status
        ;;
    regret)
        for each in ${REGRET_ROUTINES:-$routine}; do
            measure_regret "$each" || status=1
        done
        return $status
        ;;
    programs) measure_processes programs "$build/bench/program" ${PROGRAMS_OPTIONS:-} ;;
    jobs) measure_jobs "$limit" ;;
    callers) measure_processes callers "$build/bench/callers" ${CALLERS_OPTIONS:-} ;;
    fresh) measure_processes fresh "$build/bench/fresh" --python "$(command -v "${PYTHON:-python3}")" ${FRESH_OPTIONS:-} ;;
    workers) measure_processes workers "$(command -v "${PYTHON:-python3}")" ${WORKERS_OPTIONS:-} ;;
    beside) measure_processes beside "$(command -v "${PYTHON:-python3}")" ${BESIDE_OPTIONS:-} ;;
    *)
        echo "gpu.sh: there is no part '$1'" >&2
        return 2
        ;;
    esac
}

# A part by itself, of so many seconds: how the parts below are run, so that they can be stopped.
if [[ ${1:-} == --part ]]; then
    limit=$3
    run_part "$2"
    exit
fi

mkdir -p "$out" build
if [[ ${1:-} == pack ]]; then
    pack_build
    exit
fi
parts=("$@")
((${#parts[@]})) || parts=(test accuracy)
[[ -n ${BUILT:-} ]] || command -v nvcc >/dev/null || { echo "gpu.sh: nvcc is not on the PATH" >&2; exit 1; }
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader

status=0
for part in build "${parts[@]}"; do
    name=${part%%:*} limit=0 # none
    [[ $part == *:* ]] && limit=${part#*:}
    if [[ -n ${SECONDS_IN_ALL:-} ]]; then
        left=$((SECONDS_IN_ALL - SECONDS))
        ((left > 0)) || { echo "== $name: no time left"; status=1; continue; }
        ((limit > 0 && limit < left)) || limit=$left
    fi
    echo "== $name, at $SECONDS s"
    result=0
    timeout --kill-after=5 "$limit" "$0" --part "$name" "$limit" >"$out/$name.txt" 2>&1 || result=$?
    tail -n "${LINES_SHOWN:-40}" "$out/$name.txt"
    ((result == 0)) || { echo "== $name: status $result"; status=1; }
    [[ $name != build || $result -eq 0 ]] || break
done
echo "== $SECONDS s in all"
exit "$status"
