#!/bin/sh
# A library exports exactly the names that are kept for it, in map files and in lists (compat/forward/*.list),
# and every spelling of every routine that is taken over is among them. None of them has a version, as none has in Netlib's BLAS and in
# OpenBLAS.
#
#   exports.sh NM LIBRARY ROUTINES SPELLINGS MAP_OR_LIST...
set -eu
nm=$1 library=$2 routines=$3 spellings=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$nm" -D --defined-only "$library" | awk '{ print $3 }' | sort >"$work/exported"
for file; do
    case $file in
    *.map) sed -n '/^global:/,/^local:/s/^ *\([A-Za-z0-9_]*\);$/\1/p' "$file" ;;
    *.list) sed '/^#/d' "$file" ;;
    esac
done | sort >"$work/kept"
for routine in $(sed -n 's/^TB_ROUTINE([A-Z0-9_]*, \([a-z0-9_]*\),.*/\1/p' "$routines"); do
    sed -n "s/^    \(CBLAS\|FORTRAN\)(ROUTINE, \([A-Za-z0-9_#]*\), [0-9]*).*/\2/p" "$spellings" |
        sed "s/##name/$routine/;s/^name/$routine/;s/^ROUTINE/$(echo "$routine" | tr '[:lower:]' '[:upper:]')/;s/##//g"
done | sort >"$work/spellings"

test -s "$work/spellings"
diff "$work/kept" "$work/exported" || { echo "exported (>) is not what is kept (<) in $*"; exit 1; }
missing=$(comm -23 "$work/spellings" "$work/kept")
test -z "$missing" || { echo "spellings that $* lacks: $missing"; exit 1; }
