#!/usr/bin/env bash
# Installs what building and testing need, by name and only what is missing, on Debian or Ubuntu as root or
# with sudo. Where everything is present it changes nothing and asks no network.
#
# demo.sh, suites.sh and test.sh source this file. They get: the project's root as working directory, $python (a Python
# with NumPy and scikit-learn), and the functions say, fail, build, want_suites and await_suites.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s\n' "$*"; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null; }

# ---- Debian packages --------------------------------------------------------------------------------------

compiles() { # compiles PROGRAM [LIBRARY]
    printf '%s\n' "$1" | gcc -x c - -o /dev/null ${2:+"$2"} 2>/dev/null
}

apt_install() { # apt_install PACKAGE...
    local as_root=()
    if [[ $(id -u) -ne 0 ]]; then
        have sudo || return 1
        as_root=(sudo)
    fi
    have apt-get || return 1
    say "installing: $* (log: build/setup.log)"
    mkdir -p build
    if [[ ! ${apt_updated:-} ]]; then
        "${as_root[@]}" apt-get -q update >build/setup.log 2>&1 </dev/null || return
        apt_updated=1
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -q install --yes --no-install-recommends "$@" >>build/setup.log 2>&1 </dev/null
}

# The packages whose service is not there yet. Services are tried, not looked up: they may come from elsewhere.
missing_packages() {
    have cmake || echo cmake
    have ninja || have make || echo make
    compiles 'int main(void) { return 0; }' || echo gcc libc6-dev
    compiles $'#include <cblas.h>\nint main(void) { return (int)cblas_isamax(0, 0, 1); }' -lopenblas ||
        echo libopenblas-dev
    # nvcc is never installed by this script, but it is used when it is there, and preprocesses with g++.
    [[ -z $nvcc ]] || have g++ || echo g++
    can_make_venv python3 || can_make_venv /usr/bin/python3 || [[ -n $(find_python) ]] ||
        echo python3 python3-venv
}

# ---- Python -----------------------------------------------------------------------------------------------

has_numpy() { "$1" -c 'import numpy, sklearn' 2>/dev/null; }
can_make_venv() { "$1" -c 'import venv, ensurepip' 2>/dev/null; }

# A Python that can run the example: the project's own environment, or one that already has the modules.
find_python() {
    local candidate
    for candidate in "$PWD/build/venv/bin/python" python3 /usr/bin/python3; do
        if has_numpy "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
}

make_venv() {
    local base=python3
    can_make_venv "$base" || base=/usr/bin/python3
    say "installing: numpy scikit-learn, with pip into build/venv"
    "$base" -m venv build/venv && build/venv/bin/python -m pip install --quiet numpy scikit-learn
}

# ---- Building ---------------------------------------------------------------------------------------------

cmake_is_new() {
    [[ $(cmake --version) =~ version\ ([0-9]+)\.([0-9]+) ]] &&
        ((BASH_REMATCH[1] > 3 || (BASH_REMATCH[1] == 3 && BASH_REMATCH[2] >= 24)))
}

# The presets need CMake 3.24, which older distributions do not have.
find_cmake() {
    cmake_is_new && return
    PATH=$PWD/build/cmake/cmake/data/bin:$PATH
    cmake_is_new && return
    say "installing: cmake, with pip into build/cmake"
    "$python" -m pip install --quiet --target build/cmake cmake && cmake_is_new
}

# What the kernels are compiled for: this machine's GPUs, or one architecture, to see that they compile, where
# there is none. An ordinary build takes every major one.
find_architectures() {
    local found
    found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -u |
        paste -sd ';') || true
    if [[ $found =~ ^[0-9\;]+$ ]]; then printf '%s' "$found"; else printf 90; fi
}

# build PRESET [TARGET...]: says what CMake found, and the log's end when something goes wrong. fast_kernels=ON: with
# stand-ins for kernels. tests_left_out: labels for whose tests the target test_programs builds nothing.
build() {
    local log=build/$1.log generator=()
    [[ -f build/$1/CMakeCache.txt ]] || ! have ninja || generator=(-G Ninja)
    mkdir -p build
    say "building build/$1, for a few minutes the first time"
    if ! { cmake --preset "$1" "${generator[@]}" -DTILEBLAS_PYTHON="$python" \
        -DTILEBLAS_ARCHITECTURES="$(find_architectures)" -DTILEBLAS_FAST_KERNELS="${fast_kernels:-OFF}" \
        -DTILEBLAS_TESTS_LEFT_OUT="${tests_left_out:-}" -DTILEBLAS_WHOLE_TESTS="${whole_tests:-ON}" &&
        cmake --build --preset "$1" --parallel "$(nproc)" ${2:+--target "${@:2}"}; } >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        fail "building the preset $1 failed; the whole log is $log"
    fi
    sed -n '/^-- TileBLAS/,/^-- Configuring done/{/^-- Configuring/d;s/^--/ /;p}' "$log"
}

