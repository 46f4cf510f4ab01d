#!/bin/sh
# What a library needs of each thread's own memory comes, where it is opened at run time, out of the little that the C library
# keeps for all such libraries: GNU's some 1600 bytes.
#
#   thread_memory.sh READELF LIBRARY BYTES
set -eu
size=$("$1" -lW "$2" | awk '$1 == "TLS" { print $6 }')
echo "$2 needs $((size)) bytes"
test "$((size))" -le "$3"
