#!/bin/sh
# The Debian packages hold what their names say; those for the system register alternatives of libblas.so.3 and of
# libblas64.so.3 that are not chosen by themselves, work when they are chosen, and are gone when the packages are.
#
#   debian.sh BUILD PROGRAM PROGRAM64    one needs a libblas.so.3, the other a libblas64.so.3
set -eu
build=$1 program=$2 program64=$3
for tool in cpack dpkg-deb update-alternatives; do
    command -v "$tool" >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
contents() { dpkg-deb -c "$work/tileblas-$1"_*.deb | sed -n 's/^-[^ ]* .* \.\//\//p; s/^l[^ ]* .* \.\(\/[^ ]*\) -> .*/\1/p'; }
expect() {
    contents "$1" | grep -qE "^/usr/lib/$2\$" || { echo "tileblas-$1 has no $2:"; contents "$1"; exit 1; }
    contents "$1" | grep -q "^/usr/share/doc/tileblas-$1/copyright\$" || { echo "tileblas-$1 has no licence"; exit 1; }
}
expect link '([^/]+/)?libtileblas\.so'
expect link '([^/]+/)?libtileblas\.so\.[0-9]+'
expect link '([^/]+/)?cmake/TileBLAS/TileBLASConfig\.cmake'
expect link '([^/]+/)?pkgconfig/tileblas\.pc'
expect preload '([^/]+/)?libtileblas-preload\.so'
expect system '([^/]+/)?tileblas/libblas\.so\.3'
expect system64 '([^/]+/)?tileblas/libblas64\.so\.3'
contents link | grep -q '^/usr/include/tileblas\.h$'
contents command | grep -q '^/usr/bin/tileblas$'
contents command | grep -q '^/usr/share/man/man1/tileblas\.1$'
# Units are there, and nothing starts them.
test "$(contents command | grep systemd | sort | tr '\n' ' ')" = \
    '/usr/lib/systemd/user/tileblas.service /usr/lib/systemd/user/tileblas.socket ' || { echo "tileblas-command has not the two units"; exit 1; }
dpkg-deb -f "$work"/tileblas-command_*.deb Depends | grep -q 'tileblas-preload'
for package in preload command system system64; do # whose device code is in libtileblas.so
    dpkg-deb -f "$work/tileblas-$package"_*.deb Depends | grep -q 'tileblas-link (=' || { echo "tileblas-$package needs no code"; exit 1; }
done
for package in preload system system64; do
    test "$(contents "$package" | wc -l)" = 2 || { echo "tileblas-$package holds more:"; contents "$package"; exit 1; }
done

# The system of alternatives in folders of its own. The packages' scripts call it by name, so a stand-in on the path
# puts in the folders, and the unpacked package's for the system's.
mkdir "$work/alternatives" "$work/administration" "$work/library" "$work/tools"
real=$(command -v update-alternatives)
cat >"$work/tools/update-alternatives" <<END
#!/bin/sh
for word; do
    shift
    case \$word in
    /usr/lib/*/tileblas/* | /usr/lib/tileblas/*) word=$work/root\$word ;;
    /usr/lib/*) word=$work/library/\${word##*/} ;;
    esac
    set -- "\$@" "\$word"
done
exec $real --quiet --log /dev/null --altdir "$work/alternatives" --admindir "$work/administration" "\$@"
END
chmod +x "$work/tools/update-alternatives"
PATH=$work/tools:$PATH
touch "$work/reference"

check_alternative() { # check_alternative PACKAGE LIBRARY PROGRAM
    library=$2
    dpkg-deb -x "$work/tileblas-$1"_*.deb "$work/root"
    dpkg-deb -e "$work/tileblas-$1"_*.deb "$work/control-$1"
    name=$(grep -o "$library-[^ ]*" "$work/control-$1/postinst")
    update-alternatives --install "/usr/lib/x/$library" "$name" "$work/reference" 10
    is_chosen() { test "$(readlink -f "$work/library/$library")" = "$1"; }
    ours=$(find "$work/root" -name "$library")

    "$work/control-$1/postinst" configure
    is_chosen "$work/reference" || { echo "$library was chosen unasked"; exit 1; }
    update-alternatives --set "$name" "$ours"
    is_chosen "$ours" || { echo "$library cannot be chosen"; exit 1; }
    if [ -x "$3" ]; then
        LD_LIBRARY_PATH=$work/library "$3"
    fi
    "$work/control-$1/prerm" remove
    is_chosen "$work/reference" || { echo "$library is still chosen"; exit 1; }
    if update-alternatives --query "$name" | grep -q "$ours"; then
        echo "$library is still an alternative"
        exit 1
    fi
}
check_alternative system libblas.so.3 "$program"
check_alternative system64 libblas64.so.3 "$program64"
