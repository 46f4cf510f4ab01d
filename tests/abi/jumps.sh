#!/bin/sh
# A function of CBLAS that is taken over calls nothing: what goes on to the program's own BLAS, and what is looked at closely,
# leaves it by a jump. Those for batches, whose sizes lie in memory, are left out.
#
#   jumps.sh OBJDUMP LIBRARY ROUTINES
set -eu
objdump=$1 library=$2 routines=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$objdump" -d --no-show-raw-insn "$library" >"$work/code"
sed -n 's/^TB_ROUTINE([A-Z0-9]*, \([a-z0-9]*\),.*/\1/p' "$routines" | while read -r routine; do
    awk -v name="<cblas_$routine>:" '$2 == name { inside = 1 } inside && NF == 0 { exit } inside' "$work/code" >"$work/function"
    grep -q 'jmp  *\*' "$work/function" || { echo "cblas_$routine does not end in a jump"; exit 1; }
    if grep -E ':[[:space:]]+call' "$work/function"; then
        echo "cblas_$routine calls"
        exit 1
    fi
done
