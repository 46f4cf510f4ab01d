#!/bin/sh
# A library exports exactly the names of its map file, and the map file has every spelling of SGEMM.
#
#   exports.sh NM LIBRARY MAP NAMES
set -eu
nm=$1 library=$2 map=$3 names=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$nm" -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort >"$work/exported"
sed -n '/^global:/,/^local:/s/^ *\([a-z0-9_]*\);$/\1/p' "$map" | sort >"$work/listed"
sed -n 's/^TB_[A-Z]*_NAME(\([a-z0-9_]*\),.*/\1/p' "$names" | sort >"$work/spellings"

test -s "$work/spellings"
diff "$work/listed" "$work/exported" || { echo "exported (>) is not what $map lists (<)"; exit 1; }
missing=$(comm -23 "$work/spellings" "$work/listed")
test -z "$missing" || { echo "spellings that $map lacks: $missing"; exit 1; }
