#!/usr/bin/env bash
# source_session.sh: `heaptap source` on a session. If it fails, a reader cannot see which process
# the lines belong to, or a hint is repeated for each process.
. "$SRCDIR/test/run/lib.subr"
need cc

cat >forks.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void *volatile kept;
#line 5 "/nonexistent/gone.h"
__attribute__((noinline)) static void work(int n) { kept = malloc(1000 * n); }
#line 7 "forks.c"
int main(void)
{
    kept = malloc(10);
    for (int i = 1; i < 4; i++)
        if (fork() == 0) {
            work(i);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}
END
cc -g -O0 -o forks forks.c
record forks.heaptap ./forks
"$HEAPTAP" source work forks.processes >out 2>err
same "exit status" 0 $?
same "a title for each process that has the function" 3 "$(grep -c '^\./forks (pid [0-9]*)$' out)"
same "their amounts" "2.9K 2.0K 1000" "$(sed -n 's/^ *\([0-9.]*K*\) .* 5\**$/\1/p' out | xargs)"
same "one hint for a missing source" 1 "$(grep -c 'gone.h: the source is missing' err)"
"$HEAPTAP" source main forks.processes >out 2>err
same "main is not __libc_start_main" "" "$(grep libc out)"
finish
