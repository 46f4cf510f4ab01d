#!/bin/sh
# A program succeeds, and its forwarded calls go to the library whose path has the given ending.
#
#   answers.sh LIBRARY PROGRAM ARGUMENT...
set -eu
library=$1
shift
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
TILEBLAS_VERBOSE=1 "$@" 2>"$lines" || { cat "$lines"; exit 1; }
hosts=$(sed -n 's/^tileblas: \(dgemm_\|cblas_dgemm\|cblas_ddot\): calls go to //p' "$lines" | sort -u)
case $hosts in
*"$library") ;;
*) echo "calls go to '$hosts'"; exit 1 ;;
esac
