#!/bin/sh
# A library exports every public name of other ones: of OpenBLAS's, and of the LAPACK libraries that are
# installed. Public are Fortran's names, which end in an underscore, and those that C programs are given headers
# for.
#
# Not public are the parts of OpenBLAS that it calls while it is loaded, unloaded and forked. They are in no header,
# and each OpenBLAS of a process must reach its own.
#
#   every_name.sh NM LIBRARY OTHER...
set -eu
nm=$1 library=$2
shift 2
own='blas_thread_shutdown_|openblas_(block_factor|cancel|fork_handler|read_env|thread_timeout|verbose|warning|.*_env)'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

names() { "$nm" -D --defined-only "$@" | awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' | sort -u; }
names "$library" >"$work/exported"
for other; do
    names "$other" | grep -E '_$|^(cblas|LAPACKE|openblas|goto)_' |
        grep -vxE "$own" >"$work/public"
    echo "$other: $(wc -l <"$work/public") public names"
    comm -23 "$work/public" "$work/exported" >"$work/missing"
    test ! -s "$work/missing" || { echo "$library lacks these:"; cat "$work/missing"; exit 1; }
done
