#!/usr/bin/env bash
# Builds TileBLAS and runs its tests. Ends with the line "N passed, N failed, N skipped"; the exit status is 0
# when nothing failed.
#
#   scripts/test.sh [--sanitizers] [ctest arguments, for instance -R conformance]
#
# --sanitizers repeats the tests under the address, undefined-behaviour and thread sanitizers; CI=true implies it.
source "$(dirname "$0")/setup.sh"

presets=(release)
if [[ ${1:-} == --sanitizers ]]; then
    presets+=(asan tsan)
    shift
elif [[ ${CI:-} == true ]]; then
    presets+=(asan tsan)
fi

# A second NumPy, on the system's BLAS, is one more client to test with. The tests go on without it.
if ! /usr/bin/python3 -c 'import numpy' 2>/dev/null && ! apt_install python3-numpy; then
    say "python3-numpy could not be installed: its tests are skipped"
fi

log=build/tests.log
: >"$log"
status=0
for preset in "${presets[@]}"; do
    build "$preset"
    # The assembler's reports on the kernels are the same for every preset, and Python programs are slow.
    once=()
    [[ $preset == release ]] || once=(--label-exclude 'kernels|client')
    ctest --preset "$preset" --parallel "$(nproc)" --no-tests=error "${once[@]}" "$@" 2>&1 | tee -a "$log" || status=1
done

# ctest's line of a test: " 3/12 Test  #7: name .......   Passed    0.01 sec", or ***Skipped, ***Failed and so on.
outcomes=$(grep -E '^ *[0-9]+/[0-9]+ Test +#[0-9]+: ' "$log" || true)
count() { grep -cE "$1" <<<"$outcomes" || true; }
all=$(count 'Test')
passed=$(count ' Passed +[0-9.]+ sec')
skipped=$(count '\*\*\*Skipped')

say
say "$passed passed, $((all - passed - skipped)) failed, $skipped skipped"
exit "$status"
