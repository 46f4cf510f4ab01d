#!/bin/sh
# ptxas.sh nvcc architecture: what the assembler says of every kernel of the project on that architecture. Fails
# on a spilled register or a stack frame: both put into memory what the kernel was written to keep in registers; and
# where it has wgmma wait for wgmma.
#
# ptxas.sh --reports folder rows: the same, of what the build has kept there; and fails where fewer blocks of a kernel fit
# a multiprocessor of 9.0 by their registers than the catalog says, or where they are launched with other registers than it
# asks for. rows is the program that prints what it says.
#
# ptxas.sh nvcc architecture rows: the same, where the build has no reports of the architecture.
#
# ptxas.sh --record nvcc architecture: the first, and notes in judged.txt what has been found without fault. What stands there,
# the kernel's text with all that it includes, the compiler and what is asked of its reports being the same, is not compiled
# again. Of 9.0 its kernels' registers stand there too.
#
# Shapes are written from their tables, by cmake.
#
# A file <stem>_sm90.cu uses instructions of sm_90a alone and is compiled for that only, <stem>_sm80.cu for sm_80 and
# later, <stem>_sm75.cu for sm_75 only; all others for any, but for sm_90a instead of sm_90 where the build does so; for sm_100 those that the build names.
# The ladder, which is plain, is compiled for the oldest and for sm_90 alone.
# Needs no GPU. Exit code 77 where there is no nvcc.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)

# Judges the reports that are named. stated: what the catalog says, a kernel, its threads, its blocks and its registers a line.
judge() {
    awk -v stated="$stated" '
    BEGIN {
        for (rows = split(stated, lines, "\n"); rows > 0; rows--) {
            split(lines[rows], row, " ")
            threads[row[1]] = row[2]
            blocks[row[1]] = row[3]
            exactly[row[1]] = row[4]
        }
    }
    /error|warning|nvcc failed/ { print FILENAME ": " $0; failed = 1 }
    /Performance Loss/          { print FILENAME ": " $0; failed = 1 }
    /Compiling entry function/  { split($0, quoted, "\047"); name = quoted[2] " " quoted[4] }
    /Function properties for/   { function_name = $NF }
    # Of the entry, and, behind what it uses, of the functions that it calls.
    /bytes stack frame/ {
        stack = $1; stores = $5; loads = $9
        split(name, entry, " ")
        if (function_name != entry[1] && stack + stores + loads > 0) {
            printf "%-44s FAILED: stack %d, spilled %d out, %d in\n", function_name, stack, stores, loads
            failed = 1
        }
    }
    # What is said of a kernel whose registers are known, where it is not as the catalog states.
    function against_catalog(name, registers,    entry, fit, few, other) {
        split(name, entry, " ")
        if (entry[2] !~ /^sm_90/)
            return ""
        # A warp has its registers by the 256.
        fit = threads[entry[1]] ? int(65536 / (int((registers + 7) / 8) * 8 * threads[entry[1]])) : 0
        few = fit < blocks[entry[1]]
        other = exactly[entry[1]] > 0 && registers != exactly[entry[1]]
        compared += fit > 0
        failed = failed || few || other
        return (few ? sprintf("  FAILED: %d blocks fit, %d are stated", fit, blocks[entry[1]]) : "") \
               (other ? sprintf("  FAILED: %d registers are asked for", exactly[entry[1]]) : "")
    }
    # Noted in judged.txt.
    /^noted /                   { printf "%-44s %3d registers%s\n", $2 " " $3, $4, against_catalog($2 " " $3, $4); kernels++ }
    /Used [0-9]+ registers/     {
        registers = $5
        shared = match($0, /[0-9]+ bytes smem/) ? substr($0, RSTART, RLENGTH) + 0 : 0
        bad = stack + stores + loads > 0
        printf "%-44s %3d registers %6d bytes shared%s%s\n", name, registers, shared,
               bad ? sprintf("  FAILED: stack %d, spilled %d out, %d in", stack, stores, loads) : "",
               against_catalog(name, registers)
        failed = failed || bad
        kernels++
    }
    END {
        printf "%d kernels%s%s\n", kernels, failed ? ": FAILED" : ", none spills",
               compared ? sprintf("; blocks of %d compared", compared) : ""
        exit failed || kernels == 0
    }' "$@"
}

stated=
if [ "$1" = --reports ]; then
    stated=$("$3") || exit 1
    # File names in the build have no blanks of ours in them.
    judge $(find "$2" -name '*.ptxas' | sort)
    exit
fi

record=
if [ "$1" = --record ]; then
    record=1
    shift
