#!/bin/sh
# Fetches C projects as Debian source packages, builds them, and keeps every translation unit
# that the build compiles as a preprocessed file: OUT/PACKAGE/NAME.i.
#
#   scripts/corpus.sh OUT [PACKAGE..]        (default packages: see below)
#
# Needs apt-get, dpkg-source (package dpkg-dev), a C compiler and make (and autoconf, automake for packages
# that come without a configure script, as make-dfsg does). Nothing of the system changes: apt
# gets its own list of sources and its own cache below OUT/.work, and nothing is installed. The suite is
# that of the running system; SUITE=bookworm and MIRROR=http://.. choose others. A package whose build
# fails keeps what was compiled.
set -eu

out=${1:?usage: corpus.sh OUT [PACKAGE..]}
shift
[ $# -gt 0 ] || set -- bc bzip2 gzip less mawk tcc zlib
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$out/.work
mirror=${MIRROR:-http://deb.debian.org/debian}
suite=${SUITE:-$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")}

mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/bin" "$work/src"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb-src [signed-by=$keyring] $mirror $suite main" > "$work/sources.list"
apt() {
    apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work" -o APT::Sandbox::User="$(id -un)" "$@"
}

# A compiler that also writes down what it compiles. The preprocessed text comes without
# optimisation, which would replace library functions by checked inline versions.
cat > "$work/bin/cc-keep" <<'WRAPPER'
#!/bin/sh
# "$KEEP" is where preprocessed files go.
compiles=no
for a; do
    case $a in -c) compiles=yes ;; -E | -M | -MM) exec cc "$@" ;; esac
done
for a; do
    case $a in
    conftest*.c) ;;
    *.c)
        if [ $compiles = yes ]; then
            name=$(basename "$a" .c)
            n=1
            while [ -e "$KEEP/$name.i" ]; do n=$((n + 1)) name=$(basename "$a" .c)-$n; done
            # Without its own outputs and optimisation.
            (
                skip=no
                for b; do
                    shift
                    if [ $skip = yes ]; then skip=no; continue; fi
                    case $b in
                    -o | -MT | -MF) skip=yes ;;
                    -c | -MD | -MP | -MMD | -O* | -g*) ;;
                    *) set -- "$@" "$b" ;;
                    esac
                done
                cc -E -O0 -U_FORTIFY_SOURCE -w "$@" -o "$KEEP/$name.i"
            ) || rm -f "$KEEP/$name.i"
            # A file that is compiled once more for a shared library.
            for same in "$KEEP/$(basename "$a" .c)"*.i; do
                if [ "$same" != "$KEEP/$name.i" ] && cmp -s "$same" "$KEEP/$name.i"; then
                    rm -f "$KEEP/$name.i"
                fi
            done
        fi
        ;;
    esac
done
exec cc "$@"
WRAPPER
chmod +x "$work/bin/cc-keep"

apt update
for package; do
    echo "== $package"
    rm -rf "$work/src/$package" "${out:?}/$package"
    mkdir -p "$work/src/$package" "$out/$package"
    (
        cd "$work/src/$package"
        apt source "$package" > apt.log 2>&1 || { tail -n 5 apt.log >&2; exit 1; }
        cd -- */
        export KEEP="$out/$package" CC="$work/bin/cc-keep" CFLAGS="-O0 -w"
        (
            if [ ! -f configure ] && [ -f configure.ac ]; then autoreconf -fi; fi
            if [ -f configure ]; then sh ./configure; fi
            # Patched files look newer than what was generated from them; that is not made again.
            make -k CC="$CC" ACLOCAL=: AUTOCONF=: AUTOHEADER=: AUTOMAKE=: MAKEINFO=:
        ) > build.log 2>&1 < /dev/null || echo "   the build failed in places, see $PWD/build.log"
    ) || echo "   $package is not available"
    echo "   $(find "$out/$package" -name '*.i' | wc -l) files"
done
