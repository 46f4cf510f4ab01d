#!/bin/sh
# A library exports exactly the names that are kept for it: every spelling of the routines that are listed, the functions of
# tileblas.h (the map), and lists of names that are forwarded (compat/forward/*.list). None of them has a version, as none has in
# Netlib's BLAS and in OpenBLAS.
#
#   exports.sh NM LIBRARY ROUTINES SPELLINGS MAP [without-LAPACK] [LIST...]
set -eu
nm=$1 library=$2 routines=$3 spellings=$4 map=$5
shift 5
without=
if [ "${1-}" = without-LAPACK ]; then
    without=LAPACK
    shift
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$nm" -D --defined-only "$library" | awk '{ print $3 }' | sort >"$work/exported"
sed '/^#/d' "$routines" | while read -r routine of; do
    [ -z "$without" ] || [ "$of" != "$without" ] || continue
    conventions='CBLAS\|FORTRAN'
    [ "$of" != LAPACK ] || conventions='LAPACKE\|WORK\|FORTRAN'
    sed -n "s/^    \($conventions\)(ROUTINE, \([A-Za-z0-9_#]*\), [0-9]*).*/\2/p" "$spellings" |
        sed "s/##name/$routine/;s/^name/$routine/;s/^ROUTINE/$(echo "$routine" | tr '[:lower:]' '[:upper:]')/;s/##//g"
done >"$work/spellings"
test -s "$work/spellings"
{
    cat "$work/spellings"
    sed -n '/^global:/,/^local:/s/^ *\([A-Za-z0-9_]*\);$/\1/p' "$map"
    for list; do
        sed '/^#/d' "$list"
    done
} | sort -u >"$work/kept"
diff "$work/kept" "$work/exported" || {
    echo "exported (>) is not what is kept (<) in $routines, $map $*; a routine that is new belongs there"
    exit 1
}
