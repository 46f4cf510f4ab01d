#!/bin/sh
# A program succeeds, and its forwarded calls go to the library whose path has the given ending; or to whatever
# library, "any".
#
#   answers.sh LIBRARY PROGRAM ARGUMENT...
set -eu
library=$1
shift
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
status=0
TILEBLAS_VERBOSE=1 "$@" 2>"$lines" || status=$?
test "$status" = 0 || { cat "$lines"; exit "$status"; }
hosts=$(sed -n 's/^tileblas: \(dgemv_\|cblas_[cdsz]gemv\|cblas_ddot\): calls go to //p' "$lines" | sort -u)
test -n "$hosts" || { echo "no call was forwarded"; exit 1; }
case $library:$hosts in
any:* | *"$library") ;;
*) echo "calls go to '$hosts'"; exit 1 ;;
esac
