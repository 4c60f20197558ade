#!/bin/bash
# help.sh: every command explains itself: --help within 80 columns, a valid man page, completion,
# and the exit codes of the command line. If it fails, the first texts that users read are wrong or
# missing.
set -u

check() {
    local name=$1
    shift
    if "$@" >check.out 2>&1; then
        echo "ok - $name"
    else
        cat check.out
        echo "not ok - $name"
    fi
}

exits() {
    local expected=$1 got
    shift
    "$@" >out 2>err
    got=$?
    [ "$got" -eq "$expected" ] || { echo "exit $got, not $expected: $*"; cat out err; return 1; }
}

# Check for some text without lines over 80 characters or blanks at line ends.
fits() {
    [ -s "$1" ] && ! grep -nE '.{81}|[[:blank:]]$' "$1"
}

commands=$("$HEAPTAP" --help | awk '/^  [a-z+]+  / { print $1 }' | grep -vx heaptap)
check "there are commands" test "$(echo "$commands" | wc -l)" -ge 7
mkdir man
check "man pages are written" "$HEAPTAP" generate man man

help_of() {
    exits 0 "$HEAPTAP" "$1" --help || return 1
    mv out help
    fits help || return 1
    [ ! -s err ] || return 1
    exits 0 "$HEAPTAP" help "$1" && cmp out help && grep -q "^usage: heaptap $1 " help &&
        grep -q '^options:$' help
}

# The page formats without a complaint and has every option of --help.
page_of() {
    local page=man/heaptap-$1.1 option
    groff -man -Tutf8 -ww -z "$page" 2>&1 | grep . && return 1
    groff -man -Tascii -P-c -rHY=0 "$page" | sed 's/.\x08//g' >page
    for option in $(grep -oE '^ +(-., )?--[a-z0-9-]+' help | grep -oE -- '--[a-z0-9-]+'); do
        grep -qF -- "$option" page || { echo "$page lacks $option"; return 1; }
    done
    grep -q 'EXIT STATUS' page
}

help_itself() {
    exits 0 "$HEAPTAP" help --help || return 1
    mv out help
    fits help || return 1
    exits 0 "$HEAPTAP" help help && cmp out help && grep -q '^usage: heaptap help ' help
}
check "help explains itself" help_itself
for c in $commands; do
    check "$c --help" help_of "$c"
    if command -v groff >/dev/null; then
        check "man page of $c" page_of "$c"
    else
        echo "ok - man page of $c # SKIP no groff"
    fi
done
check "no page without a command" test "$(ls man | wc -l)" -eq $(($(echo "$commands" | wc -l) + 1))

overview() {
    exits 0 "$HEAPTAP" --help && fits out && mv out overview && exits 0 "$HEAPTAP" help &&
        cmp out overview && exits 0 "$HEAPTAP" -h && cmp out overview &&
        exits 2 "$HEAPTAP" && [ ! -s out ] && cmp err overview
}
check "overview" overview

version() {
    exits 0 "$HEAPTAP" --version || return 1
    local number
    number=$(sed -n 's/^#define HEAPTAP_VERSION "\(.*\)"$/\1/p' "$SRCDIR/src/common/base/version.h")
    [ "$(cat out)" = "heaptap $number" ] && grep -qF "heaptap $number" man/heaptap.1
}
check "one version" version

# rejects MESSAGE ARGUMENTS…: check for exit code 2, MESSAGE on stderr, and an empty stdout.
rejects() {
    local message=$1
    shift
    exits 2 "$HEAPTAP" "$@" || return 1
    cat err
    [ ! -s out ] && grep -qF -- "$message" err
}
check "unknown command" rejects "unknown command 'reprot' (did you mean report?)" reprot
check "unknown option" rejects "unknown option '--jsn' (did you mean --json?)" report --jsn
check "option before command" rejects "unknown option '--json'" --json report
check "missing argument" rejects "an argument is missing" run
check "argument too many" rejects "'b' is one argument too many" report a b
check "help of nothing" rejects "unknown command 'nothing'" help nothing
printf '#!/bin/sh\n' >prog && chmod +x prog
check "program in place of a command" rejects "heaptap run ./prog" ./prog
: >old.heaptap
check "profile in place of a command" rejects "heaptap report old.heaptap" old.heaptap

same_command() {
    local pair
    for pair in sizes:bins functions:direct record:control; do
        "$HEAPTAP" help "${pair%:*}" >help && "$HEAPTAP" help "${pair#*:}" | cmp - help &&
            grep -q "^heaptap ${pair#*:} is the same command" help || return 1
    done
}
check "earlier names of commands work" same_command

full_disk() {
    "$HEAPTAP" --help >/dev/full 2>err
    [ $? -eq 3 ] && grep -q 'cannot be written' err
}
check "full disk" full_disk

terminal_escapes() {
    "$HEAPTAP" $'re\e[2Jport' 2>err
    ! grep -q $'\e' err
}
check "escapes are not passed on" terminal_escapes