fi
nvcc=$1
architecture=$2
[ $# -lt 3 ] || stated=$("$3") || exit 1
if ! command -v "$nvcc" > /dev/null; then
    echo "skipped: no nvcc"
    exit 77
fi
reports=$(mktemp -d)
shapes=$(mktemp -d)
trap 'rm -rf "$reports" "$shapes"' EXIT

cmake -D FOLDER="$shapes" -P "$root/cmake/TileblasShapes.cmake" || exit
built_for() {
    {
        tr '\n' ' ' < "$root/CMakeLists.txt" | grep -o 'tileblas_compile_kernels([^)]*)' |
            grep -E "ARCHITECTURES( [0-9a]+)* $1( [0-9a]+)*\)" | grep -o 'kernels/[^ ]*[.]cu'
        [ "$1" != 90a ] || cat "$shapes/built_for_90a"
    } | sort
}
files=
case $architecture in
90a | 100)
    for file in $(built_for "$architecture"); do
        folder=$root
        [ -f "$root/$file" ] || folder=$shapes
        files="$files $folder/$file"
    done
    ;;
*a) ;;
*)
    alone=$(built_for 90a)
    for file in $(
        find "$root/kernels" "$shapes/kernels" -name '*.cu' ! -name '*_sm[0-9]*.cu' ! -path '*/ladder/*'
        case $architecture in 75 | 90) find "$root/kernels/ladder" -name '*.cu' ;; esac
        [ "$architecture" != 75 ] || find "$root/kernels" -name '*_sm75.cu'
        [ "$architecture" -lt 80 ] || find "$root/kernels" -name '*_sm80.cu'
    ); do
        name=${file#"$root"/}
        [ "$architecture" = 90 ] && echo "$alone" | grep -qxF "${name#"$shapes"/}" || files="$files $file"
    done
    ;;
esac
if [ -z "$files" ]; then
    echo "skipped: no kernel needs sm_$architecture"
    exit 77
fi

# A report is kept under what it depends on: the compiler, this script's flags, and the contents of the file and of all
# of the project that it includes.
cache=${TILEBLAS_PTXAS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tileblas/ptxas}
mkdir -p "$cache" 2> /dev/null || cache=
compiler=$("$nvcc" --version)
flags="-cubin -std=c++17 -gencode arch=compute_$architecture,code=sm_$architecture -Xptxas -v"

# The key; nothing where it cannot be told. What is included is asked of a compiler that is faster than nvcc, as it is for nvcc.
key_of() {
    included=$(g++ -D__CUDACC__ -MM -MG -x c++ -std=c++17 -I"$root" "$1" 2> /dev/null) || return
    set -- $(echo "$included" | tr -d '\\\n' | cut -d : -f 2)
    for name; do
        [ ! -f "$name" ] || set -- "$@" "$name"
        shift
    done
    { echo "$compiler $flags"; cat "$@"; } | sha256sum | cut -d ' ' -f 1
}

# What is found without fault stands in judged.txt under that key and the rules.
judged=$root/tests/ptxas/judged.txt
rules=$(sed -n '/^judge()/,/^}/p' "$0")
judged_key_of() {
    [ -z "$1" ] || echo "$1 $rules" | sha256sum | cut -d ' ' -f 1
}

compile() {
    report=$reports/$(basename "$1" .cu)
    if [ -n "$cache" ] && [ -n "$2" ] && cp "$cache/$2" "$report" 2> /dev/null; then
        return
    fi
    # shellcheck disable=SC2086 # flags
    if ! "$nvcc" $flags -I"$root" -o /dev/null "$1" > "$report" 2>&1; then
        echo "ptxas.sh: nvcc failed" >> "$report"
    elif [ -n "$cache" ] && [ -n "$2" ]; then
        cp "$report" "$cache/$2.$$" && mv "$cache/$2.$$" "$cache/$2"
    fi
}

# "kernel=registers" of each that a report names, where they are held against the catalog.
registers_in() {
    case $architecture in 90*) ;; *) return ;; esac
    awk '/Compiling entry function/ { split($0, quoted, "\047") } /Used [0-9]+ registers/ { printf " %s=%d", quoted[2], $5 }' "$1"
}

noted=$reports/noted
known=0
for file in $files; do
    key=$(key_of "$file")
    judged_key=$(judged_key_of "$key")
    name=${file#"$root"/}
    name=${name#"$shapes"/}
    line="$name $architecture $judged_key"
    if [ -n "$judged_key" ] && [ -z "$record" ] && found=$(grep -sE "^$line( |\$)" "$judged"); then
        known=$((known + 1))
        for kernel in ${found#"$line"}; do
            echo "noted ${kernel%=*} sm_$architecture ${kernel#*=}" >> "$noted"
        done
        continue
    fi
    [ -z "$judged_key" ] || echo "$line" >> "$shapes/new"
    compile "$file" "$key" &
    running=$((${running:-0} + 1))
    if [ "$running" -ge "${TILEBLAS_PTXAS_JOBS:-2}" ]; then
        wait
        running=0
    fi
done
wait

[ "$known" = 0 ] || echo "$known files are as they were when judged.txt was written"
if [ "$known" = 0 ] || [ -n "$(ls "$reports")" ]; then
    judge "$reports"/* || exit
fi
if [ -n "$record" ]; then
    {
        [ ! -f "$judged" ] || awk -v of="$architecture" '$2 != of' "$judged"
        while read -r line; do
            name=${line%% *}
            echo "$line$(registers_in "$reports/$(basename "$name" .cu)")"
        done < "$shapes/new"
    } | sort > "$judged.$$"
    mv "$judged.$$" "$judged"
fi
