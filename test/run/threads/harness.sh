#!/usr/bin/env bash
# harness.sh: run the recorder's code under sanitizers; see test/harness/harness.c. If it fails, the
# recorder counts wrongly or has undefined behaviour, in a way that no preloaded test can detect.
# HARNESS_EVENTS makes each thread do more than the short form.
. "$SRCDIR/test/run/lib.subr"
harness=$BUILD/test/harness
events=${HARNESS_EVENTS:-6000}
export HEAPTAP_OUT=$PWD/%p.%n.heaptap

# run SANITIZERS MODE THREADS: run the harness with a fixed seed, so that a failure can be repeated.
run() {
    check "$1, $3 threads, allocator that reports sizes by: $2" "$harness/harness_$1" --seed 7 \
        --mode "$2" --threads "$3" --waves 3 --events "$events" --plugins "$harness"
    rm -f ./*.heaptap
}

for mode in glibc call none; do
    run memory $mode 1
    run memory $mode 5
done
run thread glibc 5
run thread none 3
finish
