#!/bin/sh
# A library exports every public name of other ones: of OpenBLAS's, and of the LAPACK libraries that are
# installed. Public are Fortran's names, which end in an underscore, and those that C programs are given headers
# for.
#
#   every_name.sh NM LIBRARY OTHER...
set -eu
nm=$1 library=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

names() { "$nm" -D --defined-only "$@" | awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' | sort -u; }
names "$library" >"$work/exported"
for other; do
    names "$other" | grep -E '_$|^(cblas|LAPACKE|openblas|goto)_' >"$work/public"
    echo "$other: $(wc -l <"$work/public") public names"
    comm -23 "$work/public" "$work/exported" >"$work/missing"
    test ! -s "$work/missing" || { echo "$library lacks these:"; cat "$work/missing"; exit 1; }
done
