#!/usr/bin/env bash
# hints.sh: commands in messages, with paths that a shell would change. The script executes each
# printed command as it is. If it fails, a copied command ends with an error, or shows another
# file.
. "$SRCDIR/test/run/lib.subr"
need gcc

cat >work.c <<'END'
#include <stdlib.h>
#include <string.h>
int main(int count, char **arguments)
{
    size_t size = count > 1 ? 1000 : 200000;
    char *p = malloc(size);

    memset(p, 1, size + (count > 1));
    if (count > 1)
        free(p);
    return 0;
}
END
gcc -g -O0 -w -o work work.c
mkdir path
ln -s "$HEAPTAP" path/heaptap
export PATH=$PWD/path:$PATH

# executes NAME MESSAGE BEFORE AFTER: execute the command between the texts BEFORE and AFTER of the
# line in the file MESSAGE that has both.
executes() {
    local command
    command=$(sed -n "s/^.*$3\(heaptap .*\)$4\$/\1/p" "$2")
    if [ -z "$command" ]; then
        check "$1: a command is printed" sh -c 'cat "$1"; false' - "$2"
        return
    fi
    bash -c "$command" >shown 2>shown.err
    same "$1: exit status of $command" 0 $?
    check "$1: a view, or the summary of a run" grep -q '[Pp]eak' shown shown.err
}

# shellcheck disable=SC2016 # Names with special characters.
names=('plain' 'my profile' "it's" 'a$HOME`x`"b' '-x' '@x' '~x' 'a\b' 'x;y&z|w' '*' '#x' 'é ü'
    $'two\nlines' $'tab\there' $'\xff bytes' '12' '!x')
number=0
for name in "${names[@]}"; do
    number=$((number + 1))
    mkdir "in$number"
    cd "in$number" || exit 1
    what=$(printf %q "$name")
    heaptap run --fail-on inuse --output="$name.heaptap" -- ../work 2>err
    same "$what: exit status" 99 $?
    executes "$what: the process beyond a limit" err 'hint: ' ' shows where from'
    heaptap run --force --output="$name.heaptap" -- sh -c '../work; ../work; :' 2>err
    executes "$what: the session" err 'see them as one with: ' ''
    heaptap report ./"$name.heaptap" 2>err >out
    executes "$what: other profiles" err 'hint: its run has left 2 more profiles: ' ''
    heaptap run --force --annotate --output="$name.heaptap" -- \
        sh -c '../work; ../work; ../work damages; :' 2>err
    executes "$what: a damaged block of another process" err 'found damaged in .*; ' ' shows where'
    LC_ALL=C heaptap run --force --fail-on inuse --output="$name.heaptap" -- ../work 2>err
    executes "$what: in the C locale" err 'hint: ' ' shows where from'
    if [ "${name:0:1}" != - ]; then
        heaptap "$name.heaptap" 2>err
        executes "$what: a profile as a command" err 'to look at a profile: ' ''
        cp ../work "$name"
        heaptap "$name" 2>err
        executes "$what: a program as a command" err 'to record a program: ' ''
    fi
    cd ..
done

mkdir -p "a directory/$(printf 'x%.0s' {1..200})/$(printf 'y%.0s' {1..200})"
long=$(printf '%s/' "a directory" "$(printf 'x%.0s' {1..200})" "$(printf 'y%.0s' {1..200})")
for _ in 1 2 3 4 5 6 7 8; do
    long=$long$(printf 'z%.0s' {1..200})/
    mkdir "$long"
done
heaptap run --fail-on inuse -o "${long}it's.heaptap" -- ./work 2>err
executes "a path of 2,000 bytes" err 'hint: ' ' shows where from'

# On a terminal, a hint fits into 80 columns. If the user names one directory for all profiles, the
# summary names one profile, because the directory may have profiles of other runs.
mkdir -p sources/of/this/program all
cp work.c sources/of/this/program/moved.c
gcc -g -O0 -w -o moved sources/of/this/program/moved.c
rm sources/of/this/program/moved.c
heaptap run --quiet -o moved.heaptap -- ./moved
heaptap source main moved.heaptap >out 2>err
same "a long hint: in a pipe, of one line" 1 "$(grep -c . err)"
script -qec "heaptap source main moved.heaptap >out" /dev/null </dev/null |
    sed 's/\r$//; s/.*\r//; s/\x1b\[[0-9;]*[A-Za-z]//g' >shown
check "a long hint: on a terminal, of several lines" test "$(grep -c . shown)" -gt 1
same "a long hint: lines of at most 80 columns" "" "$(grep -E '.{81}' shown)"
heaptap source moved.heaptap >out 2>err
same "source: a profile without a function: exit status" 2 $?
check "source: a profile without a function: stated" grep -q \
    "'moved.heaptap' is a profile; name a function or a source file before it" err
heaptap run -o all -- sh -c './work; ./work; :' 2>err
executes "a directory for all" err 'see the first with: ' ''

finish
