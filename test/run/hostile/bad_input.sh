#!/usr/bin/env bash
# bad_input.sh: invalid input. If it fails, a user with a damaged file or a wrong name gets a crash,
# a misleading message, the wrong exit status, or loses a file.
. "$SRCDIR/test/run/lib.subr"
need python3

# refused NAME STATUS COMMAND...: check for exit status STATUS, a sentence (or the usage) on stderr,
# and an empty stdout.
refused() {
    local name=$1 wanted=$2
    shift 2
    "$@" >refused.out 2>refused.err </dev/null
    local got=$?
    if [ $got -ne "$wanted" ]; then
        failed "$name: exit status $got, not $wanted"
    elif [ -s refused.out ]; then
        failed "$name: writes to stdout"
    elif ! head -n 1 refused.err | grep -Eq '^(heaptap|usage): .......'; then
        failed "$name: no message"
    else
        passed "$name"
        return
    fi
    sed 's/^/#   /' refused.err
}

record good.heaptap "$PROG/article"
: >empty.heaptap
echo "this is a text file, and long enough to hold a header" >text.heaptap
head -c 65536 /dev/zero >zeros.heaptap
head -c 100 good.heaptap >short.heaptap
mkdir directory

inputs="empty.heaptap text.heaptap zeros.heaptap short.heaptap missing.heaptap directory 999999999
    /dev/null"
for view in report leaks source diff export; do
    for input in $inputs; do
        case $view in
        source) set -- source main $input ;;
        diff)   set -- diff good.heaptap $input ;;
        export) set -- export --format collapsed $input ;;
        *)      set -- $view $input ;;
        esac
        refused "$view of $input" 3 "$HEAPTAP" "$@"
    done
done
refused "report of a process that is not recorded" 3 "$HEAPTAP" report $$

# A profile that is truncated anywhere, or has any byte changed, must be refused or shown with
# notes.
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/raw.heaptap "$PROG/article"
check "damaged profiles are refused or shown, never a crash" \
    python3 "$area/damage.py" "$HEAPTAP" good.heaptap raw.heaptap

check "no gate passes because a profile is damaged" \
    python3 "$area/damaged_gates.py" "$HEAPTAP" raw.heaptap good.heaptap

# If a file is truncated before the requested moments, the message states this, because it is the
# reason why they are missing.
"$HEAPTAP" run --quiet --no-pack -o moments.heaptap -- "$PROG/slow_events" 0 40 100 10
head -c 40960 moments.heaptap >cut.heaptap
for view in report leaks "report --json" "leaks --json" "timeline --svg cut.svg" \
    "export -o cut.csv"; do
    for moments in "--between 100ms..200ms" "--at 100ms"; do
        [[ $view != timeline* ]] || moments="--between 100ms..200ms"
        # shellcheck disable=SC2086
        "$HEAPTAP" $view $moments cut.heaptap >moments.out 2>moments.err
        check "$view $moments of a file that is cut: the message" grep -q "is cut short" moments.err
    done
done

# Existing files are never overwritten.
echo precious >taken.heaptap
refused "run -o of an existing file" 3 "$HEAPTAP" run -o taken.heaptap -- "$PROG/article"
same "the existing file is untouched" precious "$(cat taken.heaptap)"
refused "run -o into a missing directory" 3 "$HEAPTAP" run -o missing/x.heaptap -- "$PROG/article"
cp good.heaptap copy.heaptap
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/copy.heaptap "$PROG/article"
check "the recorder leaves an existing file alone" cmp good.heaptap copy.heaptap

# These programs cannot be started.
refused "run of nothing" 2 "$HEAPTAP" run
refused "run of a directory" 126 "$HEAPTAP" run -- ./directory
refused "run of a text file" 126 "$HEAPTAP" run -- ./text.heaptap
refused "run of a missing program" 127 "$HEAPTAP" run -- ./missing-program
printf '#include <stdlib.h>\nint main(void) { return malloc(1) == NULL; }\n' >static.c
if gcc -static -o static static.c 2>/dev/null; then
    refused "run of a static program" 3 "$HEAPTAP" run -- ./static
else
    echo "ok - run of a static program # SKIP no static program can be linked here"
fi

# Usage.
refused "no command" 2 "$HEAPTAP"
refused "unknown command" 2 "$HEAPTAP" reprot
refused "unknown option" 2 "$HEAPTAP" report --colour good.heaptap
refused "option without its value" 2 "$HEAPTAP" report good.heaptap --limit
refused "an invalid number" 2 "$HEAPTAP" report --limit many good.heaptap
refused "an invalid choice" 2 "$HEAPTAP" report --by colour good.heaptap
refused "too many arguments" 2 "$HEAPTAP" report good.heaptap good.heaptap
refused "bad regular expression" 2 "$HEAPTAP" report --filter '(' good.heaptap

