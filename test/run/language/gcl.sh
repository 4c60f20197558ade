#!/usr/bin/env bash
# gcl.sh: GNU Common Lisp, relinked with heaptap_gcl.c, which intercepts its allocation. If it
# fails, the instructions for GCL in docs/guide/lisp.md do not work; or objects are missed, counted
# twice, or counted as freed while they are live.
. "$SRCDIR/test/run/lib.subr"
need python3 gcl gcc objcopy

HEAPTAP_INCLUDE=$SRCDIR/include sh "$SRCDIR/src/lisp/heaptap-gcl" image >link.log 2>&1 ||
    { cat link.log; failed "GCL is linked again"; finish; }
echo '(princ "as before") (bye)' >said.lsp
same "without a recorder nothing changes" "as before" "$(./image -batch -load said.lsp | tail -1)"

cp "$area/gcl_widgets.lisp" widgets.lsp
gcl -batch -eval '(progn (compile-file "widgets.lsp") (bye))' >compile.log 2>&1
for kind in compiled interpreted; do
    [ $kind = compiled ] && file=widgets.o || file=widgets.lsp
    for count in 1000 5000; do
        cat >run.lsp <<END
(si::use-fast-links nil)
(load "$file")
(produce $count)
(recur)
(gbc t)
(format t "~%~d ~d ~d~%" (length *red*) *blue* *big*)
(bye)
END
        "$HEAPTAP" run --quiet -o $kind$count.heaptap -- ./image -batch -load run.lsp \
            >$kind$count.truth 2>run.err
        same "$kind: exit status" 0 $?
        same "$kind: errors" "" "$(cat run.err)"
        "$HEAPTAP" bins --classes --json $kind$count.heaptap >$kind$count.json 2>hints
    done
    for table in "leaks --paths --callers 0" functions callgraph; do
        "$HEAPTAP" $table --json ${kind}5000.heaptap >$kind.${table%% *} 2>hints
    done
    check "$kind: all tables, to the object" run_python "$area/gcl_counts.py" $kind \
        ${kind}1000.json ${kind}1000.truth ${kind}5000.json ${kind}5000.truth \
        $kind.leaks $kind.functions $kind.callgraph
    sed 's/^/# /' check.log
    "$HEAPTAP" callgraph ${kind}5000.heaptap >graph 2>hints
    check "$kind: Lisp functions in the call graph" grep -q ' MAKE-RED-WIDGET' graph
done
finish
