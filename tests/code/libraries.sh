#!/bin/sh
# Each library brings its device code to the driver: libtileblas.so its own, wherever it has been copied to, the others that of
# the libtileblas.so.0 beside them. Without it they say so, once, and products are the CPU's.
#
#   libraries.sh DRIVER MULTIPLY LINK PRELOAD PROVIDER PROVIDER64 COMMAND      DRIVER: stand-in (libcuda.c), or real
set -eu
driver=$1 multiply=$2 link=$3 preload=$4 provider=$5 provider64=$6 command=$7
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
cd "$work"
export TILEBLAS_START=wait TILEBLAS_ROUTE=streamed TILEBLAS_CALIBRATE=0

# What shows that the code has come to the driver.
case $driver in
stand-in) brought='^driver: a fat binary$' ;;
real)
    "$command" info >said 2>&1 || { cat said; exit 1; }
    grep -q '^GPU 0 ' said || { echo "skipped: there is no GPU"; exit 77; }
    export TILEBLAS_VERBOSE=1
    brought='^tileblas: sgemm .* -> streamed with '
    ;;
esac

fail() { echo "$*"; cat said; exit 1; }
multiply() { # multiply WHAT PROGRAM...
    what=$1
    shift
    env "$@" >said 2>&1 || fail "$what: a wrong product:"
}
brings_code() {
    multiply "$@"
    grep -q "$brought" said || fail "$1 has brought no code:"
    if grep -q 'no fat binary\|stay on the CPU' said; then fail "$1 has brought something else:"; fi
}
has_none() {
    multiply "$@"
    test "$(grep -c '^tileblas: products stay on the CPU: the device code is in libtileblas.so.0' said)" = 1 ||
        fail "$1 does not say once that there is no code:"
    if grep -q "$brought" said; then fail "$1 has brought code:"; fi
}
command_finds_code() { # command_finds_code COMMAND FILE
    "$1" info >said 2>&1 || fail "$1 fails:"
    grep -q "^device code  $2\$" said || fail "$1 does not find $2:"
    grep -q '^GPU 0 ' said || fail "$1 brings no GPU up:"
}

brings_code "in the build, libtileblas.so" "$multiply" "$link"
brings_code "in the build, the preload library" LD_PRELOAD="$preload" "$multiply"
brings_code "in the build, the provider" "$multiply" "$provider"
command_finds_code "$command" "$(realpath "$link")"

mkdir alone
cp "$link" alone/renamed.so
brings_code "libtileblas.so alone" "$multiply" ./alone/renamed.so
cp "$preload" "$command" alone
has_none "the preload library alone" LD_PRELOAD=./alone/libtileblas-preload.so "$multiply"
has_none "the command alone" ./alone/tileblas info
grep -q '^GPU  *none: .*libtileblas.so.0' said || fail "the command does not say why there is no GPU:"
cp "$link" alone/libtileblas.so.0
brings_code "the preload library beside it" LD_PRELOAD=./alone/libtileblas-preload.so "$multiply"
command_finds_code ./alone/tileblas "$work/alone/libtileblas.so.0"

# The library is found where it is installed, and where it was moved to.
mkdir -p first/lib/tileblas first/bin
cp "$link" first/lib/libtileblas.so.0
cp "$provider" "$provider64" first/lib/tileblas
cp "$command" first/bin
mv first prefix
brings_code "the installed provider" "$multiply" ./prefix/lib/tileblas/libblas.so.3
brings_code "the installed provider of 64 bits" "$multiply" ./prefix/lib/tileblas/libblas64.so.3
command_finds_code ./prefix/bin/tileblas "$work/prefix/lib/libtileblas.so.0"
