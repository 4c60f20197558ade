#!/usr/bin/env bash
# closing.sh: a program closes descriptors that are not its own, in the middle of growing. If it
# fails, the recorder writes into a file of the program's, makes it larger, or closes it.
#
# test/fault/inject.c holds the recorder's thread after each call in turn of those that have to do
# with descriptors. Held after every attempt to open its file it may give up, and says so.
. "$SRCDIR/test/run/lib.subr"
need python3

inject=$BUILD/test/fault/inject

# judged NAME: FILE, output and status of the program.
judged() {
    same "$1: exit status" 6 "$status"
    same "$1: output" done "$(paste -sd' ' out)"
    same "$1: the program's file" abcd "$(head -c 100 victim)"
    check "$1: at most one message" [ "$(wc -l <err)" -le "$(grep -c '^heaptap: ' err)" ]
}

for which in "" all; do
    printf abcd >victim
    rm -f closing.heaptap
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/closing.heaptap "$PROG/closing" victim $which >out 2>err
    status=$?
    judged "not held${which:+, all closed}"
done

for call in openat fcntl fstat fallocate mremap mmap; do
    printf abcd >victim
    rm -f closing.heaptap
    HEAPTAP_OUT=$PWD/closing.heaptap timeout 60 "$inject" --call $call --n 1 --all-after --hold 4 \
        --preload "$LIBHEAPTAP" -- "$PROG/closing" victim >out 2>err
    status=$?
    [ $status != 77 ] || skip_all "cannot trace here: $(tail -n 1 err)"
    judged "held after $call"
done
finish
