#!/bin/sh
# A program prints the same with a library preloaded as without it.
#
#   same_output.sh LIBRARY PROGRAM ARGUMENT...
set -eu
library=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$@" >"$work/plain" 2>&1
LD_PRELOAD=$library "$@" >"$work/preloaded" 2>&1
diff "$work/plain" "$work/preloaded"
