#!/usr/bin/env bash
# Judges what the assembler reports of the kernels on each architecture, and notes in tests/ptxas/judged.txt what
# is without fault, so that it is not compiled again until it changes. For changes to kernels; takes minutes. CI compiles what is not noted there.
#
#   scripts/ptxas.sh [ARCHITECTURE ...]      75 80 90 90a 100 120
set -euo pipefail
cd "$(dirname "$0")/.."

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
architectures=("$@")
((${#architectures[@]})) || architectures=(75 80 90 90a 100 120)
for architecture in "${architectures[@]}"; do
    echo "== sm_$architecture"
    tests/ptxas/ptxas.sh --record "$nvcc" "$architecture"
done
