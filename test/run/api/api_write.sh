#!/usr/bin/env bash
# api_write.sh: programs that write their own profile. If it fails, consumers cannot read the text
# of heaptap_write, its numbers are wrong, or it harms the program; or the examples do not work as
# described.
. "$SRCDIR/test/run/lib.subr"
need python3

python3 "$area/api_write.py" "$PROG/own_writer" "$BUILD/examples/server" \
    "$LIBHEAPTAP" || failures=$((failures + 1))
known copy.heaptap "total allocations=403 allocated_bytes=7000 live_bytes=4000" "losses events=0"

# With a reserve, the recorder makes no system calls.
cat >reserved.c <<'END'
#include <fcntl.h>
#include <heaptap/heaptap.h>
#include <stdio.h>
int main(void)
{
    int fd = open("reserved.out", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    printf("%d %d\n", heaptap_write(fd, "pprof"), heaptap_write(fd, "heaptap"));
    return 0;
}
END
if gcc -O1 -g -I"$SRCDIR/include" -o reserved reserved.c 2>gcc.err; then
    "$HEAPTAP" run --quiet -o reserved.heaptap --reserve 64M -- ./reserved >out
    same "with a reserve heaptap_write fails, and writes nothing" "-1 -1 0" \
        "$(cat out) $(stat -c %s reserved.out)"
else
    echo "ok - heaptap_write with a reserve # SKIP no gcc"
fi

# --- The article's program, by its own arena and its own profile ---------------------------------

article=$BUILD/examples/article_arena
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/article.heaptap "$article" article.prof >out 2>err
same "article: exit status" 0 $?
same "article: its first line" "heap profile: 5: 11 [5: 11] @ heapprofile" "$(head -1 article.prof)"

if command -v google-pprof >/dev/null; then
    google-pprof --text --show_bytes "$article" article.prof >text 2>err
    # Columns: the function's bytes and their share, bytes and share including its callees.
    shares() {
        awk -v name="$1" '$NF == name { print $1, $2, $4, $5 }' text
    }
    same "google-pprof: b" "7 63.6% 7 63.6%" "$(shares b)"
    same "google-pprof: a" "4 36.4% 8 72.7%" "$(shares a)"
    same "google-pprof: main" "0 0.0% 11 100.0%" "$(shares main)"
    google-pprof --collapsed "$article" article.prof 2>err |
        # google-pprof adds addresses.
        sed -e 's/<[0-9a-f]*>//g' -e 's/.*;main/main/' | sort >collapsed
    same "google-pprof --collapsed" "main;a 4|main;a;b 4|main;b 3|" "$(tr '\n' '|' <collapsed)"
    google-pprof --list='^a' --show_bytes "$article" article.prof >list 2>err
    check "google-pprof --list" grep -Eq '^ +4 +4 +[0-9]+: .*arena_alloc\(arena, 1, bytes\);' list
    check "google-pprof --list: the calls of a" \
        grep -Eq '^ +\. +4 +[0-9]+: .*b\(arena, bytes\);' list
else
    echo "ok - google-pprof # SKIP not installed"
fi
if command -v go >/dev/null; then
    go tool pprof -sample_index=inuse_space -unit=B -top "$article" article.prof >top 2>err
    top() {
        awk -v name="$1" '$NF == name { print $1, $2, $4, $5 }' top
    }
    same "go tool pprof: b" "7B 63.64% 7B 63.64%" "$(top b)"
    same "go tool pprof: a" "4B 36.36% 8B 72.73%" "$(top a)"
    same "go tool pprof: main" "0 0% 11B 100%" "$(top main)"
else
    echo "ok - go tool pprof # SKIP not installed"
fi
finish
