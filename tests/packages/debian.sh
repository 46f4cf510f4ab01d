#!/bin/sh
# The Debian packages hold what their names say; the one for the system registers an alternative of libblas.so.3
# that is not chosen by itself, works when it is chosen, and is gone when the package is.
#
#   debian.sh BUILD PROGRAM    PROGRAM needs a libblas.so.3
set -eu
build=$1 program=$2
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
contents link | grep -q '^/usr/include/tileblas\.h$'
contents command | grep -q '^/usr/bin/tileblas$'
contents command | grep -q '^/usr/share/man/man1/tileblas\.1$'
dpkg-deb -f "$work"/tileblas-command_*.deb Depends | grep -q 'tileblas-preload'
test "$(contents preload | wc -l)" = 2 && test "$(contents system | wc -l)" = 2

# The system of alternatives in folders of its own. The package's scripts call it by name, so a stand-in on the path
# puts in the folders, and the unpacked package's for the system's.
dpkg-deb -x "$work"/tileblas-system_*.deb "$work/root"
dpkg-deb -e "$work"/tileblas-system_*.deb "$work/control"
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

name=$(sed -n 's/.*\(libblas\.so\.3-[^ ]*\).*/\1/p' "$work/control/postinst")
touch "$work/reference"
update-alternatives --install "/usr/lib/x/libblas.so.3" "$name" "$work/reference" 10
is_chosen() { test "$(readlink -f "$work/library/libblas.so.3")" = "$1"; }
ours=$(find "$work/root" -name libblas.so.3)

"$work/control/postinst" configure
is_chosen "$work/reference" || { echo "it was chosen unasked"; exit 1; }
update-alternatives --set "$name" "$ours"
is_chosen "$ours"
if [ -x "$program" ]; then
    LD_LIBRARY_PATH=$work/library "$program"
fi
"$work/control/prerm" remove
is_chosen "$work/reference" || { echo "it is still chosen"; exit 1; }
! update-alternatives --query "$name" | grep -q "$ours"
