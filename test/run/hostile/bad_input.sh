#!/usr/bin/env bash
# bad_input.sh: input that is not what it should be. If it fails, a user with a damaged file or a
# wrong name gets a crash, a misleading message, the wrong exit status, or loses a file.
. "$SRCDIR/test/run/lib.subr"
need python3

# refused NAME STATUS COMMAND...: exit STATUS, a sentence (or the usage) on stderr, nothing
# on stdout.
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

# A profile cut anywhere, or with any byte changed, may be refused or shown with notes; nothing
# else.
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/raw.heaptap "$PROG/article"
check "damaged profiles are refused or shown, never a crash" \
    python3 "$area/damage.py" "$HEAPTAP" good.heaptap raw.heaptap

# Nothing is ever overwritten.
echo precious >taken.heaptap
refused "run -o of an existing file" 3 "$HEAPTAP" run -o taken.heaptap -- "$PROG/article"
same "the existing file is untouched" precious "$(cat taken.heaptap)"
refused "run -o into a missing directory" 3 "$HEAPTAP" run -o missing/x.heaptap -- "$PROG/article"
cp good.heaptap copy.heaptap
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/copy.heaptap "$PROG/article"
check "the recorder leaves an existing file alone" cmp good.heaptap copy.heaptap

# What run cannot run.
refused "run of nothing" 2 "$HEAPTAP" run
refused "run of a directory" 3 "$HEAPTAP" run -- ./directory
refused "run of a text file" 3 "$HEAPTAP" run -- ./text.heaptap
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
refused "number that is none" 2 "$HEAPTAP" report --limit many good.heaptap
refused "choice that is none" 2 "$HEAPTAP" report --by colour good.heaptap
refused "too many arguments" 2 "$HEAPTAP" report good.heaptap good.heaptap
refused "bad regular expression" 2 "$HEAPTAP" report --filter '(' good.heaptap
"$HEAPTAP" report good.heaptap >/dev/full 2>full.err
if [ $? -ne 0 ]; then passed "a full disk is noticed"; else failed "a full disk is noticed"; fi
finish
