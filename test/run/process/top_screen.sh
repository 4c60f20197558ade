#!/usr/bin/env bash
# top_screen.sh: the screen of `heaptap top` in a real terminal, by tmux: rows against the report of
# the stopped program, each key, small and large terminals, and the state of the terminal after any
# end. If it fails, the screen shows other numbers than the report, or leaves the user's terminal
# unusable.
. "$SRCDIR/test/run/lib.subr"
need python3 tmux
ldd "$HEAPTAP" | grep -q ncurses || skip_all "needs a heaptap with ncurses"
export HEAPTAP PROG LIBHEAPTAP
run_python "$area/top_screen.py" || failures=1
TERM=dumb script -qec "'$HEAPTAP' top top.heaptap" /dev/null >dumb.txt 2>&1 </dev/null
check "TERM=dumb is refused in a sentence" \
    grep -q "the terminal 'dumb' cannot show a screen" dumb.txt
finish
