#!/bin/sh
# What is installed can be used: through CMake's package and through pkg-config, also after it has been moved. One file of it
# has the device code. The target uninstall leaves nothing of it.
#
#   installed.sh BUILD CONSUMER
set -eu
build=$1 source=$2
here=$(dirname "$0")
work=$(mktemp -d)

# The record of an installation that somebody has made from here is put back.
manifest=$build/install_manifest.txt
test ! -e "$manifest" || cp "$manifest" "$work/manifest"
trap 'test ! -e "$work/manifest" || cp "$work/manifest" "$manifest"; rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/log"
mv "$work/first" "$work/prefix"

test ! -d "$build/tb_code" || code=$(find "$work/prefix" -name 'libtileblas.so.*.*')
found=$(grep -rlF .tileblas.code "$work/prefix/bin" "$(dirname "$(find "$work/prefix" -name libtileblas-preload.so)")" || true)
test "$found" = "${code-}" || { echo "device code is in: $found"; exit 1; }

# The unit that is installed opens the socket of the command that is.
units=$work/prefix/lib/systemd/user
"$work/prefix/bin/tileblas" serve --unit socket | cmp - "$units/tileblas.socket"
grep -q '^ExecStart=tileblas serve$' "$units/tileblas.service"

mkdir "$work/project"
cp "$here/CMakeLists.consumer" "$work/project/CMakeLists.txt"
# The project is built by the tool that the build itself was made by: another one need not be there.
generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")
cmake -G "$generator" -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DSOURCE="$source" >"$work/log"
cmake --build "$work/project/build" >"$work/log" || { cat "$work/log"; exit 1; }
"$work/project/build/consumer"

if command -v pkg-config >/dev/null; then
    folder=$(dirname "$(find "$work/prefix" -name tileblas.pc)")
    flags=$(PKG_CONFIG_PATH=$folder pkg-config --cflags --libs tileblas)
    # shellcheck disable=SC2086 # flags are words
    cc -o "$work/consumer" "$source" $flags
    LD_LIBRARY_PATH=$(dirname "$folder") "$work/consumer"
else
    echo "there is no pkg-config: not tried"
fi
LD_PRELOAD=$(find "$work/prefix" -name libtileblas-preload.so) "$work/project/build/consumer"

mv "$work/prefix" "$work/first"
cmake --build "$build" --target uninstall >"$work/log" || { cat "$work/log"; exit 1; }
test ! -e "$work/first" || { echo "left behind:"; find "$work/first"; exit 1; }

# What others have put beside it stays.
cmake --install "$build" --prefix "$work/shared" >"$work/log"
touch "$work/shared/include/another.h"
cmake --build "$build" --target uninstall >"$work/log"
test "$(find "$work/shared" -type f)" = "$work/shared/include/another.h"
test "$(find "$work/shared" -type d | wc -l)" = 2
