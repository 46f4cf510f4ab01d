#!/bin/sh
# Each library brings its device code to the driver: libtileblas.so its own, wherever it has been copied to, the others that of
# the libtileblas.so.0 beside them. Without it they say so, once, and products are the CPU's.
#
#   libraries.sh MULTIPLY LINK PRELOAD PROVIDER PROVIDER64 COMMAND      the driver that they find is libcuda.c
set -eu
multiply=$1 link=$2 preload=$3 provider=$4 provider64=$5 command=$6
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
cd "$work"
export TILEBLAS_START=wait TILEBLAS_ROUTE=streamed TILEBLAS_CALIBRATE=0

fail() { echo "$*"; cat said; exit 1; }
brings_code() { # brings_code WHAT PROGRAM...
    what=$1
    shift
    env "$@" >said 2>&1 || fail "$what: a wrong product:"
    grep -qx 'driver: a fat binary' said || fail "$what has brought no code:"
    if grep -q 'no fat binary\|stay on the CPU' said; then fail "$what has brought something else:"; fi
}
says_it_has_none() {
    what=$1
    shift
    env "$@" >said 2>&1 || fail "$what: a wrong product:"
    test "$(grep -c '^tileblas: products stay on the CPU: the device code is in libtileblas.so.0' said)" = 1 ||
        fail "$what does not say once that there is no code:"
    if grep -q '^driver' said; then fail "$what has brought code:"; fi
}

brings_code "in the build, libtileblas.so" "$multiply" "$link"
brings_code "in the build, the preload library" LD_PRELOAD="$preload" "$multiply"
brings_code "in the build, the provider" "$multiply" "$provider"
brings_code "in the build, the command" "$command" info

mkdir alone
cp "$link" alone/renamed.so
brings_code "libtileblas.so alone" "$multiply" ./alone/renamed.so
cp "$preload" "$command" alone
says_it_has_none "the preload library alone" LD_PRELOAD=./alone/libtileblas-preload.so "$multiply"
says_it_has_none "the command alone" ./alone/tileblas info
grep -q '^GPU  *none: .*libtileblas.so.0' said || fail "the command does not say why there is no GPU:"
cp "$link" alone/libtileblas.so.0
brings_code "the preload library beside it" LD_PRELOAD=./alone/libtileblas-preload.so "$multiply"
brings_code "the command beside it" ./alone/tileblas info
grep -q "^device code  *$work/alone/libtileblas.so.0\$" said || fail "the command does not say where its code is:"

# As installed, and moved.
mkdir -p first/lib/tileblas first/bin
cp "$link" first/lib/libtileblas.so.0
cp "$provider" "$provider64" first/lib/tileblas
cp "$command" first/bin
mv first prefix
brings_code "the installed provider" "$multiply" ./prefix/lib/tileblas/libblas.so.3
brings_code "the installed provider of 64 bits" "$multiply" ./prefix/lib/tileblas/libblas64.so.3
brings_code "the installed command" ./prefix/bin/tileblas info
