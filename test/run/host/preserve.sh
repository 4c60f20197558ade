#!/usr/bin/env bash
# preserve.sh: compare the environment that a program observes with and without recording. If it
# fails, a program behaves differently because it is recorded.
. "$SRCDIR/test/run/lib.subr"
need python3
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')

# twins NAME COMMAND...: run COMMAND bare and recorded, both by $prefix; stdout, stderr and status
# must be equal.
twins() {
    local name=$1 bare
    shift
    $prefix "$@" >bare.out 2>bare.err <input
    bare=$?
    rm -f twin.*heaptap
    $prefix "$HEAPTAP" run --quiet $options -o twin.heaptap -- "$@" >run.out 2>run.err <input
    same "$name: exit status" "$bare" "$?"
    check "$name: stdout" diff bare.out run.out
    check "$name: stderr" diff bare.err run.err
}

options=
prefix=
seq 1000 >input
twins "descriptors, environment, errno, alignment, signals" "$PROG/unchanged" one "two words" ""
exec 7<input 9>elsewhere
twins "with descriptors open" "$PROG/unchanged"
exec 7<&- 9>&-
prefix="env -i"
twins "with an empty environment" "$PROG/unchanged"
check "with an empty environment: recorded" test -s twin.heaptap
prefix=
# The adapter for Python is an additional mapped library. Its symbol lookups make the recorder write
# to libc's table of symbols, as in any program that calls dlsym.
options=--no-language
twins "with a signal ignored and one blocked" "$python" -c '
import os, signal, sys
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
os.execv(sys.argv[1], sys.argv[1:])' "$PROG/unchanged"
options=
twins "errno and contents of the whole family" "$PROG/families"
twins "stdin" sort -rn
twins "a pipeline in a shell" sh -c 'sort -n | tail -n 3; exit 5'

# stdout, stdin or stderr is closed from the start: the recorder's descriptors must not get these
# numbers.
for fd in 0 1 2; do
    bash -c 'eval "exec $2>&-"; "$1"' - "$PROG/unchanged" $fd >bare.out 2>bare.err
    bare=$?
    rm -f twin.heaptap
    bash -c 'eval "exec $2>&-"; LD_PRELOAD=$3 HEAPTAP_OUT=twin.heaptap "$1"' - \
        "$PROG/unchanged" $fd "$LIBHEAPTAP" >run.out 2>run.err
    same "descriptor $fd closed: exit status" "$bare" $?
    check "descriptor $fd closed: stdout" diff bare.out run.out
done

# No descriptor, thread or signal handler of the recorder remains in the program, and children
# inherit nothing.
twins "descriptors and threads" "$python" -c '
import os
print(os.listdir("/proc/self/fd"), len(os.listdir("/proc/self/task")))'

# With a reserve, the recorder gives up its system calls while signals are blocked.
same "signals that are blocked, with a reserve" "$(grep SigBlk /proc/self/status)" \
    "$("$HEAPTAP" run --quiet --reserve 1M -o blocked.heaptap -- grep SigBlk /proc/self/status)"

# A parent that ignores SIGCHLD must not lose the exit status.
rm -f chld.heaptap
python3 -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$HEAPTAP" run --quiet -o chld.heaptap -- sh -c 'exit 6'
same "exit status when SIGCHLD is ignored" 6 $?

# The stack is small, or a limit on file size is below the profile's: the program continues.
twins "a stack of 256 KiB" bash -c 'ulimit -s 256; exec "$1" 3 1 3000' - "$PROG/random_mt"
rm -f limited.heaptap
bash -c 'ulimit -f 1; LD_PRELOAD=$2 HEAPTAP_OUT=limited.heaptap "$1" 3 1 3000' - \
    "$PROG/random_mt" "$LIBHEAPTAP" >run.out 2>run.err
same "a limit on file size: exit status" 0 $?
check "a limit on file size: stdout" diff <("$PROG/random_mt" 3 1 3000) run.out
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/missing/x.heaptap "$PROG/article" 2>nowhere.err
same "no place for the profile: exit status" 0 $?
check "no place for the profile: a message" grep -q '^heaptap: ' nowhere.err
finish
