#!/usr/bin/env bash
# Random products on the simulated device for long: devices that fail, several threads, operands and options that change, forks,
# cancelled threads, jumps out of calls (tests/sim/soak_all.c). Then, for as long, clients and servers that are killed, stopped and
# started again (tests/server/soak.c). Without sanitizers, and with each of them in turn, as many seconds each; sanitizers do not
# bear forks, cancellations and jumps. Stops at the first failure and names its session.
#
#   scripts/soak.sh [SECONDS [SANITIZER ...]]      600 seconds of: none address thread
#
# TILEBLAS_TEST_SEED draws the same sessions again; one alone: build/soak-SANITIZER/tests/sim/soak_all_sim SESSION session, and
# soak_server_sim COMMAND SESSION session in tests/server
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-600}
sanitizers=("${@:2}")
((${#sanitizers[@]})) || sanitizers=(none address thread)

export TILEBLAS_HOST_BLAS=/nonexistent TILEBLAS_CALIBRATE=0
# A session may end while the device is coming up: what has been opened of it then stays open, threads of the simulated device too.
export TSAN_OPTIONS="suppressions=$PWD/tests/thread_sanitizer.txt:atexit_sleep_ms=50:halt_on_error=1:report_thread_leaks=0"

for sanitizer in "${sanitizers[@]}"; do
    case $sanitizer in
    none) options=(-DCMAKE_BUILD_TYPE=Release) mode=() ;;
    address) options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DTILEBLAS_SANITIZE=address,undefined") mode=(gentle) ;;
    thread) options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DTILEBLAS_SANITIZE=thread) mode=(gentle) ;;
    *)
        echo "soak.sh: none, address or thread, not '$sanitizer'" >&2
        exit 2
        ;;
    esac
    build=build/soak-$sanitizer
    echo "== $sanitizer"
    mkdir -p "$build"
    if ! { cmake -S . -B "$build" -DTILEBLAS_CUDA=OFF "${options[@]}" &&
        cmake --build "$build" --parallel "$(nproc)" --target soak_all_sim soak_server_sim tileblas-command-sim; } >"$build/build.log" 2>&1; then
        tail -n 40 "$build/build.log" >&2
        exit 1
    fi
    # What the library says of lost devices is what it should. With threads of its own OpenBLAS, amid forks, cancellations and
    # jumps, comes to wait for them for ever.
    OPENBLAS_NUM_THREADS=1 "$build/tests/sim/soak_all_sim" "$seconds" "${mode[@]}" 2> >(grep -v '^tileblas: ' >&2)
    (cd "$build/tests/server" &&
        ./soak_server_sim ../tool/tileblas-sim "$seconds" "${mode[@]}" 2> >(grep -v '^tileblas' >&2))
done
