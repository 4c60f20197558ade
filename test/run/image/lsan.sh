#!/usr/bin/env bash
# lsan.sh: `heaptap core --leaks` finds the bytes that LeakSanitizer finds, in random programs whose
# leaks are known. If it fails, the two differ, or both differ from the known bytes: a lost block is
# missing, or a block in use is called lost.
#
#     SHAPES_PROGRAMS=500 SHAPES_SEED=7 make test ONLY=run/lsan
. "$SRCDIR/test/run/lib.subr"
need python3 cc

if ! cc -fsanitize=leak -fno-builtin -O0 -g -o with_lsan "$SRCDIR/test/prog/leak_shapes.c" \
    -lpthread 2>lsan.err; then
    tail -3 lsan.err
    skip_all "the compiler has no LeakSanitizer"
fi
run_python "$area/lsan.py" "$HEAPTAP" "$PROG/leak_shapes" "$LIBHEAPTAP" "$PWD/with_lsan" ||
    failures=$((failures + 1))
finish
