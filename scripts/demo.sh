#!/usr/bin/env bash
# Builds TileBLAS and shows it at work: a NumPy program that knows nothing of it, plain and preloaded, and a C
# program linked with it. Succeeds when the predictions are the same and the C program's result is right.
source "$(dirname "$0")/setup.sh"

build release tileblas tileblas-preload
libraries=build/release
results=build/demo
program=examples/knn_digits.py
mkdir -p "$results"

heading() { printf '\n%s\n' "$*"; }
indent() { sed 's/^/  /'; }

heading "This machine"
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1) || gpu=
if [[ -z $gpu ]]; then
    gpu="no GPU here: the CPU BLAS answers"
elif [[ -z $nvcc ]]; then
    gpu="$gpu, but no nvcc to build kernels for it: the CPU BLAS answers"
fi
say "  GPU    $gpu"
say "  CPU    $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
say "  NumPy  $("$python" -c 'import numpy; print(numpy.__version__, "in", numpy.__path__[0])')"

heading "A NumPy program, as it is"
say "  \$ python $program"
"$python" "$program" | tee "$results/plain" | indent

heading "The same program, preloaded"
say "  \$ LD_PRELOAD=$libraries/libtileblas-preload.so TILEBLAS_STATS=1 python $program"
LD_PRELOAD=$PWD/$libraries/libtileblas-preload.so TILEBLAS_STATS=1 \
    "$python" "$program" 2>"$results/routes" | tee "$results/preloaded" | indent
indent <"$results/routes"

heading "A C program, linked"
say "  \$ gcc -O2 -Iinclude examples/product.c -L$libraries -ltileblas"
gcc -O2 -Iinclude examples/product.c -L"$libraries" -ltileblas -Wl,-rpath,"$PWD/$libraries" -o "$results/product"
c_program=right
"$results/product" | indent || c_program=wrong

heading "Side by side"
paste "$results/plain" "$results/preloaded" | awk '
    function row(name, plain, preloaded, outcome) { printf "  %-20s %10s %10s   %s\n", name, plain, preloaded, outcome }
    BEGIN { row("", "plain", "preloaded", "") }
    $3 == "accuracy" {
        same = $6 == $14
        differ += !same
        row($1 " " $2, $7 " s", $15 " s", same ? "same predictions" : "PREDICTIONS DIFFER")
    }
    /float64/ { row("float32 product", $7, $20, "largest difference from float64") }
    END { exit differ > 0 }' || fail "the preloaded program predicts something else"
grep -qE '^tileblas: (resident|streamed) [1-9]' "$results/routes" ||
    say "  No product ran on a GPU: both columns are the same CPU BLAS, and their times differ by chance."
[[ $c_program == right ]] || fail "the C program's result is wrong"
