# git_tests.sh: a part of git's own tests, on git built from Debian's source: thousands of short
# processes with pipes, signals, limits and files that vanish.
#
# needs: make gcc perl
# files: /etc/apt/sources.list.d/debian.sources /usr/include/zlib.h
# limit: 900
# hide: expecting success of.*

# apt downloads the source, by a private list derived from the system's lists, which stay unchanged.
# git is built once, without optional parts.
fetch_and_build() {
    local d=$CACHE/git o
    mkdir -p "$d/lists/partial" && cd "$d" || return
    sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >private.sources
    o="-o Dir::Etc::sourcelist=$d/private.sources -o Dir::Etc::sourceparts=-"
    o="$o -o Dir::State::lists=$d/lists"
    # shellcheck disable=SC2086
    apt-get -q $o update && apt-get -q $o source --download-only git && tar xf git_*.orig.tar.xz &&
        mv git-[0-9]*/ source && make -C source -j2 NO_CURL=1 NO_EXPAT=1 NO_GETTEXT=1 NO_PYTHON=1 \
        NO_TCLTK=1 NO_OPENSSL=1 CFLAGS='-O1 -g' SHELL_PATH=/bin/sh && touch built
}

prepare() {
    [ -e "$CACHE/git/built" ] || (fetch_and_build >"$HOME/log" 2>&1) || {
        tail -n 1 "$HOME/log"
        return 1
    }
}

run() {
    local t
    cd "$CACHE/git/source/t" || return
    for t in t0000 t0005 t0061 t1400 t3400 t5300 t5510 t7400; do
        sh $t-*.sh --root="$TMPDIR" 2>&1
        echo "$t: $?"
    done
}

"$@"
