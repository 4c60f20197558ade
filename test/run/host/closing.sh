#!/usr/bin/env bash
# closing.sh: a program closes foreign descriptors while tables grow. If it fails, the recorder
# writes to a file of the program, enlarges it, or closes it; or the profile is damaged, or lacks
# data without a message.
#
# test/fault/inject.c holds the recorder's thread after each call that affects descriptors, one kind
# of call at a time. If the thread is held after every attempt to open its file, the recorder may
# give up with a message.
. "$SRCDIR/test/run/lib.subr"
need python3

inject=$BUILD/test/fault/inject

# whole_or_told: succeeds if the profile has all events of the program's main thread, or if profile
# and message state that it could not grow.
whole_or_told() {
    report_json closing.heaptap >closing.json || return 1
    run_python - "$(wc -l <err)" <<'END'
import documents, sys
with open("closing.json", encoding="utf-8") as f:
    report = documents.load(f)
print(report["totals"], report["losses"])
known = [s for s in report["sites"] if any(f["function"] == "descend" for f in s["stack"])]
whole = [sum(s[k] for s in known) for k in ("allocations", "frees")] == [16384, 16384]
failed = report["losses"]["file_failed"]
damaged = [note for note in report["notes"] if note["kind"] == "damaged-file"]
sys.exit(failed != (sys.argv[1] == "1") or not failed and (not whole or bool(damaged)))
END
}

# judged NAME: check FILE, output and status of the program, and the profile.
judged() {
    same "$1: exit status" 6 "$status"
    same "$1: output" done "$(paste -sd' ' out)"
    same "$1: the program's file" abcd "$(head -c 100 victim)"
    same "$1: messages are ours" "" "$(grep -v '^heaptap: ' err)"
    check "$1: at most one message" [ "$(wc -l <err)" -le 1 ]
    check "$1: the profile is whole, or reports the loss" whole_or_told
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
