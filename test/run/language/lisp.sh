#!/usr/bin/env bash
# lisp.sh: Lisp on ECL, interpreted and compiled. If it fails, stacks show Lisp functions that did
# not run, or in a wrong order; or objects of Lisp have a wrong type, or are counted as freed while
# they are live.
. "$SRCDIR/test/run/lib.subr"
need python3 ecl jq
adapter=$BUILD/libheaptap_ecl.so
[ -f "$adapter" ] || skip_all "libecl-dev is not installed, so there is no adapter for Lisp"

# lisp NAME FORM...: evaluate each FORM under the recorder; the profile is NAME.heaptap.
lisp() {
    local name=$1 form forms=()
    shift
    for form; do
        forms+=(--eval "$form")
    done
    rm -f truth "$name.heaptap"
    LD_PRELOAD=$LIBHEAPTAP:$adapter HEAPTAP_OUT=$PWD/$name.heaptap \
        ecl --norc "${forms[@]}" --eval '(ext:quit)' >"$name.out" 2>"$name.err"
    same "$name: exit status" 0 $?
    same "$name: errors" "" "$(cat "$name.err")"
    "$HEAPTAP" report --json --no-fold "$name.heaptap" >"$name.json" 2>hints
}

# compile NAME SOURCE: compile SOURCE to NAME.fas.
compile() {
    ecl --norc --eval "(compile-file \"$2\" :output-file \"$PWD/$1.fas\")" --eval '(ext:quit)' \
        >"$1.compiled" 2>&1
    [ -f "$1.fas" ] || { cat "$1.compiled"; failed "$1 is compiled"; finish; }
}

# chains NAME FILE WITH-ECL'S-OWN: record random calls, and compare the profile's chains with those
# that the program counted. If WITH-ECL'S-OWN is t, also compare the program's chains with ECL's own
# list.
chains() {
    lisp "$1" "(load \"$2\")" "(setf chains::*ihs* $3)" "(chains::run 7500 7)"
    same "$1: ECL's own chains" "other 0" "$(tail -1 "$1.out")"
    check "$1: chains" run_python "$area/lisp_chains.py" "$1.json" truth "lisp bit-vector" CHAINS \
        F0 F1 F2 F3 F4 SETF-F5 INNER OUTER SIDE LAMBDA
    sed -n 's/^.*chains,/# &/p' check.log
    check "$1: 10,000 moments" awk '{ n += $1 } END { exit n < 10000 }' truth
}

# The program selects the adapter.
record run.heaptap ecl --norc --eval '(setf *kept* (make-list 777))' --eval '(ext:quit)'
"$HEAPTAP" report --by heap run.heaptap >run.text 2>hints
check "run: Lisp has types" grep -q 'lisp cons' run.text

chains interpreted "$area/chains.lisp" t
compile chains "$area/chains.lisp"
chains compiled "$PWD/chains.fas" nil
# At debug level 3, SIDE is inlined into its caller, and its entry in ECL's own list of frames is in
# the caller's C frame.
{ echo '(declaim (optimize (debug 3)))'
  sed "s/(funcall (if (= 0 (chance 2)) #'act #'side) (1+ d))/(if (= 0 (chance 2)) (act (1+ d)) \
       (funcall #'side (1+ d)))/" "$area/chains.lisp"; } >debug.lisp
compile debug "$PWD/debug.lisp"
chains debug3 "$PWD/debug.fas" t

# widgets NAME FILE: check mprof's tables for the program of the mprof paper.
widgets() {
    local name=widgets_$1
    lisp "$name" "(load \"$2\")" "(widgets::produce 10000)" "(widgets::recur)" "(widgets::report)"
    "$HEAPTAP" leaks --paths --callers 0 --json "$name.heaptap" >"$name.leaks" 2>hints
    "$HEAPTAP" functions --json "$name.heaptap" >"$name.functions" 2>hints
    "$HEAPTAP" callgraph --json "$name.heaptap" >"$name.graph" 2>hints
    check "$name: all tables, to the object" run_python "$area/widgets.py" "$name.json" truth "$1" \
        "$name.leaks" "$name.functions" "$name.graph"
    sed 's/^/# /' check.log
}
widgets interpreted "$area/widgets.lisp"
compile widgets "$area/widgets.lisp"
widgets compiled "$PWD/widgets.fas"

for count in 10000 30000; do
    lisp "classes_$count" "(load \"$PWD/widgets.fas\")" "(widgets::produce $count)" \
        "(widgets::report)"
    mv truth "truth_$count"
    "$HEAPTAP" bins --classes --json "classes_$count.heaptap" >"bins_$count" 2>hints
done
check "classes: as many as the program made" run_python "$area/classes.py" \
    bins_10000 truth_10000 bins_30000 truth_30000
cat check.log
"$HEAPTAP" bins --classes classes_10000.heaptap >text 2>hints
check "classes: as text" grep -qE '^c +all conses' text

# The other tables have the same classes. Memory of no Lisp object, such as malloc's, is in o.
classes_of() { # classes_of COMMAND...: print the letters and bytes of the total
    "$HEAPTAP" "$@" --json classes_10000.heaptap 2>hints |
        jq -c '.total.bytes_by_class // ([.direct, .callgraph][] | .[0].inclusive_by_class)'
}
same "functions: the bytes of each class" \
    "$(jq -c '([.classes[] | select(.type == "total")][0].bytes) as $lisp
              | (.totals.allocated_bytes - $lisp) as $more
              | [.classes[] | select(.type | startswith("all "))
                 | {(.class): (.bytes + (if .class == "o" then $more else 0 end))}] | add' \
        bins_10000)" "$(classes_of functions)"
same "functions: by size" l,m,s,x \
    "$(classes_of functions --size-classes | jq -r 'keys | join(",")')"
for view in functions callgraph; do
    "$HEAPTAP" $view classes_10000.heaptap >text 2>hints
    check "$view: the legend of the classes" \
        grep -qx 'Bars: the % by type: c conses, f floats, s structures, vectors, o others' text
    "$HEAPTAP" $view --classic classes_10000.heaptap >text 2>hints
    check "$view: the columns of the paper" grep -q -- '--c--f--s--o--' text
    "$HEAPTAP" $view --classic --size-classes classes_10000.heaptap >text 2>hints
    check "$view: the columns for sizes" grep -q -- '--s--m--l--x--' text
done

# The program marks an interval itself, with heaptap:with-profile.
lisp said "(load \"$SRCDIR/src/lisp/heaptap.lisp\")" "(load \"$PWD/widgets.fas\")" \
    '(setf *k* (heaptap:with-profile ("building") (widgets::produce 5000) (heaptap:present-p)))' \
    '(print *k*)'
same "module: it is recorded" "T" "$(tail -1 said.out | tr -d ' ')"
"$HEAPTAP" report --between building --json --no-fold said.heaptap >between.json 2>hints
check "module: the objects made meanwhile" run_python -c "
import documents
report = documents.load(open('between.json'))
made = sum(site['allocations'] for site in report['sites'] if site.get('heap') == 'lisp structure'
           and any(frame['function'] == 'WIDGETS::PRODUCE' for frame in site['stack']))
assert made == 5000, made"
same "module: the classes of the objects made meanwhile" 5000 \
    "$("$HEAPTAP" bins --classes --between building --json said.heaptap 2>hints |
        jq '.classes[] | select(.type == "structure") | .allocs')"
same "without a recorder" "NIL" "$(ecl --norc --load "$SRCDIR/src/lisp/heaptap.lisp" \
    --eval '(princ (heaptap:with-profile () (heaptap:present-p)))' --eval '(ext:quit)' | tail -1)"
finish
