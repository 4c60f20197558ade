#!/usr/bin/env bash
# guide_lisp.sh: the program, the commands and the tables of the guide "Lisp". If it fails, the
# guide shows a program that does not compile, or numbers that users do not get.
. "$SRCDIR/test/run/lib.subr"
need python3 ecl
[ -f "$BUILD/libheaptap_ecl.so" ] ||
    skip_all "libecl-dev is not installed, so there is no adapter for Lisp"

cp "$SRCDIR/src/lisp/heaptap.lisp" .
run_python "$area/guide_lisp.py" "$HEAPTAP" "$SRCDIR/docs/guide/lisp.md" ||
    failures=$((failures + 1))
finish