# The value 0 or an empty value would mean the default, or everything.
zero() {
    refused "$*" 2 "$HEAPTAP" "$@"
    check "$*: the message" grep -q ": 0 is none" refused.err
}
for option in --sample --sample-count --check-every --frames --max-memory --reserve \
    --snapshot-growth; do
    zero run $option 0 -- "$PROG/article"
done
zero run --annotate=0 -- "$PROG/article"
zero record --sample 0 good.heaptap
zero record --sample-count 0 good.heaptap
zero core --pid 0
zero report -n 0 good.heaptap
zero report --depth 0 good.heaptap
zero bins --top 0 good.heaptap
check "0 where it means something" "$HEAPTAP" leaks --callers 0 good.heaptap
empty() {
    refused "$*: empty" 2 "$HEAPTAP" "$@"
    check "$*: the message" grep -q ": its value, [A-Z|]*, is empty" refused.err
}
empty leaks --suppressions '' good.heaptap
empty report --debug-dir= good.heaptap
empty report --only '' good.heaptap
empty pack -o '' good.heaptap
empty run --only '' -- "$PROG/article"
empty run -o '' -- "$PROG/article"
for view in report leaks pack; do
    refused "$view of an empty name" 2 "$HEAPTAP" $view ''
    check "$view of an empty name: the message" grep -q "$view: an argument is empty" refused.err
done
for view in "source main" "html --json"; do
    # shellcheck disable=SC2086
    refused "$view: a missing directory" 2 \
        "$HEAPTAP" $view --source-dir missing good.heaptap
    check "$view: the message" grep -q "option '--source-dir': missing is no directory" refused.err
done

# Inputs without end, and a shell's pipe.
endless() {
    # shellcheck disable=SC2016 # For the shell within.
    refused "$1 of /dev/zero" 3 bash -c 'ulimit -v 1000000; exec timeout 60 "$@"' - "$HEAPTAP" "$@"
    check "$1 of /dev/zero: says so" grep -q "a line has more than 64 KiB" refused.err
}
endless leaks --suppressions /dev/zero good.heaptap
endless merge -o none.heaptap @/dev/zero
refused "suppressions without an end" 3 \
    "$HEAPTAP" leaks --suppressions <(yes '# a comment') good.heaptap
check "suppressions without an end: the message" grep -q "it has more than 64 MiB" refused.err
check "suppressions from a pipe" \
    "$HEAPTAP" leaks --fail-over 0 --suppressions <(echo "leak:*") good.heaptap
check "a list from a pipe" "$HEAPTAP" merge -o listed.heaptap @<(printf 'good.heaptap')
printf '\n\r\ngood.heaptap\r\n\ngood.heaptap' >list
"$HEAPTAP" merge -o listed.heaptap @list >list.out 2>list.err
same "a list with empty lines and other ends of lines" "1 1" \
    "$(grep -c 'from 1 process' list.out) $(grep -c 'named twice' list.err)"

# unwritten COMMAND...: check that COMMAND reports that its output cannot be written, to a full disk
# and to a closed pipe.
unwritten() {
    "$HEAPTAP" "$@" >/dev/full 2>full.err
    same "$*: a full disk is noticed" "3 1" "$? $(grep -c 'could not be written' full.err)"
    grep -q 'could not be written' full.err || sed 's/^/#   /' full.err
    "$HEAPTAP" "$@" >&- 2>full.err
    same "$*: a closed output is noticed" "3 1" "$? $(grep -c 'could not be written' full.err)"
}
unwritten report good.heaptap
unwritten record good.heaptap
unwritten run --hook list
unwritten pack -o packed.heaptap good.heaptap
unwritten merge -o merged.heaptap good.heaptap
if [ -s "$BUILD/gen/page.html" ]; then
    unwritten html -o page.html good.heaptap
else
    echo "ok - html: an output that cannot be written # SKIP tools/setup build brings the page"
fi
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/live.heaptap "$PROG/slowleak" 10000000 10000 >/dev/null &
pid=$!
until "$HEAPTAP" record --sample 4K --wait 60 live.heaptap >live.out 2>&1; do
    sleep 0.1
done
unwritten record --sample 4K --wait 60 live.heaptap
unwritten snapshot --wait 60 live.heaptap moment
kill $pid
finish
