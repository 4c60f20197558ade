#!/usr/bin/env bash
# security.sh: try to break the promises of docs/internals/security.md, from the attacker's side. If
# it fails, a foreign profile, file, symbol cache or process can make heaptap act against its user's
# intent. Checks that need root, or another user, are skipped one by one.
. "$SRCDIR/test/run/lib.subr"
need python3

hostile="python3 $area/hostile.py $HEAPTAP"

# Each part of hostile.py prints its own results.
for part in claims paths names; do
    mkdir $part
    (cd $part && $hostile $part) || failures=$((failures + 1))
done

# raw FILE PROGRAM: make a profile as the recorder leaves it, without symbols.
raw() {
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/$1 "${@:2}" >/dev/null
}

skipped() {
    echo "ok - $1 # SKIP $2"
}

# --- files that an ELF file names -----------------------------------------------------------------

cat >victim.c <<'END'
#include <stdlib.h>
int main(void) { return malloc(10) == NULL; }
END
id=1111111111111111111111111111111111111111
if command -v gcc >/dev/null && command -v objcopy >/dev/null; then
    gcc -g -Wl,--build-id=0x$id -o linked victim.c
    objcopy --only-keep-debug linked trap
    objcopy --strip-debug --add-gnu-debuglink=trap linked
    rm trap
    mkfifo trap
    raw linked.heaptap ./linked
    check "a .gnu_debuglink that is a FIFO does not block" \
        env XDG_CACHE_HOME=/dev/null timeout 60 "$HEAPTAP" report linked.heaptap
    rm trap
    ln -s /dev/zero trap
    check "a .gnu_debuglink that is /dev/zero is not read" \
        env XDG_CACHE_HOME=/dev/null timeout 60 "$HEAPTAP" report linked.heaptap

    gcc -g -gsplit-dwarf -c -o split.o victim.c
    gcc -Wl,--build-id=0x$id -o split split.o
    rm -f split.dwo
    mkfifo split.dwo
    raw split.heaptap ./split
    check "a .dwo file that is a FIFO does not block" \
        env XDG_CACHE_HOME=/dev/null timeout 60 "$HEAPTAP" report split.heaptap
    XDG_CACHE_HOME=/dev/null "$HEAPTAP" report --json split.heaptap >split.json 2>/dev/null
    check "its functions still have their symbols" grep -q '"main"' split.json

    # Test the cache with a library that has another library's build id, at another path.
    sed 's/main(void) { return/genuine(void) { return/' victim.c >genuine.c
    echo 'int genuine(void); int main(void) { return genuine(); }' >caller.c
    sed 's/genuine/f_evil_f/' genuine.c >evil.c
    echo 'int f_evil_f(void); int main(void) { return f_evil_f(); }' >evil_caller.c
    mkdir good bad
    for kind in good:genuine:caller bad:evil:evil_caller; do
        IFS=: read -r dir source caller <<<"$kind"
        gcc -g -shared -fPIC -Wl,--build-id=0x$id -o $dir/libx.so $source.c
        gcc -o $dir/prog $caller.c $dir/libx.so -Wl,-rpath,"$PWD/$dir"
        raw $dir.heaptap "$dir/prog"
    done
    "$HEAPTAP" report bad.heaptap >bad.txt 2>/dev/null
    "$HEAPTAP" report good.heaptap >good.txt 2>/dev/null
    check "a forged build id names its own functions" grep -q f_evil_f bad.txt
    check "and not those of the library it was taken from" grep -q genuine good.txt
    check "and not those of the library it was taken from (2)" bash -c '! grep -q evil good.txt'

    cache=$PWD/own_cache
    mkdir "$cache" elsewhere
    ln -s "$PWD/elsewhere" "$cache/heaptap"
    XDG_CACHE_HOME=$cache "$HEAPTAP" report good.heaptap >/dev/null 2>&1
    same "a cache directory that is a symbolic link is not used" "" "$(ls elsewhere)"
    rm "$cache/heaptap"
    chmod 777 "$cache"
    XDG_CACHE_HOME=$cache "$HEAPTAP" report good.heaptap >/dev/null 2>&1
    same "nor one in a directory that everybody may write to" "" "$(ls "$cache")"
    chmod 700 "$cache"
    XDG_CACHE_HOME=$cache "$HEAPTAP" report good.heaptap >/dev/null 2>&1
    check "a private one is" ls "$cache"/heaptap/$id*good+libx.so
    same "with mode 0700" 700 "$(stat -c %a "$cache/heaptap")"
    (cd "$cache" && XDG_CACHE_HOME=. "$HEAPTAP" report "$OLDPWD/good.heaptap" >/dev/null 2>&1)
    check "a relative XDG_CACHE_HOME is not used" [ ! -e "$cache/heaptap/heaptap" ]
    if [ "$(id -u)" = 0 ]; then
        mkdir home
        chown 65534 home
        env -u XDG_CACHE_HOME HOME="$PWD/home" "$HEAPTAP" report good.heaptap >/dev/null 2>&1
        same "root leaves nothing in another user's HOME" "" "$(ls -A home)"
        mkdir -p theirs
        chmod 711 theirs
        cp good/libx.so theirs/
        gcc -o theirs/prog caller.c theirs/libx.so -Wl,-rpath,"$PWD/theirs"
        chown 65534 theirs/libx.so
        raw theirs.heaptap theirs/prog
        XDG_CACHE_HOME=$cache "$HEAPTAP" report theirs.heaptap >theirs.txt 2>/dev/null
        check "another user's library has names" grep -q genuine theirs.txt
        check "but none that are cached" bash -c "! ls '$cache'/heaptap/*theirs+libx.so"

        # The cache entry for a library with other names, at that path and with that id.
        cp -p good/libx.so genuine.so
        gcc -g -shared -fPIC -Wl,--build-id=0x$id -o good/libx.so evil.c
        mkdir -m 700 planted
        XDG_CACHE_HOME=$PWD/planted "$HEAPTAP" report good.heaptap >/dev/null 2>&1
        cp -p genuine.so good/libx.so
        cp -a planted taken
        XDG_CACHE_HOME=$PWD/taken "$HEAPTAP" report good.heaptap >taken.txt 2>/dev/null
        check "the user's own cache is used" grep -q f_evil_f taken.txt
        chown 65534 planted/heaptap/*
        XDG_CACHE_HOME=$PWD/planted "$HEAPTAP" report good.heaptap >planted.txt 2>/dev/null
        check "files of another user in it are not" \
            bash -c 'grep -q genuine planted.txt && ! grep -q evil planted.txt'
    else
        skipped "another user's HOME, library and cache files" "needs root"
    fi
else
    skipped "what an ELF file leads to" "needs gcc and objcopy"
fi

# --- output ---------------------------------------------------------------------------------------

raw kept.heaptap "$PROG/article"
raw other.heaptap "$PROG/article"
cp other.heaptap same.heaptap
"$HEAPTAP" export -f collapsed -o other.heaptap kept.heaptap >/dev/null 2>&1
same "no output replaces a profile, which a process may have mapped" 2 $?
check "and it is untouched" cmp same.heaptap other.heaptap
echo old >output
ln output linked_output
chmod 600 output
"$HEAPTAP" export -f collapsed -o output kept.heaptap 2>/dev/null
check "any other file is written as it stands" grep -q main linked_output

# An output follows a link, like the shell's >, except for a link that was found in a directory.
cp kept.heaptap linked_to.heaptap
for output in "pack -o" "merge -o"; do
    rm -f target.heaptap
    for what in "a dangling link" "a link"; do
        ln -sfn target.heaptap chosen.heaptap
        # shellcheck disable=SC2086
        "$HEAPTAP" $output chosen.heaptap other.heaptap >out 2>&1
        same "$output follows $what" "target.heaptap yes" \
            "$(readlink chosen.heaptap) $("$HEAPTAP" report target.heaptap >out 2>&1 && echo yes)"
    done
done
ln -sfn linked_to.heaptap chosen.heaptap
"$HEAPTAP" pack chosen.heaptap >out 2>&1
same "pack packs what a link that is named leads to" "linked_to.heaptap 1" \
    "$(readlink chosen.heaptap) $(cmp -s kept.heaptap linked_to.heaptap; echo $?)"
mkdir found
cp kept.heaptap linked_to.heaptap
ln -s ../linked_to.heaptap found/link.heaptap
"$HEAPTAP" pack found >out 2>&1
check "pack of a directory does not follow a link in it" cmp kept.heaptap linked_to.heaptap
if [ "$(cat /proc/sys/fs/protected_symlinks)" = 1 ] &&
    [ "$(id -u)" = 0 ]; then
    mkdir -m 1777 everybody
    ln -s ../linked_to.heaptap everybody/link.heaptap
    chown -h 12345 everybody/link.heaptap
    "$HEAPTAP" pack -o everybody/link.heaptap other.heaptap >out 2>&1
    same "the kernel refuses somebody's link where everybody may write" "3 0" \
        "$? $(cmp -s kept.heaptap linked_to.heaptap; echo $?)"
else
    skipped "somebody's link where everybody may write" "needs root and fs.protected_symlinks"
fi

# --- a page in a browser --------------------------------------------------------------------------

# If an attack in the names succeeded, it would change the title or leave a mark in the page.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then
    $hostile make names page.heaptap
    "$HEAPTAP" export -f flamegraph -o page.svg page.heaptap 2>/dev/null
    { echo '<!doctype html><title>quiet</title>'; cat page.svg; } >page.html
    for page in page.svg page.html; do
        timeout 120 "$browser" --headless --no-sandbox --disable-gpu \
            --user-data-dir="$PWD/browser" --virtual-time-budget=3000 \
            --dump-dom "file://$PWD/$page" >dom.html 2>browser.err
        if [ -s dom.html ]; then
            check "$page in a browser: the boxes are there" grep -q 'class="box' dom.html
            check "$page in a browser: no name has become script" bash -c \
                "! grep -qiE '<title>owned|<img|<svg[^>]* onload' dom.html"
        else
            skipped "$page in a browser" "the browser does not run here"
        fi
    done
else
    skipped "a page in a browser" "needs chromium"
fi

# --- processes of others -------------------------------------------------------------------------

touch given
if chown 12345:23456 given 2>/dev/null; then
    "$HEAPTAP" run --quiet --no-pack -o theirs.heaptap -- "$PROG/article"
    chown 12345:23456 theirs.heaptap
    "$HEAPTAP" pack theirs.heaptap >pack.out
    same "root packs another user's profile, which keeps its owner" "12345:23456 600" \
        "$(stat -c '%u:%g %a' theirs.heaptap)"
    chown 12345:23456 theirs.heaptap
    "$HEAPTAP" run --quiet -o ours.heaptap -- "$PROG/article"
    "$HEAPTAP" pack -o theirs.heaptap ours.heaptap >pack.out
    same "a new file belongs to root" 0:0 "$(stat -c '%u:%g' theirs.heaptap)"
    ln -s ours.heaptap link.heaptap
    chown -h 12345:23456 link.heaptap
    "$HEAPTAP" pack link.heaptap >pack.out
    same "also one made through another user's link" "0:0 600" \
        "$(stat -L -c '%u:%g %a' link.heaptap)"
else
    skipped "profiles of others that root packs" "needs root"
fi
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 711 .
    mkdir -m 777 shared
    cp "$PROG/grows" "$LIBHEAPTAP" shared/
    chmod 755 shared/*
    mkfifo -m 666 shared/go
    setpriv --reuid=65534 --regid=65534 --clear-groups env \
        LD_PRELOAD="$PWD/shared/libheaptap.so" HEAPTAP_OUT="$PWD/shared/live.heaptap" \
        "$PWD/shared/grows" wait <shared/go >shared/out &
    stranger=$!
    exec 3>shared/go
    for _ in $(seq 600); do
        grep -q ready shared/out && break
        sleep 0.05
    done
    if [ -e shared/live.heaptap ]; then
        check "root can look at a stranger's process" timeout 60 "$HEAPTAP" report $stranger
        rm shared/grows
        mkfifo shared/grows
        check "also when its program has become a FIFO" timeout 60 "$HEAPTAP" report $stranger
    else
        skipped "root and a stranger's process" "its user cannot reach the test's directory"
    fi
    echo >&3
    exec 3>&-
    wait $stranger
else
    skipped "root and a stranger's process" "needs root and setpriv"
fi

# --- the directory of other processes -------------------------------------------------------------

# others NAME STATUS: run a command with a child, with profiles in public/NAME.heaptap.
others() {
    "$HEAPTAP" run -o "public/$1.heaptap" -- sh -c 'true & wait' >others.out 2>others.err
    same "the directory of other processes: $1" "$2" $?
}
mkdir -m 1777 public
mkdir public/elsewhere
ln -s elsewhere public/link.processes
ln -s nowhere public/dangling.processes
mkdir -m 777 public/open.processes
echo precious >public/file.processes
mkdir -m 700 public/own.processes
for name in link dangling open file; do
    others $name 3
    check "the directory of other processes: $name is said" \
        grep -q "public/$name.processes" others.err
done
others own 0
others new 0
same "the directory of other processes: nothing in what was refused" "" \
    "$(ls public/elsewhere public/open.processes | grep heaptap$)"
same "the directory of other processes: private" 700 "$(stat -c %a public/new.processes)"
"$HEAPTAP" run -q -o public/alone.heaptap -- true
check "the directory of other processes: none without them" [ ! -e public/alone.processes ]
if [ "$(id -u)" = 0 ]; then
    mkdir -m 755 public/theirs.processes
    chown 65534 public/theirs.processes
    others theirs 3
else
    skipped "the directory of other processes: another user's" "needs root"
fi

# --- the profile file -----------------------------------------------------------------------------

mkdir -m 1777 sticky
echo precious >precious
ln -s "$PWD/precious" sticky/out.heaptap
ln precious sticky/hard.heaptap
mkfifo sticky/fifo.heaptap
ln -s "$PWD/missing-target" sticky/dangling.heaptap
for name in out hard fifo dangling; do
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/sticky/$name.heaptap timeout 60 "$PROG/article" \
        >"$name.out" 2>&1
    same "$name.heaptap is taken: the program runs as without heaptap" 0 $?
done
same "what the names stood for is untouched" "precious" "$(cat precious)"
check "nothing was made where a dangling link leads" [ ! -e missing-target ]
check "the FIFO is still one" [ -p sticky/fifo.heaptap ]
modes=$(find sticky -type f -name '*article*' -exec stat -c %a {} + | sort -u)
same "profiles are for their user only, whatever the umask" 600 "$modes"
(umask 0 && LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/open.heaptap "$PROG/article")
same "also with umask 0" 600 "$(stat -c %a open.heaptap)"

# To grow, the recorder reopens the file by its name: a file that was put there meanwhile must stay
# unchanged.
for trick in file link fifo directory; do
    rm -rf grow go
    mkfifo go
    mkdir grow
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/grow/p.heaptap timeout 120 "$PROG/grows" wait <go \
        >grow.out 2>grow.err &
    grows=$!
    exec 3>go
    for _ in $(seq 600); do
        grep -q ready grow.out && break
        sleep 0.1
    done
    case $trick in
    file)
        rm grow/p.heaptap
        echo precious >grow/p.heaptap
        ;;
    link)
        mv grow/p.heaptap moved.heaptap
        ln -s "$PWD/precious" grow/p.heaptap
        ;;
    fifo)
        rm grow/p.heaptap
        mkfifo grow/p.heaptap
        ;;
    directory)
        mkdir other
        echo precious >other/p.heaptap
        mv grow grew
        ln -s other grow
        ;;
    esac
    echo >&3
    exec 3>&-
    wait $grows
    same "growing, a $trick in the profile's place: status and output" "0 done" \
        "$? $(tail -n 1 grow.out)"
    [ $trick = fifo ] || same "the $trick is untouched" precious "$(cat grow/p.heaptap)"
done

# --- another process writes into a live profile --------------------------------------------------

# scribbled KIND: run a busy program while garbage is written into its profile.
scribbled() {
    rm -f scribbled.heaptap go
    mkfifo go
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/scribbled.heaptap timeout 300 \
        "$PROG/scribbled" "$PROG/libplugin_one.so" <go >scribbled.out 2>&1 &
    local runner=$! _
    exec 3>go
    for _ in $(seq 600); do
        [ -s scribbled.heaptap ] && break
        sleep 0.05
    done
    check "$1: garbage is written" \
        python3 "$area/scribble.py" scribbled.heaptap "$1"
    exec 3>&-
    wait $runner
    same "$1: the program ends as without heaptap" "0 whole" "$? $(cat scribbled.out)"
    "$HEAPTAP" report scribbled.heaptap >scribbled.txt 2>&1
    status=$?
    check "$1: the profile is shown or refused" [ $status = 0 -o $status = 3 ]
}
scribbled control
known scribbled.heaptap "losses events=0"
scribbled all

# --- set-user-ID programs ------------------------------------------------------------------------

# Install the recorder and the program where the dynamic linker accepts them for set-user-ID
# programs.
system_library=/usr/lib/libheaptap_secure_test.so
clean_up() {
    rm -f "$system_library"
    [ -z "${stage:-}" ] || rm -rf "$stage"
}
secure_run() {
    (cd "$stage/out" && setpriv --reuid=65534 --regid=65534 --clear-groups env \
        LD_PRELOAD=libheaptap_secure_test.so HEAPTAP_OUT="$stage/out/named.heaptap" "$1" \
        >"$stage/log" 2>&1)
}
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ ! -e "$system_library" ]; then
    trap clean_up EXIT
    stage=$(mktemp -d /var/tmp/heaptap-secure.XXXXXX)
    chmod 755 "$stage"
    mkdir -m 777 "$stage/out"
    install -m 4755 "$LIBHEAPTAP" "$system_library"
    install -m 755 "$PROG/article" "$stage/plain"
    install -m 4755 "$PROG/article" "$stage/setuid"
    secure_run "$stage/plain"
    check "the recorder is preloaded from a system directory" [ -e "$stage/out/named.heaptap" ]
    rm -f "$stage/out/"*
    if findmnt -nT "$stage" -o OPTIONS | grep -q nosuid; then
        skipped "a setuid program leaves nothing" "mounted nosuid"
    else
        secure_run "$stage/setuid"
        same "a setuid program runs as without heaptap" 0 $?
        same "and leaves nothing" "" "$(ls "$stage/out")"
        if setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$HEAPTAP"; then
            (cd "$stage/out" && setpriv --reuid=65534 --regid=65534 --clear-groups \
                "$HEAPTAP" run "$stage/setuid") >/dev/null 2>said
            check "and heaptap run gives the reason" grep -q 'more rights than its user' said
        else
            skipped "the message of heaptap run" "only root can reach the build"
        fi
    fi
    if command -v setcap >/dev/null && install -m 755 "$PROG/article" "$stage/capable" &&
        setcap cap_net_raw+ep "$stage/capable" 2>/dev/null; then
        secure_run "$stage/capable"
        same "a program with file capabilities runs as without heaptap" 0 $?
        same "and also leaves nothing" "" "$(ls "$stage/out")"
    else
        skipped "a program with file capabilities" "needs setcap and a file system with it"
    fi
else
    skipped "programs with somebody else's rights" "needs root and setpriv"
fi
finish
