#!/usr/bin/env bash
# access.sh: the use of blocks, for a profile with made-up numbers (access_made.py): as text, as
# JSON, packed and merged. If it fails, memory that is never read is reported as read, blocks are
# counted twice or never, or users without counts do not learn how to get them.
. "$SRCDIR/test/run/lib.subr"
need python3

run_python "$area/access_made.py" "$PROG/access_structs" words.heaptap || skip_all "no profile"
run_python "$area/access_made.py" "$PROG/access_structs" lines.heaptap 64
"$HEAPTAP" pack -o packed.heaptap words.heaptap >pack.log 2>&1
"$HEAPTAP" merge -o merged.heaptap words.heaptap packed.heaptap >merge.log 2>&1
"$HEAPTAP" merge -o mixed.heaptap words.heaptap lines.heaptap >merge.log 2>&1
record plain.heaptap "$PROG/containers"

run_python "$area/access.py" "$HEAPTAP" || failures=$((failures + 1))

# fails NAME STATUS MESSAGE COMMAND...: check COMMAND's exit status and a line of its stderr
fails() {
    local name=$1 wanted=$2 message=$3
    shift 3
    "$HEAPTAP" "$@" >shown 2>shown.err </dev/null
    same "$name: exit status" "$wanted" $?
    check "$name: message" grep -qF -- "$message" shown.err
}
fails "a program that counts nothing" 3 'plain.heaptap: no accesses were counted' \
    access plain.heaptap
check "the remedy" grep -qF 'build it with CC="heaptap cc"' shown.err
fails "two lists at once" 2 "choose one" access --hot --cold words.heaptap

for form in "" --hot --cold --never "--limit 1" --fields "--fields --limit 1"; do
    # shellcheck disable=SC2086
    COLUMNS=80 LC_ALL=C.UTF-8 "$HEAPTAP" access $form words.heaptap >shown 2>shown.err
    same "access $form: exit status" 0 $?
    if LC_ALL=C.UTF-8 grep -nE '.{81}|[[:blank:]]$' shown; then
        failed "access $form fits into 80 columns"
    else
        passed "access $form fits into 80 columns"
    fi
done
"$HEAPTAP" report words.heaptap >report.out 2>&1
for form in "" --hot --fields; do
    # shellcheck disable=SC2086
    same "access $form names --fields" $((${#form} == 0)) \
        "$("$HEAPTAP" access $form words.heaptap | grep -c '^More: access --fields')"
done
check "a report has the accesses" grep -qE '^  Accesses +5.0M +1.2 MiB' report.out
"$HEAPTAP" access --svg fields.svg words.heaptap >svg.out 2>&1
same "a picture of the fields: exit status" 0 $?
check "it is XML" python3 -c 'import xml.dom.minidom as m; m.parse("fields.svg")'
check "it has the fields" grep -q '>links.left<' fields.svg
fails "two views at once" 2 "choose one" access --hot --fields words.heaptap
"$HEAPTAP" diff words.heaptap lines.heaptap >diff.out 2>&1
same "diff shows profiles with accesses" 0 $?
finish
