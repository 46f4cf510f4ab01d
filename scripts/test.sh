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

# Other people's programs and tests: a second NumPy, on the system's BLAS; Netlib's libraries, and OpenBLAS, with integers
# of 64 bits too; Netlib's testers; the headers of Eigen and Armadillo, and a compiler for them; pytest, for NumPy's and
# SciPy's own tests. The tests go on without them, and say what was skipped.
want() { # want PACKAGE COMMAND...: installs the package unless the command says that it is there
    "${@:2}" >/dev/null 2>&1 || apt_install "$1" || say "$1 could not be installed: its tests are skipped"
}
want python3-numpy /usr/bin/python3 -c 'import numpy'
want libblas3 compgen -G '/usr/lib/*/blas/libblas.so.3'
want liblapack3 compgen -G '/usr/lib/*/lapack/liblapack.so.3'
want libopenblas64-0-pthread compgen -G '/usr/lib/*/openblas64-*/libblas64.so.3'
want libblas64-3 compgen -G '/usr/lib/*/blas64/libblas64.so.3'
want liblapack64-3 compgen -G '/usr/lib/*/lapack64/liblapack64.so.3'
want libblas-test compgen -G '/usr/lib/*/blas/xblat3s'
want liblapack-test compgen -G '/usr/lib/*/lapack/xlintsts'
want libeigen3-dev test -e /usr/include/eigen3/Eigen/Core
want libarmadillo-dev test -e /usr/include/armadillo
want g++ have g++
want locales test -e /usr/share/i18n/locales/de_DE
if ! PYTHONPATH=$PWD/build/pytest "$python" -c 'import hypothesis, pytest' 2>/dev/null; then
    say "installing: pytest hypothesis, with pip into build/pytest"
    "$python" -m pip install --quiet --target build/pytest pytest hypothesis ||
        say "pytest could not be installed: NumPy's and SciPy's own tests are skipped"
fi

# The same random cases every time, so that a failure comes with the change that made it; other numbers draw others. (How
# many of them the soak test gets through depends on the machine.)
export TILEBLAS_TEST_SEED=${TILEBLAS_TEST_SEED:-1}

log=build/tests.log
: >"$log"
status=0
for preset in "${presets[@]}"; do
    build "$preset"
    # The assembler's reports on the kernels are the same for every preset, and Python programs are slow.
    once=()
    [[ $preset == release ]] || once=(--label-exclude 'kernels|client|suite')
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
