#!/bin/sh
# compile_kernel.sh REPORT NVCC ARGUMENT...: runs nvcc and keeps what the assembler says of each kernel (registers,
# spills) in the report, for tests/ptxas. What else it says, warnings and errors, is shown.
report=$1
shift
"$@" -Xptxas -v >"$report" 2>&1
status=$?
grep -vE '^(ptxas )?info|^ *$|Function properties for|bytes stack frame' "$report" >&2
exit $status
