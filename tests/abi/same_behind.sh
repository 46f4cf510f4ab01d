#!/bin/sh
# A program behind a forwarder prints the same with TileBLAS as the forwarder's last backend as with the host itself.
#
#   same_behind.sh VARIABLE HOST TILEBLAS PROGRAM ARGUMENT...
set -eu
variable=$1 host=$2 tileblas=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

env "$variable=$host" "$@" >"$work/host" 2>&1
env "$variable=$tileblas" "$@" >"$work/tileblas" 2>&1
diff "$work/host" "$work/tileblas"
