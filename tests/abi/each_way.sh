#!/usr/bin/env bash
# Runs the ways of a test one after the other, and names those that fail. All of them are run, come what may.
#
#   each_way.sh [-- WAY [NAME=VALUE...] PROGRAM [ARGUMENT...]]...
#
# It is skipped (77) where all ways are.
set -u
failed=() run=0

run_way() { # run_way WAY [NAME=VALUE...] PROGRAM [ARGUMENT...]
    local way=$1 status=0
    shift
    echo "-- $way"
    env "$@" || status=$?
    if ((status == 77)); then
        return
    fi
    run=$((run + 1))
    if ((status != 0)); then
        failed+=("$way")
        echo "$way: failed, exit status $status"
    fi
}

words=()
for word in "${@:2}" --; do
    if [[ $word != -- ]]; then
        words+=("$word")
        continue
    fi
    run_way "${words[@]}"
    words=()
done
((${#failed[@]} == 0)) || { echo "failed: ${failed[*]}"; exit 1; }
((run > 0)) || exit 77
