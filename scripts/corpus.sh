#!/bin/sh
# Fetches C projects as Debian source packages, builds them, and keeps every translation unit
# that the build compiles as a preprocessed file: OUT/PACKAGE/NAME.i.
#
#   scripts/corpus.sh OUT [PACKAGE..]        (default packages: see below)
#
# Needs apt-get, dpkg-source (package dpkg-dev), a C compiler and make (and autoconf, automake for packages
# that come without a configure script, as make-dfsg does). The sources are those that the package
# manager of the system is configured for, asked for source packages. Nothing of the system changes: apt gets
# its own lists and cache below OUT/.work, and nothing is installed. A package that is there already is not
# fetched again; one whose build fails or takes more than LIMIT (600 s) keeps what was compiled.
set -eu

out=${1:?usage: corpus.sh OUT [PACKAGE..]}
shift
[ $# -gt 0 ] || set -- bash bc busybox bzip2 dash diffutils flac gawk git grep gzip lame less libogg libvorbis \
    mawk mbedtls nginx opus redis sed speex sqlite3 tcc tcl8.6 vim xz-utils zlib
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$out/.work
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/parts" "$work/bin" "$work/src"

# The configured sources, in both of their formats, as sources of source packages.
list= parts=
eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
rm -f "$work"/parts/*
for file in "$list" "$parts"*.list; do
    [ ! -f "$file" ] || sed -n 's/^[[:space:]]*deb[[:space:]]/deb-src /p' "$file"
done > "$work/parts/one-line.list"
for file in "$parts"*.sources; do
    [ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" > "$work/parts/$(basename "$file")"
done
apt() {
    apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/parts" \
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
    conftest*.c | */conftest*.c) ;;
    *.c)
        if [ $compiles = yes ]; then
            base=$(basename "$a" .c)
            text=$KEEP/.$base.$$
            # Without its own outputs and optimisation.
            (
                skip=no
                for b; do
                    shift
                    if [ $skip = yes ]; then skip=no; continue; fi
                    case $b in
                    -o | -MT | -MQ | -MF) skip=yes ;;
                    -c | -MD | -MP | -MMD | -O* | -g*) ;;
                    *) set -- "$@" "$b" ;;
                    esac
                done
                cc -E -O0 -U_FORTIFY_SOURCE -w "$@" -o "$text"
            ) || rm -f "$text"
            # A file that is compiled once more for a shared library is kept once.
            for same in "$KEEP/$base".i "$KEEP/$base"-*.i; do
                if [ -e "$same" ] && cmp -s "$same" "$text"; then rm -f "$text"; fi
            done
            if [ -e "$text" ]; then
                name=$base
                n=1
                # Another compiler may look for a name at the same time.
                until ln "$text" "$KEEP/$name.i" 2> /dev/null; do n=$((n + 1)) name=$base-$n; done
                rm -f "$text"
            fi
        fi
        ;;
    esac
done
exec cc "$@"
WRAPPER
chmod +x "$work/bin/cc-keep"

# Prepares the build in the current folder. Most packages know what the system has; these do not.
configure() {
    case $1 in
    busybox) make defconfig ;;
    nginx) sh ./configure --with-cc="$CC" --without-http_rewrite_module ;;
    tcl8.6) cd unix && sh ./configure ;;
    *)
        if [ ! -f configure ] && [ -f configure.ac ]; then autoreconf -fi; fi
        # As root, some configure scripts ask whether that is meant.
        if [ -f configure ]; then FORCE_UNSAFE_CONFIGURE=1 sh ./configure; fi
        ;;
    esac
}

# A source without source packages is as good as none.
apt update || echo "some sources have no source packages"
for package; do
    if [ -e "$out/$package/.done" ]; then continue; fi
    rm -rf "$work/src/$package" "${out:?}/$package"
    mkdir -p "$work/src/$package" "$out/$package"
    (
        cd "$work/src/$package"
        apt source "$package" > apt.log 2>&1 || { tail -n 5 apt.log >&2; exit 1; }
        cd -- */
        export KEEP="$out/$package" CC="$work/bin/cc-keep" CFLAGS="-O0 -w"
        (
            configure "$package"
            # Patched files look newer than what was generated from them; that is not made again.
            timeout "${LIMIT:-600}" make -k -j "$(nproc)" CC="$CC" ACLOCAL=: AUTOCONF=: AUTOHEADER=: AUTOMAKE=: \
                MAKEINFO=:
        ) > ../build.log 2>&1 < /dev/null || echo "   the build failed in places, see $work/src/$package/build.log"
    ) || echo "   $package is not available"
    rm -f "$out/$package"/.[!.]*
    touch "$out/$package/.done"
    rm -rf "$work/src/$package"/*/
    echo "$package: $(find "$out/$package" -name '*.i' | wc -l) files"
done