# Print bash's completions after the given words; the last word is being typed.
offers() {
    bash -c 'source ./bash.completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _heaptap
             printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

formats=$("$HEAPTAP" export --list | awk '/^[a-z]/ { print $1 }' | paste -s -d ' ')
limits="peak leaks inuse alloc allocations temporary corruption count"
hooks=$({ "$HEAPTAP" run --hook list | sed -n '/^Presets/,$s/^  \([a-z]\+\) .*/\1/p'; echo list; } |
    sort | paste -s -d ' ')
kinds=$("$HEAPTAP" run --hook list | sed -n '/^Kinds/,/^$/s/^  (.*)  *//p' | tr -d ',' |
    paste -s -d ' ')
bash_completion() {
    "$HEAPTAP" generate completion bash >bash.completion || return 1
    local c option
    offers heaptap '' >offered
    for c in $commands help; do
        grep -qx "$c" offered || { echo "bash lacks $c"; return 1; }
    done
    for c in $commands; do
        "$HEAPTAP" "$c" --help >help
        offers heaptap "$c" - >offered
        for option in $(grep -oE '^ +(-., )?--[a-z0-9-]+' help | grep -oE -- '--[a-z0-9-]+'); do
            grep -qx -- "$option" offered || { echo "bash lacks $c $option"; return 1; }
        done
    done
    [ "$(offers heaptap report --metric pe)" = peak ] &&
        [ "$(offers heaptap report --metric = pe)" = peak ] &&
        [ "$(offers heaptap report --json = ne)" = nested ] &&
        [ "$(offers heaptap report --json = | tr '\n' ' ')" = "tables nested " ] &&
        [ "$(offers heaptap report --json old.h)" = old.heaptap ] &&
        [ "$(offers heaptap lea)" = leaks ] && [ "$(offers heaptap help sou)" = source ] &&
        [ "$(offers heaptap report old.h)" = old.heaptap ] &&
        [ "$(offers heaptap report '' | sort | tr '\n' ' ')" = "man old.heaptap " ] &&
        [ "$(offers heaptap bins --to)" = --top ] &&
        [ "$(offers heaptap report overv)" = overview ] &&
        offers heaptap run seq | grep -qx seq &&
        [ "$(offers heaptap export -f col)" = collapsed ] &&
        [ "$(offers heaptap export --format = '' | tr '\n' ' ')" = "$formats " ] &&
        [ "$(offers heaptap run --language '' | tr '\n' ' ')" = "lua ecl gc python node " ] &&
        [ "$(offers heaptap run --hook '' | sort | tr '\n' ' ')" = "$hooks " ] &&
        [ "$(offers heaptap run --hook = mi)" = mimalloc ] &&
        [ "$(offers heaptap run --hook my_malloc = strd)" = strdup ] &&
        [ "$(offers heaptap run --hook my_malloc = | tr '\n' ' ')" = "$kinds " ] &&
        [ "$(offers heaptap run --hook = my_malloc = strd)" = strdup ] &&
        [ "$(offers heaptap run --hook = my_malloc = | tr '\n' ' ')" = "$kinds " ] &&
        [ "$(offers heaptap run --hook my_malloc = malloc --qui)" = --quiet ] &&
        [ "$(offers heaptap run --hook my_malloc = malloc ./program man)" = man ] &&
        [ "$(offers heaptap leaks --fail-over '')" = leaks ] &&
        [ "$(offers heaptap run --fail-on '' | tr '\n' ' ')" = "$limits " ] &&
        [ "$(offers heaptap diff --fail-over '' | tr '\n' ' ')" = "$limits " ] &&
        [ "$(offers heaptap diff --fail-over = le)" = leaks ] &&
        [ -z "$(offers heaptap run ./program --)" ] &&
        [ "$(offers heaptap run ./program old.h)" = old.heaptap ] &&
        [ "$(offers heaptap run -o to --quiet ./program man)" = man ] &&
        [ "$(offers heaptap run --output = to --all-processes -- ./program man)" = man ] &&
        [ "$(offers heaptap cc -O2 man)" = man ] &&
        [ "$(offers heaptap run -o to --qui)" = --quiet ] &&
        [ "$(offers heaptap run --output = to --qui)" = --quiet ] &&
        offers heaptap run -o to seq | grep -qx seq && offers heaptap run -- seq | grep -qx seq
}
check "bash completion" bash_completion

# Print each value that the help of command $1 names for an option, as "option value". The option
# with =VALUE has further text.
values_named() {
    "$HEAPTAP" "$1" --help | tr '\n' ' ' | sed -E 's/ +/ /g; s/ --/\n--/g' |
        sed -nE 's/^--([a-z-]+).* One of: ([^.]*)\..*/\1 \2/p' | while read -r option values; do
            for value in ${values//,/}; do
                echo "$option $value"
            done
        done
}
values_are_accepted() {
    local command option value named=0
    for command in $commands; do
        while read -r option value; do
            named=$((named + 1))
            value=${value%%=*}${value:+$([[ $value = *=* ]] && echo =x)}
            "$HEAPTAP" "$command" "--$option=$value" no/such/file >out 2>err
            ! grep -q 'is not one of' err || { echo "$command --$option=$value"; return 1; }
        done < <(values_named "$command")
    done
    [ "$named" -ge 40 ] || { echo "only $named values found"; return 1; }
}
check "all values that the help names are accepted" values_are_accepted
# The text before the list uses the words of the list.
check "report --by: no word but the values" sh -c \
    '! "$1" report --help | grep -A4 -- "--by WHAT" | grep -q "heap, labels"' - "$HEAPTAP"

zsh_completion() {
    "$HEAPTAP" generate completion zsh >_heaptap && zsh -n _heaptap &&
        grep -qF ":FORMAT:($formats)'" _heaptap &&
        grep -E "'--language=.*:NAME:\(lua ecl gc python node\)'" _heaptap &&
        grep -E "'--hook=.*:SYMBOL=KIND:\{ if compset -P .* compadd $kinds; else compadd jemalloc" \
            _heaptap &&
        grep -cF ":LIMITS:($limits)'" _heaptap | grep -x 2
}
if command -v zsh >/dev/null; then
    check "zsh completion" zsh_completion
else
    echo "ok - zsh completion # SKIP no zsh"
fi
