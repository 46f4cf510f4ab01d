#!/usr/bin/env bash
# Whether two builds compute the same, bit for bit: runs the record of either (tests/record) and compares them case by case. The exit
# status is 0 when all cases are the same.
#
#   scripts/record.sh OLD_BUILD NEW_BUILD [sim|gpu|served|served-gpu [GROUP ...]]
#
#   sim      the libraries on the simulated device (the default): some ten seconds for each build
#   gpu      the libraries on this machine's GPU
#   served   the simulated device, of OLD_BUILD in the process and of NEW_BUILD in a server (`tileblas serve`): operands in ordinary
#            memory alone, and copies, which are counted in the process, are not compared
#   served-gpu   the same with this machine's GPU; 77 where there is none
#
# The program is NEW_BUILD's, and of OLD_BUILD nothing is needed but the library; groups are those of tests/record/cases.c. The
# records are left in NEW_BUILD as record-old.txt and record-new.txt, of `served` as record-served-old.txt and so on.
set -euo pipefail

if (($# < 2)) || [[ ${3:-sim} != @(sim|gpu|served|served-gpu) ]]; then
    sed -n '2,15s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
declare -A build=([old]=$1 [new]=$2)
new=$2 device=${3:-sim}
groups=("${@:4}")
program=$new/tests/record/record

library() { # library BUILD: its file
    local file=$1/libtileblas.so.0
    [[ $device == gpu ]] || file=$1/tests/sim/libtileblas-sim.so
    realpath -e "$file"
}

# The server is the new build's, in a folder of its own.
declare -A server=([old]="" [new]="")
record=$new/record
if [[ $device == served* ]]; then
    command=$new/tests/tool/tileblas-sim
    [[ $device == served ]] || command=$new/tileblas
    [[ $device == served ]] && device=sim || device=gpu
    record+=-served server=([old]=SERVER=never [new]=SERVER=auto)
    XDG_RUNTIME_DIR=$(mktemp -d)
    export XDG_RUNTIME_DIR
    TILEBLAS_CALIBRATE=0 "$command" serve >"$XDG_RUNTIME_DIR/said" & # as the record has it
    serving=$!
    trap 'kill "$serving" 2>/dev/null || true; wait "$serving" || true; rm -rf "$XDG_RUNTIME_DIR"' EXIT
    until grep -q ready "$XDG_RUNTIME_DIR/said"; do
        kill -0 "$serving" 2>/dev/null || exit 77 # it has said why
        sleep 0.05
    done
fi

# Both sides at once: a record is one process after the other.
declare -A running=()
for side in old new; do
    RECORD_SERVER=${server[$side]} "$program" "$device" "$(library "${build[$side]}")" "${groups[@]}" >"$record-$side.txt" &
    running[$side]=$!
done
status=0
for side in old new; do
    wait "${running[$side]}" || {
        echo "record.sh: the record of ${build[$side]} is not whole" >&2
        status=1
    }
done

if [[ ${server[new]} ]]; then
    served=$(grep -c 'on device 32' "$record-new.txt") || true
    echo "$served of $(grep -c 'on device' "$record-old.txt") products were served"
    ((served > 0)) || status=1
    sed -i -E 's/ on device (0|32)/ on a device/; s/copies [^|]*/copies/; s/said: .*HOST_BLAS: no usable.*/said:/' "$record"-{old,new}.txt
fi

# A line is: id | case | plan | copies | C | what was said.
awk -F' [|] ' -v part_names='case,plan,copies,C,said' '
    NR == FNR { old[$1] = $0; next }
    !($1 in old) { print "only new: " $0; only++; next }
    old[$1] == $0 { same++; delete old[$1]; next }
    {
        split(old[$1], before, / [|] /)
        split(part_names, names, ",")
        differing = ""
        for (i = 2; i <= 6; i++)
            if (before[i] != $i) {
                differing = differing " " names[i - 1]
                parts[i]++
            }
        print $1 ":" differing "\n  old " old[$1] "\n  new " $0
        differ++
        delete old[$1]
    }
    END {
        for (id in old) {
            print "only old: " old[id]
            only++
        }
        printf "%d cases are the same, %d differ", same, differ
        if (differ > 0)
            printf " (C in %d, the plan in %d, copies in %d, what was said in %d)", parts[5], parts[3], parts[4], parts[6]
        printf ", %d in one record only\n", only
        exit same == 0 || differ > 0 || only > 0
    }' "$record-old.txt" "$record-new.txt" || status=1
exit "$status"
