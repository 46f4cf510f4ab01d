#!/bin/sh
# A program that runs with its owner's rights and not its caller's does not follow the caller's options: neither
# what would be printed nor what would be written to a file of the caller's choice.
#
#   set_uid.sh PROGRAM      a program that is linked with TileBLAS
set -eu
test "$(id -u)" = 0 || { echo "skipped: only root can make a program of somebody else's"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 777 "$folder"
export TILEBLAS_VERBOSE=1 TILEBLAS_STATS=1 TILEBLAS_STATS_FILE="$folder/statistics"
if test -n "${2-}"; then
    cp "$2" "$folder/profiler.so"
    chmod 755 "$folder/profiler.so"
    export NVTX_INJECTION64_PATH="$folder/profiler.so" PROFILER_SAYS=1
fi
"$1" >/dev/null 2>"$folder/open"
if test -n "${2-}" && ! grep -q 'a profiler was loaded' "$folder/open"; then
    echo "no profiler is loaded at all"
    exit 1
fi
if ! grep -q '^tileblas: sgemm' "$folder/open" || ! test -s "$folder/statistics"; then
    echo "options are not followed at all"
    exit 1
fi
rm "$folder/statistics"

cp "$1" "$folder/program"
chown 65534:65534 "$folder/program"
chmod 4755 "$folder/program"
status=0
"$folder/program" >"$folder/output" 2>"$folder/secure" || status=$?
test "$status" != 127 || { echo "skipped: nobody else can read the library"; exit 77; }
test "$status" = 0 || { cat "$folder/output" "$folder/secure"; exit 1; }
if test -s "$folder/secure" || test -e "$folder/statistics"; then
    echo "options are followed in a set-uid program:"
    cat "$folder/secure" "$folder/statistics"
    exit 1
fi
