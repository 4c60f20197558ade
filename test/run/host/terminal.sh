#!/usr/bin/env bash
# terminal.sh: `heaptap run` between a shell and a program: keys, job control, signals, closed
# streams, and no terminal. If it fails, a program under heaptap cannot be used from a shell like a
# bare one.
. "$SRCDIR/test/run/lib.subr"
need python3 setsid

python3 "$area/terminal.py" || failures=$((failures + 1))

# Status and output must be the same as bare, if started in unusual ways.
alike() {
    local name=$1 bare
    shift
    rm -rf one.*
    bare=$(bash -c "$1" - "" 2>&1)
    same "$name" "$bare" "$(bash -c "$1" - "$HEAPTAP run -q -o one.heaptap --" 2>&1)"
}

printf '#!/bin/sh\necho here; exit 7\n' >pwd_here
chmod +x pwd_here
alike "without a terminal" 'setsid -w $1 sh -c "echo x; exit 7" </dev/null; echo $?'
alike "stdin closed" '$1 sh -c "echo x; ls /proc/self/fd | tail -n 1; exit 7" <&-; echo $?'
alike "stdout closed" '$1 sh -c "echo x; exit 7" >&- 2>/dev/null; echo $?'
alike "stderr closed" '$1 sh -c "echo x; exit 7" 2>&-; echo $?'
alike "all closed" '$1 sh -c "exit 7" <&- >&- 2>&-; echo $?'
alike "the reader of a pipe dies" '$1 yes | head -n 1; echo ${PIPESTATUS[0]}'
alike "a background job" '$1 sh -c "exit 7" & wait $!; echo $?'
alike "an empty environment" 'env -i $1 /bin/sh -c "echo x; exit 7"; echo $?'
alike "SIGHUP ignored" 'nohup $1 sh -c "kill -HUP \$\$; exit 7" 2>/dev/null; echo $?'
alike "SIGTERM blocked before" 'python3 -c "
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
os.execvp(sys.argv[1], sys.argv[1:])" $1 grep SigBlk /proc/self/status'

alike "an alarm set before" '{ python3 -c "
import os, signal, sys
signal.alarm(2)
os.execvp(sys.argv[1], sys.argv[1:])" $1 sleep 60; } 2>/dev/null; echo $?'
alike "an alarm that the program takes back" 'python3 -c "
import os, signal, sys
signal.alarm(50)
os.execvp(sys.argv[1], sys.argv[1:])" $1 python3 -c "
import signal
print(signal.alarm(0) > 40)"; echo $?'
alike "a command in the directory itself" 'PATH=$PATH: $1 ./pwd_here; echo $?'
alike "a command found by an empty end of PATH" 'PATH=$PATH: $1 pwd_here; echo $?'

# heaptap's messages have no reader: only the program's status matters.
"$HEAPTAP" run -o unread.heaptap -- sh -c 'sleep 1; exit 7' 2> >(true)
same "stderr is a pipe without a reader" 7 $?

# A program that another process stops is just slow.
"$HEAPTAP" run -q -o slow.heaptap -- sh -c 'echo $$ >slow.pid; sleep 1; exit 7' &
for _ in $(seq 200); do
    [ -s slow.pid ] && break
    sleep 0.1
done
kill -STOP "$(cat slow.pid)"
sleep 1.5
kill -CONT "$(cat slow.pid)"
wait $!
same "stopped and continued from elsewhere" 7 $?
finish
