#!/usr/bin/env bash
# Runs a program as two MPI ranks on a host with two simulated devices, preloaded in each; and proves that each rank's
# products went to its own device.
# usage: mpi.sh LIBRARY PROGRAM
set -euo pipefail

command -v mpirun >/dev/null || { echo "skipped: there is no mpirun"; exit 77; }
ranks=(mpirun -n 2 --tag-output)
! mpirun --version | grep -q 'Open MPI' || ranks+=(--allow-run-as-root --oversubscribe)
output=$(TILEBLAS_SIM_DEVICES=2 TILEBLAS_VERBOSE=1 "${ranks[@]}" "$(dirname "$0")/preloaded.sh" "$1" streamed "$2" 2>&1) || {
    echo "$output"
    exit 1
}
for rank in 0 1; do
    if ! grep -q "^\[1,$rank\].*tileblas: sgemm.*-> streamed.*on device $rank:" <<<"$output" ||
        grep -q "^\[1,$rank\].*tileblas: sgemm.*on device $((1 - rank)):" <<<"$output"; then
        echo "rank $rank did not multiply on device $rank alone:"
        echo "$output"
        exit 1
    fi
done
echo "each rank multiplied on a device of its own"
