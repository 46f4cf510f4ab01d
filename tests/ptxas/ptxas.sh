#!/bin/sh
# ptxas.sh nvcc architecture: what the assembler says of every kernel of the project on that architecture. Fails
# on a spilled register or a stack frame: both put into memory what the kernel was written to keep in registers; and
# where it has wgmma wait for wgmma.
#
# ptxas.sh --reports folder: the same, of what the build has kept there.
#
# A file <stem>_sm90.cu uses instructions of sm_90a alone and is compiled for that only, <stem>_sm80.cu for sm_80 and
# later; all others for any.
# Needs no GPU. Exit code 77 where there is no nvcc.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)

# Of the reports that are named.
judge() {
    awk '
    /error|warning|nvcc failed/ { print FILENAME ": " $0; failed = 1 }
    /Performance Loss/          { print FILENAME ": " $0; failed = 1 }
    /Compiling entry function/  { split($0, quoted, "\047"); name = quoted[2] " " quoted[4] }
    /bytes stack frame/         { stack = $1; stores = $5; loads = $9 }
    /Used [0-9]+ registers/     {
        registers = $5
        shared = match($0, /[0-9]+ bytes smem/) ? substr($0, RSTART, RLENGTH) + 0 : 0
        bad = stack + stores + loads > 0
        printf "%-44s %3d registers %6d bytes shared%s\n", name, registers, shared,
               bad ? sprintf("  FAILED: stack %d, spilled %d out, %d in", stack, stores, loads) : ""
        failed = failed || bad
        kernels++
    }
    END {
        printf "%d kernels%s\n", kernels, failed ? ": FAILED" : ", none spills"
        exit failed || kernels == 0
    }' "$@"
}

if [ "$1" = --reports ]; then
    # File names in the build have no blanks of ours in them.
    judge $(find "$2" -name '*.ptxas' | sort)
    exit
fi

nvcc=$1
architecture=$2
if ! command -v "$nvcc" > /dev/null; then
    echo "skipped: no nvcc"
    exit 77
fi
case $architecture in
*a) files=$(find "$root/kernels" -name "*_sm${architecture%a}.cu" | sort) ;;
*) files=$(
    find "$root/kernels" -name '*.cu' ! -name '*_sm[0-9]*.cu'
    [ "$architecture" -lt 80 ] || find "$root/kernels" -name '*_sm80.cu'
) ;;
esac
if [ -z "$files" ]; then
    echo "skipped: no kernel needs sm_$architecture"
    exit 77
fi

reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT

compile() {
    report=$reports/$(basename "$1" .cu)
    "$nvcc" -cubin -std=c++17 -gencode "arch=compute_$architecture,code=sm_$architecture" -Xptxas -v \
        -I"$root" -o /dev/null "$1" > "$report" 2>&1 || echo "ptxas.sh: nvcc failed" >> "$report"
}

for file in $files; do
    compile "$file" &
    running=$((${running:-0} + 1))
    if [ "$running" -ge "${TILEBLAS_PTXAS_JOBS:-2}" ]; then
        wait
        running=0
    fi
done
wait

judge "$reports"/*
