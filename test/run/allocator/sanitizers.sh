#!/usr/bin/env bash
# sanitizers.sh: programs built with gcc's sanitizers, whose run-time library must provide malloc.
# They cannot be recorded, and must run as without the recorder. If it fails, the recorder calls a
# function that the sanitizer intercepts before the sanitizer is ready, and the program dies before
# main.
#
# If any library is preloaded before gcc's AddressSanitizer, it ends the program with a message,
# unless ASAN_OPTIONS permits the library. clang's sanitizers are not tested: they are part of the
# program, so malloc is never the recorder's.
. "$SRCDIR/test/run/lib.subr"
need gcc

cat >work.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *
work(void *unused)
{
    for (int i = 0; i < 1000; i++)
        free(realloc(malloc(10), 1000));
    return unused;
}
int
main(void)
{
    pthread_t t;
    int status;

    pthread_create(&t, NULL, work, NULL);
    work(NULL);
    pthread_join(t, NULL);
    if (fork() == 0) {
        work(NULL);
        _exit(5);
    }
    wait(&status);
    printf("%d\n", WEXITSTATUS(status));
    return 3;
}
END

export ASAN_OPTIONS=verify_asan_link_order=0

for kind in address thread leak undefined; do
    bare=none
    gcc -fsanitize=$kind -o $kind work.c -lpthread 2>/dev/null && { ./$kind >bare 2>&1; bare=$?; }
    if [ "$bare" != 3 ]; then
        echo "ok - $kind # SKIP gcc's sanitizer does not work here"
        continue
    fi
    record $kind.heaptap ./$kind
    same "$kind: exit status" 3 "$status"
    check "$kind: output" cmp bare $kind.heaptap.out
    if [ $kind = undefined ]; then
        check "$kind: recorded" test -e $kind.heaptap
    else
        grep -v "^heaptap: .*left no profile" $kind.heaptap.err >said
        same "$kind: reported once" "$(cat said)" \
            "heaptap: not recording: a sanitizer has taken malloc's place; run a build without it"
    fi
done
finish
