#!/usr/bin/env bash
# Runs a program as two MPI ranks on a host with two simulated devices, preloaded in each; and proves that each rank's
# products went to its own device.
# usage: mpi.sh LIBRARY ROUTINE PROGRAM
set -euo pipefail

if ! mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    echo "skipped: there is no mpirun of Open MPI"
    exit 77
fi
export PRELOADED LIBRARY=$1 ROUTINE=$2 PROGRAM=$3 TILEBLAS_SIM_DEVICES=2 TILEBLAS_VERBOSE=1
PRELOADED=$(dirname "$0")/preloaded.sh
# One of several that make the same folder in /tmp gives up now and then (Open MPI 4.1.4).
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
# shellcheck disable=SC2016 # each rank expands it
rank='"$PRELOADED" "$LIBRARY" streamed "$ROUTINE" "$PROGRAM" 2>&1 | sed "s/^/rank $OMPI_COMM_WORLD_RANK: /"'
status=0
output=$(mpirun --allow-run-as-root --oversubscribe -n 2 bash -o pipefail -c "$rank" 2>&1) || status=$?
for rank in 0 1; do
    devices=$(sed -n "s/^rank $rank: tileblas: $ROUTINE .*-> streamed.* on device \([0-9]\):.*/\1/p" <<<"$output" | sort -u)
    if ((status != 0)) || [[ $devices != "$rank" ]]; then
        echo "rank $rank multiplied on the devices '$devices', and mpirun ended with $status:"
        echo "$output"
        exit 1
    fi
done
echo "each rank multiplied on a device of its own"
