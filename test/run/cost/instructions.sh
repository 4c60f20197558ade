#!/usr/bin/env bash
# instructions.sh: compare the number of instructions that the recorder adds to a pair of malloc and
# free, or of heaptap_alloc and heaptap_free, with the bounds below. callgrind counts them for the
# loops of bench/micro.c. If it fails, a change has made the recorder do much more for each event;
# `bench/breakdown.py --stages` shows where. Counts depend on the compiler and on the sizes of
# libc's frames, but not on the load of the machine, so the bounds are generous; lower them when the
# recorder gets better. A row without a count fails as well.
. "$SRCDIR/test/run/lib.subr"
need valgrind python3
case $(uname -m) in x86_64) ;; *) skip_all "the bounds are for x86-64" ;; esac

# loop      measured   bound, 1.5 times that     gcc 12 -O2, Debian 12
# For the rows of heaps the bound is 1.25 times that, because these counts vary less.
bounds() {
    cat <<'END'
headline    465         700
depth5      285         430
depth20     362         540
depth60     553         830
paths       1580        2370
deep        2290        3430
handler     6430       9650
coroutine5  523         790
coroutine60 830         1250
coroutine900 5680       8520
heap64      543         680
heap256     699         870
heap32000   1990        2490
churn       418         630
own-2       370         560
cross-2     357         540
END
}

# count LIBRARIES FILE [LOOP…]: write the instructions of the loops, with LIBRARIES preloaded, to
# FILE
count() {
    python3 "$SRCDIR/bench/breakdown.py" --library "$1" --micro "$BUILD/bench/bin/micro" \
        "${@:3}" >"$2" 2>counted.err || {
        cat counted.err
        failed "callgrind counts the loops"
    }
}

holds() { # holds LOOP BOUND FILE: check that the count of LOOP is at most BOUND
    awk -v loop="$1" -v bound="$2" '
        $1 == loop { print loop ": " $2 " instructions added to a pair, bound " bound
                     found = 1; ok = $2 > 0 && $2 <= bound }
        END { exit !(found && ok) }' "$3"
}

# Two slots, selected by a hash of addresses, cache the stacks that alternate with the cached one.
# With fifty such stacks, in about one memory layout in fourteen, three share two slots, and are
# walked again and again. So if a count exceeds the bound in one layout, it is repeated in another.
within() {
    holds "$1" "$2" counted && return
    count "$PROG/libelsewhere.so $LIBHEAPTAP" moved "$1"
    holds "$1" "$2" moved
}

count "$LIBHEAPTAP" counted

while read -r loop measured bound; do
    check "$loop adds at most $bound instructions, as good as $measured when this was written" \
        within "$loop" "$bound"
done <<END
$(bounds)
END
finish
