#!/usr/bin/env bash
# Runs a program with a library preloaded and a route asked for, and proves by the library's own count of calls
# that products of each routine went that way; with the route auto, that the library was called at all.
# usage: preloaded.sh LIBRARY|linked ROUTE ROUTINE[,ROUTINE...] COMMAND...
# linked: nothing is preloaded, because the program is linked with TileBLAS.
# The route gpu is that of products streamed through this machine's GPU; the command $TOOL tells whether there is one.
set -euo pipefail

library=${1#linked}
route=$2
IFS=, read -ra routines <<<"$3"
shift 3

if [[ $route == gpu ]]; then
    if [[ $("$TOOL" info --json) == *'"devices":[]'* ]]; then
        echo "skipped: there is no GPU"
        exit 77
    fi
    route=streamed
fi

statistics=$(mktemp)
trap 'rm -f "$statistics"' EXIT
status=0
LD_PRELOAD=$library TILEBLAS_ROUTE=$route TILEBLAS_START=wait \
    TILEBLAS_STATS=json TILEBLAS_STATS_FILE=$statistics "$@" || status=$?
((status == 0)) || exit "$status"

# Each process writes a line, with "routines":{"dgemm":{"host":{"calls":3,...},"streamed":{...}},...}.
[[ $route != auto ]] || route='host|resident|streamed'
for routine in "${routines[@]}"; do
    if ! grep -qE "\"$routine\":\{(\"[a-z]+\":\{[^}]*\},)*\"($route)\":\{\"calls\":[1-9]" "$statistics"; then
        echo "no call of $routine took the route $route:"
        cat "$statistics"
        exit 1
    fi
done
