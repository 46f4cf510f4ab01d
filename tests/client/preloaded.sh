#!/usr/bin/env bash
# Runs a program with a library preloaded and a route asked for, and proves by the library's own count of calls
# that products went that way; with the route auto, that the library was called at all.
# usage: preloaded.sh LIBRARY|linked ROUTE COMMAND...
# linked: nothing is preloaded, because the program is linked with TileBLAS.
# The route gpu is that of products streamed through this machine's GPU; the command $TOOL tells whether there is one.
set -euo pipefail

library=${1#linked}
route=$2
shift 2

if [[ $route == gpu ]]; then
    if [[ $("$TOOL" info --json) == *'"devices":[]'* ]]; then
        echo "skipped: there is no GPU"
        exit 77
    fi
    route=streamed
fi

stderr=$(mktemp)
trap 'rm -f "$stderr"' EXIT
status=0
LD_PRELOAD=$library TILEBLAS_ROUTE=$route TILEBLAS_START=wait TILEBLAS_STATS=1 "$@" 2>"$stderr" || status=$?
cat "$stderr"
((status == 0)) || exit "$status"

[[ $route != auto ]] || route='host|resident|streamed'
if ! grep -qE "^tileblas: ($route) [1-9]" "$stderr"; then
    echo "no call took the route $route"
    exit 1
fi
