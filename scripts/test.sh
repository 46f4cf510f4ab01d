#!/usr/bin/env bash
# Builds TileBLAS and runs its tests. Ends with the line "N passed, N failed, N skipped"; the exit status is 0
# when nothing failed.
#
#   scripts/test.sh [--sanitizers | --whole] [ctest arguments, for instance -R conformance]
#
# --sanitizers repeats the tests under the address, undefined-behaviour and thread sanitizers; CI=true implies it. --whole
# does so too, and leaves nothing out: other people's suites as a whole (scripts/suites.sh), and under the sanitizers what
# has little to show there.
source "$(dirname "$0")/setup.sh"

presets=(release)
whole=
case ${1:-} in
--sanitizers)
    presets+=(asan tsan)
    shift
    ;;
--whole)
    presets+=(asan tsan)
    whole=1
    shift
    ;;
*) [[ ${CI:-} != true ]] || presets+=(asan tsan) ;;
esac

# Where no GPU runs the kernels, CI builds stand-ins: tests/ptxas compiles those that have changed, and judges them.
fast_kernels=OFF
if [[ ${CI:-} == true && ! $whole ]] && ! nvidia-smi >/dev/null 2>&1; then
    fast_kernels=ON
fi

want_suites

# The same random cases every time, so that a failure comes with the change that made it; other numbers draw others. (How
# many of them the soak test gets through depends on the machine.)
export TILEBLAS_TEST_SEED=${TILEBLAS_TEST_SEED:-1}

log=build/tests.log
: >"$log"
status=0
# Tests wait for the simulated device, for each other's threads and for files as much as they compute.
jobs=$(($(nproc) * 2))
run_tests() { # run_tests PRESET [CTEST ARGUMENT...]
    ctest --preset "$1" --parallel "$jobs" --no-tests=ignore "${@:2}" 2>&1 | tee -a "$log" || status=1
}

# Other people's programs and suites, packages and the assembler's reports on the kernels are slow and fail seldom: they come
# last. They are the same for every preset, and most need programs that are built without sanitizers. The command has one
# thread.
late='client|suite|packages|kernels|gpu'
declare -A left_out=([release]=$late [asan]="$late|once" [tsan]="$late|once|tool")
left_out_late=whole whole_tests=OFF
if [[ $whole ]]; then
    whole_tests=ON
    export SUITE_WHOLE=1
    left_out[asan]=none left_out[tsan]=none left_out_late=none
fi
for preset in "${presets[@]}"; do
    if [[ $preset == release ]]; then
        build release
        await_suites
    else
        tests_left_out=${left_out[$preset]} build "$preset" test_programs
    fi
    run_tests "$preset" --label-exclude "^(${left_out[$preset]})$" "$@"
done
run_tests release --label-regex "^($late)$" --label-exclude "^($left_out_late)$" "$@"

# ctest's line of a test: " 3/12 Test  #7: name .......   Passed    0.01 sec", or ***Skipped, ***Failed and so on.
outcomes=$(grep -E '^ *[0-9]+/[0-9]+ Test +#[0-9]+: ' "$log" || true)
count() { grep -cE "$1" <<<"$outcomes" || true; }
all=$(count 'Test')
passed=$(count ' Passed +[0-9.]+ sec')
skipped=$(count '\*\*\*Skipped')

((all > 0)) || fail "there is no such test"
say
say "$passed passed, $((all - passed - skipped)) failed, $skipped skipped"
exit "$status"
