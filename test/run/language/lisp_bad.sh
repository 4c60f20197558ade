#!/usr/bin/env bash
# lisp_bad.sh: ECL in adverse conditions: damaged lists of frames, a full heap, an unknown version
# of ECL, ECL inside of a C program with threads, a fork and a second start. If it fails, the
# adapter crashes programs, or reports nonsense about them.
. "$SRCDIR/test/run/lib.subr"
need python3 ecl gcc ecl-config
adapter=$BUILD/libheaptap_ecl.so
[ -f "$adapter" ] || skip_all "libecl-dev is not installed, so there is no adapter for Lisp"

# counts NAME PROFILE HEAP FUNCTION=COUNT...: check the number of objects that each FUNCTION made
counts() {
    "$HEAPTAP" report --json --no-fold --native "$2" >report.json 2>hints
    check "$1" run_python "$area/lisp_counts.py" report.json "${@:3}"
}
quietly() { # quietly PROFILE OUTPUT
    same "$1: exit status" 0 "$status"
    same "$1: output" "$2" "$(cat "$1.out")"
    same "$1: errors" "" "$(cat "$1.err")"
}

gcc -O1 -o host "$area/lisp_host.c" $(ecl-config --cflags --libs) 2>gcc.log ||
    { cat gcc.log; failed "the host is compiled"; finish; }
record damage ./host damage
quietly damage "1600 conses
done 0"
# One of the circles has names, so its stack is full before it reaches C frames.
counts "damage: each object, at its place in C" damage "lisp cons" allocate=1500
record again ./host again
quietly again "done 0"
counts "again: both times" again "lisp bit-vector" WORK=2000
record threads ./host threads
quietly threads "done 0"
counts "threads: each has its own frames" threads "lisp bit-vector" WORK-A=2000 WORK-B=4000
rm -rf fork.processes
record fork ./host fork
quietly fork "1
done 3"
counts "fork: the parent" fork "lisp bit-vector" WORK=1000 WORK-B=0
# ECL 24 forks once more to run a program, so the child is the first of the remaining processes.
child=$(ls fork.processes/*.host.*.heaptap | sort -t. -k4,4n | head -n 1)
counts "fork: the child" "$child" "lisp bit-vector" WORK=0 WORK-B=2000

record exhaust ecl --norc --eval "(load \"$area/lisp_exhaust.lisp\" :verbose nil)" \
    --eval '(exhaust::run)' --eval '(ext:quit)'
quietly exhaust "exhausted 8"
counts "exhaust: structures" exhaust "lisp structure" EXHAUST::WORK=8000
counts "exhaust: strings" exhaust "lisp string" EXHAUST::WORK=8000

# This ECL reports another version.
library=$(ldd "$(command -v ecl)" | sed -n 's/.*=> \(.*libecl\.so\.[^ ]*\).*/\1/p')
name=$(basename "$library")
other=libecl.so.99.${name#libecl.so.*.}
[ ${#other} = ${#name} ] || other=$(printf '%s' "$name" | tr 0-8 1-9)
sed "s/${name//./\\.}/$other/g" "$library" >"$other"
sed "s/${name//./\\.}/$other/g" "$(command -v ecl)" >ecl
chmod +x ecl
export LD_LIBRARY_PATH=$PWD
record other ./ecl --norc --eval '(format t "~D~%" (length (make-list 777)))' --eval '(ext:quit)'
same "other: exit status" 0 "$status"
same "other: output" 777 "$(cat other.out)"
same "other: one message" "heaptap: the adapter for Lisp was built for another version of \
ECL; stacks show C functions" "$(cat other.err)"
"$HEAPTAP" report --by heap other >text 2>hints
check "other: recorded as a program on libgc" grep -q 'libgc' text
check "other: without types" sh -c '! grep -q "lisp " text'
finish
