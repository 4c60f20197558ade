#!/usr/bin/env bash
# accuracy.sh: bench/accuracy.py, which compares heaptap's counts with the truth and with the counts
# of clang's own library. If it fails, the documentation shows a table with a wrong count, or none.
#
# RANDOM_BITS=32 sets the kernel's ASLR (vm.mmap_rnd_bits) to 32 bits during the test, to check that
# the recorder starts with any layout. This affects all programs of the machine, so it is done only
# on request.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc nm

# Use the newest clang whose run-time library is installed; Debian packages the two separately.
clang=
for candidate in $(ls /usr/bin/clang-[0-9]* 2>/dev/null | sed 's|.*/||' | sort -t- -k2nr); do
    if echo 'int main(void) { return 0; }' |
        $candidate -fmemory-profile -x c -o linked - 2>linked.err; then
        clang=$candidate
        break
    fi
    echo "ok - beside $candidate's library # SKIP $(head -n 1 linked.err)"
done
shown() {
    run_python "$SRCDIR/bench/accuracy.py" "$@" "$HEAPTAP" gcc ${clang:+$clang} >shown 2>&1
    status=$?
    sed 's/^/# /' shown
}
shown
same "every number of ours is right" 0 $status
check "the table has no wrong cell" grep -q 'What is wrong with ours: 0 cells' shown
check "the table has the list of nodes" grep -qE '^list: 100 nodes of 192 +4004  .* = ' shown
if [ -z "$clang" ]; then
    echo "ok - beside compiler-rt # SKIP no clang with its library is installed"
fi

if [ -z "${RANDOM_BITS:-}" ]; then
    echo "ok - with more random bits # SKIP RANDOM_BITS=32 allows it to set vm.mmap_rnd_bits"
    finish
fi
shown --random-bits "$RANDOM_BITS"
if [ $status = 77 ]; then
    echo "ok - with $RANDOM_BITS random bits # SKIP $(cat shown)"
    finish
fi
same "with $RANDOM_BITS random bits" 0 $status
same "every program starts" 0 "$(grep -E 'ours (8|16|64): ' shown |
    grep -cvE 'ours 8: 50, ours 16: 50, ours 64: 50')"
finish
