#!/bin/sh
# The forwarding of AArch64, compiled by a cross compiler and run in an emulator: the same tests as here, as far as
# they need no BLAS. On Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user.
#
#   aarch64.sh SOURCE BUILD
set -eu
source=$1 build=$2
root=/usr/aarch64-linux-gnu
for program in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v "$program" >/dev/null || { echo "skipped: there is no $program"; exit 77; }
done
# Whoever runs this may have set these for programs of the machine itself.
unset LD_LIBRARY_PATH LD_PRELOAD CC CFLAGS LDFLAGS

cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DTILEBLAS_CUDA=OFF -DTILEBLAS_WERROR=ON -DTILEBLAS_BENCH=OFF \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc \
    -DCMAKE_CROSSCOMPILING_EMULATOR="qemu-aarch64;-L;$root" -DCMAKE_FIND_ROOT_PATH="$root" \
    -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY >"$build.log"
cmake --build "$build" --parallel 2 --target forward_conventions_linked forward_conventions_opened \
    forward_names_linked forward_names_opened forward_missing abi_copies abi_loader tileblas-preload >>"$build.log" 2>&1 ||
    { tail -n 40 "$build.log"; exit 1; }
cd "$build"
ctest --no-tests=error --output-on-failure -R '^forward[.](conventions|names|missing)|^abi[.]exports[.]tileblas$'
