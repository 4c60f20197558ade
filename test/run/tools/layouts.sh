#!/usr/bin/env bash
# layouts.sh: both layouts of the JSON have the same contents, for every view; the layout with
# tables is small; docs/json.md has each member, and its recipes work. If it fails, scripts get
# wrong numbers or stacks, or an answer copied from the manual is an error.
. "$SRCDIR/test/run/lib.subr"
need python3 jq

record containers.heaptap "$PROG/containers"
record arenas.heaptap "$PROG/two_arenas"
record frees.heaptap "$PROG/bad_frees"
record recursive.heaptap "$PROG/recursive"
"$HEAPTAP" run --quiet --no-pack -o history.heaptap -- "$PROG/slowleak" 30000 20000 >leak.out
record forks.heaptap "$PROG/forks"
"$HEAPTAP" run --quiet --sample 4K -o sampled.heaptap -- "$PROG/sampled" >/dev/null 2>&1
run_python "$area/access_made.py" "$PROG/access_structs" accesses.heaptap
# This profile has functions of a language.
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/toy.heaptap "$PROG/toy" 1 300 0 truth
"$HEAPTAP" merge -o merged.heaptap containers.heaptap recursive.heaptap >merge.log 2>&1

run_python "$area/layouts.py" same "$HEAPTAP" || failures=$((failures + 1))
run_python "$area/layouts.py" small "$HEAPTAP" || failures=$((failures + 1))
run_python "$area/layouts.py" documented "$HEAPTAP" || failures=$((failures + 1))

# The files get the names that the recipes use. The output of a recorded process is ignored here.
mv history.heaptap app.heaptap
"$HEAPTAP" run --quiet --no-pack -o base.heaptap -- "$PROG/slowleak" 12000 20000 >leak.out
"$HEAPTAP" run --quiet -o session.heaptap -- bash -c '"$1"; "$2"; true' - "$PROG/recursive" \
    "$PROG/containers" >session.out 2>&1
run_python "$area/layouts.py" recipes "$HEAPTAP" || failures=$((failures + 1))
finish