# ---- Other people's programs and tests --------------------------------------------------------------------

want() { # want PACKAGE COMMAND...: adds the package to $wanted unless the command says that it is there
    "${@:2}" >/dev/null 2>&1 || wanted+=("$1")
}

# All at once or, where one of them cannot be had, one by one.
install_wanted() {
    local package
    ((${#wanted[@]} == 0)) || apt_install "${wanted[@]}" && return
    for package in "${wanted[@]}"; do
        apt_install "$package" || say "$package could not be installed: its tests are skipped"
    done
}

# Installs for test.sh and suites.sh: a second NumPy, on the system's BLAS; Netlib's libraries, and OpenBLAS, with
# integers of 64 bits too; Netlib's testers; the headers of Eigen and Armadillo, and a compiler for them; R
# and CHOLMOD; PySCF; pytest, for NumPy's and SciPy's own tests; what makes wheels, looks at them, and runs notebooks; MPI with
# ScaLAPACK and its testers, and Dask; a browser, for reports. The tests go on without them, and say what was skipped.
want_suites() {
    local wanted=()
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
    want r-base-core have Rscript
    want libsuitesparse-dev test -e /usr/include/suitesparse/cholmod.h
    want openmpi-bin have mpirun
    want libscalapack-openmpi-dev compgen -G '/usr/lib/*/libscalapack-openmpi.so'
    want scalapack-mpi-test compgen -G '/usr/lib/*/scalapack/openmpi-tests/xdlu'
    want chromium have chromium
    want locales test -e /usr/share/i18n/locales/de_DE
    install_wanted
    # PySCF goes into an environment of the project's own, and into no other.
    if [[ $python == "$PWD/build/venv/"* ]]; then
        want_modules build/venv "its tests are skipped" pyscf -- pyscf
    fi
    want_modules build/pytest "NumPy's and SciPy's own tests are skipped" hypothesis,pytest -- pytest hypothesis
    # Few modules of these are ever imported. Ninja is a program, which building a wheel takes.
    local ninja=()
    have ninja || ninja=(ninja)
    want_modules build/wheel-tools "the wheel is not tested" "auditwheel,ipykernel,nbclient,scikit_build_core${ninja:+,ninja}" \
        -- --no-compile auditwheel ipykernel nbclient 'scikit-build-core>=1.0' "${ninja[@]}"
    want_modules build/dask-tools "its test is skipped" dask.array,distributed -- --no-compile dask distributed
}

# want_modules FOLDER LOSS MODULE,... -- ARGUMENT...: has pip install, in the background, what modules are missing, into a
# folder or an environment; LOSS is what comes of it when it cannot.
want_modules() {
    local folder=$1 loss=$2 modules=${3//,/, } where=(--target "$1")
    [[ ! -e $folder/bin/python ]] || where=()
    shift 4
    PYTHONPATH=$PWD/$folder "$python" -c "import $modules" 2>/dev/null && return
    say "installing: $modules, with pip into $folder"
    { "$python" -m pip install --quiet "${where[@]}" "$@" || say "$modules could not be installed: $loss"; } &
    installing+=($!)
}

# Waits, before the tests, until what want_suites has begun to install is there.
await_suites() {
    ((${#installing[@]} == 0)) || wait "${installing[@]}"
    installing=()
}
installing=()

# ---- Doing it ---------------------------------------------------------------------------------------------

nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc || true)
say "nvcc: ${nvcc:-not found; the library is built without GPU kernels}"

read -ra missing < <(missing_packages | xargs)
if ((${#missing[@]})); then
    apt_install "${missing[@]}" || true # what matters is whether they are there now
    read -ra missing < <(missing_packages | xargs)
    ((${#missing[@]} == 0)) || fail "could not install these packages; install them and run this again: ${missing[*]}"
fi

python=$(find_python)
if [[ -z $python ]]; then
    make_venv || fail "pip could not install numpy and scikit-learn into build/venv"
    python=$(find_python)
    [[ -n $python ]] || fail "numpy and scikit-learn, installed in build/venv, cannot be imported"
fi
find_cmake || fail "CMake 3.24 or later is needed, and pip could not install it into build/cmake"
