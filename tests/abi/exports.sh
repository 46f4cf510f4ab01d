#!/bin/sh
# A library exports exactly the names that are kept for it, in map files and in lists (compat/forward/*.list),
# and every spelling of SGEMM is among them. None of them has a version, as none has in Netlib's BLAS and in
# OpenBLAS.
#
#   exports.sh NM LIBRARY SPELLINGS MAP_OR_LIST...
set -eu
nm=$1 library=$2 spellings=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$nm" -D --defined-only "$library" | awk '{ print $3 }' | sort >"$work/exported"
for file; do
    case $file in
    *.map) sed -n '/^global:/,/^local:/s/^ *\([a-z0-9_]*\);$/\1/p' "$file" ;;
    *.list) sed '/^#/d' "$file" ;;
    esac
done | sort >"$work/kept"
sed -n 's/^TB_[A-Z]*_NAME(\([a-z0-9_]*\),.*/\1/p' "$spellings" | sort >"$work/spellings"

test -s "$work/spellings"
diff "$work/kept" "$work/exported" || { echo "exported (>) is not what is kept (<) in $*"; exit 1; }
missing=$(comm -23 "$work/spellings" "$work/kept")
test -z "$missing" || { echo "spellings that $* lacks: $missing"; exit 1; }
