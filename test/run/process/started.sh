#!/usr/bin/env bash
# started.sh: programs started in unusual ways: by the dynamic linker as a command, and scripts
# without a #! line. If it fails, the leaks of such a program are hidden, its functions have no
# names, or a script that every shell runs is refused.
. "$SRCDIR/test/run/lib.subr"
need gcc jq

cat >leaks.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void *leak(void) { return malloc(500); }
int main(void) { return leak() == NULL; }
END
gcc -g -O0 -o leaks leaks.c
linker=$(ldd ./leaks | grep -o '/[^ ]*/ld-linux-x86-64.so.2' | head -1)
[ -x "$linker" ] || skip_all "needs the dynamic linker"

# by_linker NAME STATUS ARGUMENTS...: check the exit status of the gate on the linker's ARGUMENTS.
by_linker() {
    local name=$1 wanted=$2
    shift 2
    "$HEAPTAP" run --quiet --force --fail-on leaks -o gate.heaptap "$@" >out 2>&1
    same "$name: exit status" "$wanted" $?
}
by_linker "by the linker" 99 -- "$linker" ./leaks
same "by the linker: the executable" leaks \
    "$("$HEAPTAP" report --json gate.heaptap | jq -r .process.executable | xargs basename)"
same "by the linker: the stack" 1 "$("$HEAPTAP" leaks gate.heaptap | grep -c '^ *leak .*leaks.c:2')"
by_linker "with options" 99 -- "$linker" --library-path /nowhere --argv0 x ./leaks
by_linker "--only: the program" 99 --only leaks -- "$linker" ./leaks
mkdir named
"$HEAPTAP" run --quiet -o named -- "$linker" ./leaks
same "a name from the program" 1 "$(find named -name 'heaptap.leaks.*.heaptap' | wc -l)"

printf '%s\n' './leaks' 'echo "$0 $1 $2"' 'exit 5' >script
chmod +x script
"$HEAPTAP" run --quiet --force -o script.heaptap -- ./script "a b" c >out 2>err
same "a script without #!: exit status" 5 $?
same "a script without #!: its arguments" "./script a b c" "$(cat out)"
same "a script without #!: a program of it is recorded" 500 \
    "$("$HEAPTAP" report --json --only leaks script.processes 2>err | jq .totals.live_bytes)"

finish
