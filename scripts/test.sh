#!/usr/bin/env bash
# Builds TileBLAS and runs its tests. Ends with the line "N passed, N failed, N skipped"; the exit status is 0
# when nothing failed.
#
#   scripts/test.sh [--all | --whole] [ctest arguments, for instance -R conformance]
#
# Without an option it takes some minutes from nothing built, and runs what a change most likely breaks. --all is what CI runs: all
# kinds of tests, and those again under the address, undefined-behaviour and thread sanitizers to which a sanitizer has something to
# add. --whole leaves nothing out: other people's suites as a whole (scripts/suites.sh), every kernel, every failing operation.
# tests/runs.def is the table of what runs where.
source "$(dirname "$0")/setup.sh"

run=quick presets=(release) whole_tests=OFF
case ${1:-} in
--all | --whole)
    run=${1#--}
    presets+=(asan tsan)
    shift
    ;;
esac
declare -A runs=([quick]='quick' [all]='quick|all' [whole]='quick|all|whole') # that a run has
declare -A left_out=([quick]='all|whole' [all]='whole' [whole]='none')
if [[ $run == whole ]]; then
    whole_tests=ON
    export SUITE_WHOLE=1
fi

# Where no GPU runs the kernels, stand-ins are built: tests/ptxas compiles those that have changed, and judges them.
fast_kernels=OFF
if [[ $run != whole ]] && ! nvidia-smi >/dev/null 2>&1; then
    fast_kernels=ON
fi

[[ $run == quick ]] || want_suites

# The same random cases every time, so that a failure comes with the change that made it, and others with each preset; other numbers
# draw others. (How many of them the soak test gets through depends on the machine.)
seed=${TILEBLAS_TEST_SEED:-1}
declare -A seeds=([release]=$seed [asan]=$((seed + 1)) [tsan]=$((seed + 2)))

log=build/tests.log
: >"$log"
status=0
# Tests wait for the simulated device, for each other's threads and for files as much as they compute.
jobs=$(($(nproc) * 2))
run_tests() { # run_tests PRESET [CTEST ARGUMENT...]
    TILEBLAS_TEST_SEED=${seeds[$1]} ctest --preset "$1" --parallel "$jobs" --no-tests=ignore \
        --label-regex "^(${runs[$run]})$" "${@:2}" 2>&1 | tee -a "$log" || status=1
}

# Other people's programs and suites, packages and the assembler's reports on the kernels fail seldom: they come last.
late='client|suite|packages|kernels|gpu'
for preset in "${presets[@]}"; do
    if [[ $preset == release && $run != quick ]]; then
        tests_left_out=${left_out[$run]} build release
        await_suites
    elif [[ $preset == release ]]; then
        tests_left_out=${left_out[$run]} build release test_programs tileblas-preload tileblas-command
    else
        tests_left_out="$late|${left_out[$run]}" build "$preset" test_programs
    fi
    run_tests "$preset" --label-exclude "^($late)$" "$@"
done
run_tests release --label-regex "^($late)$" "$@"

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
