#!/usr/bin/env bash
# limits.sh: programs that limit their own address space, data, stack, descriptors and files. If it
# fails, the difference between the memory that such a program gets alone and recorded exceeds the
# recorder's tables in use, or the program sees another error, status or signal.
#
# LIMITS_PROGRAMS=2000 runs 2,000 random programs, from seed LIMITS_SEED on.
. "$SRCDIR/test/run/lib.subr"
need python3

# pieces WHICH MIB HOW [OPTION...]: check that the program gets 40 pieces of 512 KiB under the
# limit, as alone.
pieces() {
    local which=$1 mib=$2 how=$3
    shift 3
    same "$mib MiB of $which by $how${*:+, $*}" "40 of 40" \
        "$("$HEAPTAP" run --quiet --force "$@" -o pieces.heaptap -- \
            "$PROG/limits_itself" pieces "$which" "$mib" "$how")"
}

for how in libc raw child; do
    for mib in 40 100 150; do
        pieces DATA $mib $how
        pieces DATA $mib $how --reserve 4M
        pieces DATA $mib $how --sample 64K
    done
    pieces DATA 60 $how --annotate
    pieces AS 150 $how
    pieces AS 150 $how --annotate
done
# A recorder that makes no system calls, or does not trace them, notices only limits that libc sets.
pieces AS 150 libc --reserve 4M
pieces AS 150 libc --sample 64K
# A reserve near the limit, or above it, is given back except for the tables in use.
pieces AS 150 libc --reserve 64M
pieces AS 600 libc --reserve 512M
pieces AS 150 libc --reserve 512M
pieces AS 2000 libc --reserve 2G
known pieces.heaptap "losses events=0 unknown_frees=0 unrecorded_frees=0 no_thread_events=0"

# A reserve serves a program that fills a limit, and one with a limit far above its use.
for case in 1048576:64M 20480:64M 2048:64M 2048:512M 2048:2G; do
    mib=${case%:*} reserve=${case#*:}
    count=$("$HEAPTAP" run --quiet --force --reserve $reserve -o full.heaptap -- \
        "$PROG/limits_itself" full $mib)
    check "full, $mib MiB, $reserve: $count blocks, at least 1200" test "$count" -ge 1200
    KNOWN_PREFIX="full, $mib MiB, $reserve: "
    known full.heaptap "leaf:full allocations=$count frees=$count" \
        "leaf:take_tiny allocations=16 frees=16" \
        "losses events=0 unknown_frees=0 unrecorded_frees=0 no_thread_events=0"
done

# If a process limits itself, memory that its child has mapped stays the child's.
for option in "" --annotate; do
    same "a child limits itself $option" "child 0" \
        "$("$HEAPTAP" run --quiet --force $option -o forked.heaptap -- \
            "$PROG/limits_itself" fork 4096)"
done

# A forked child that is not recorded, because there is no room, may use its parent's reservations.
for option in "" --annotate; do
    pieces AS 150 forked $option
done

# The tables of a parent with a large heap are not charged to its child's limit either.
for option in "" --annotate; do
    pieces DATA 60 grown $option
done

# The same with a limit from the start, under which the parent has no pool.
for option in "" --annotate; do
    same "a forked child under 700 MiB $option" "40 of 40" \
        "$("$HEAPTAP" run --quiet --force $option -o forked.heaptap -- \
            bash -c "ulimit -Sv 716800; exec $PROG/limits_itself pieces AS 70 forked")"
done

# The stack grows although no call has reported the limit, and no call has failed.
for option in "" --annotate --sample=64K; do
    same "the stack under an unseen limit $option" "done
7" \
        "$("$HEAPTAP" run --quiet --force $option -o stack.heaptap -- \
            "$PROG/limits_itself" stack 400; echo $?)"
done

# A start under a limit uses little more than half of the space, including the library and the first
# blocks. space OPTION MIB: print the address space in KiB that a process under a limit of MIB
# observes
space() {
    "$HEAPTAP" run --quiet --force $1 -o space.heaptap -- \
        bash -c "ulimit -Sv $(($2 << 10)); exec cat /proc/self/status" |
        awk '/^VmSize/ { print $2 }'
}
for mib in 280 400; do
    bare=$(bash -c "ulimit -Sv $((mib << 10)); exec cat /proc/self/status" |
        awk '/^VmSize/ { print $2 }')
    for option in "" --annotate; do
        taken=$(($(space "$option" $mib) - bare))
        check "a start under $mib MiB $option records" test $taken -gt $((64 << 10))
        check "a start under $mib MiB $option takes $taken KiB, at most 55 %" \
            test $taken -le $((((mib << 10) - bare) * 55 / 100))
    done
done

# A start that fails takes nothing from the program.
for limit in "-v 100000" "-d 20000"; do
    for option in "" --annotate; do
        "$HEAPTAP" run --quiet --force $option -o failed.heaptap -- \
            bash -c "ulimit $limit; exec $PROG/small_stack 65536 later" >failed.out 2>failed.err
        same "ulimit $limit $option: status, output" "5 done" "$? $(cat failed.out)"
    done
done

mkdir random
python3 "$area/limits.py" "${LIMITS_PROGRAMS:-24}" "${LIMITS_SEED:-1}" random >random.out 2>&1
status=$?
echo "# $(tail -1 random.out)"
[ $status = 0 ] || cat random.out
same "random limits, bare and recorded" 0 $status
finish
