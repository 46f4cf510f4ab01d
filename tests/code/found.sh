#!/bin/sh
# A library finds the device code of its own build: in itself, or in libtileblas.so.0 where builds and installations put that,
# by whatever name and from whatever folder it was loaded. No other file is taken, and a line says so.
#
#   found.sh PROGRAM READER OWNER HOLDER OTHER_HOLDER      READER reads what HOLDER has; OWNER has it itself
set -eu
program=$1 reader=$2 owner=$3 holder=$4 other=$5
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "$*"; cat answer; exit 1; }
expect() { # expect FILE LIBRARY: code is read from the file
    "$program" "$2" >answer 2>&1 || fail "$2 found no code:"
    test "$(cat answer)" = "first of this, second of this, from $1" || fail "$2 found other code, not in $1:"
}
expect_none() { # expect_none WHY LIBRARY
    if "$program" "$2" >answer 2>&1; then fail "$2 found code where $1:"; fi
    grep -qx 'tileblas: products stay on the CPU: .* libtileblas.so.0 of the same build, which is not beside .*' answer ||
        fail "$2 does not say that $1:"
}
new() { # new FOLDER READER_IN_IT HOLDER_IN_IT
    mkdir -p "$(dirname "$1/$2")" "$(dirname "$1/$3")"
    cp "$reader" "$1/$2"
    cp "$holder" "$1/$3"
}

cp "$owner" owner.so
expect itself ./owner.so

new together reader.so libtileblas.so.0
expect "$work/together/libtileblas.so.0" "$work/together/reader.so"
expect "$work/together/libtileblas.so.0" ./together/reader.so
mkdir elsewhere
ln -s ../together/reader.so elsewhere/libblas.so.3
expect "$work/together/libtileblas.so.0" ./elsewhere/libblas.so.3
mv together moved
expect "$work/moved/libtileblas.so.0" ./moved/reader.so
cp "$holder" moved/libtileblas.so.0.1.0
ln -sf libtileblas.so.0.1.0 moved/libtileblas.so.0
expect "$work/moved/libtileblas.so.0.1.0" ./moved/reader.so
strip moved/libtileblas.so.0.1.0 moved/reader.so
expect "$work/moved/libtileblas.so.0.1.0" ./moved/reader.so

new system lib/tileblas/libblas.so.3 lib/libtileblas.so.0
expect "$work/system/lib/libtileblas.so.0" ./system/lib/tileblas/libblas.so.3
for folder in lib lib64 lib/some-machine; do
    new "of_$folder" bin/tileblas "$folder/libtileblas.so.0"
    expect "$work/of_$folder/$folder/libtileblas.so.0" "./of_$folder/bin/tileblas"
done

new alone reader.so libtileblas.so.0
mv alone/libtileblas.so.0 alone/another.so
expect_none "there is none" ./alone/reader.so
grep -q "beside $work/alone/reader.so\$" answer || fail "the line does not say where:"
mkdir alone/libtileblas.so.0
expect_none "a folder has its name" ./alone/reader.so
rmdir alone/libtileblas.so.0
cp "$other" alone/libtileblas.so.0
expect_none "another build's is there" ./alone/reader.so
cp "$reader" alone/libtileblas.so.0
expect_none "a library without code has its name" ./alone/reader.so
for bytes in 0 1 63 64 500 5000 $(($(stat -c %s "$holder") / 2)) $(($(stat -c %s "$holder") - 1)); do
    head -c "$bytes" "$holder" >alone/libtileblas.so.0
    expect_none "only $bytes bytes are there" ./alone/reader.so
done
cp "$holder" alone/libtileblas.so.0
expect "$work/alone/libtileblas.so.0" ./alone/reader.so
