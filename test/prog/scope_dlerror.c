/* cflags: -fno-builtin */
/* libs: -ldl -lpthread */
/* scope_dlerror.c: check that the text of dlerror() survives events. In C.
 *
 *     scope_dlerror start|events|fork|signal|thread */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "scope.h"

static void
fails(void)
{
    if (dlopen("/dev/null/libscope.so", RTLD_NOW) != NULL)
        abort();
}

static void
tells(const char *who)
{
    const char *message = dlerror();

    say("%s: %s\n", who, message != NULL ? message : "nothing");
    message = dlerror();
    say("%s: %s\n", who, message != NULL ? message : "nothing more");
}

static void
does_events(void)
{
    void *p = NULL;

    free(kept(malloc(10)));
    free(kept(calloc(1, 10)));
    free(kept(realloc(kept(malloc(5)), 10)));
    free(kept(aligned_alloc(64, 64)));
    if (posix_memalign(&p, 64, 64) == 0)
        free(kept(p));
    free(kept(valloc(10)));
}

static void
in_child(void)
{
    int status = 1;
    pid_t child;

    free(kept(malloc(10)));
    fails();
    child = fork();
    if (child == 0) {
        does_events();
        tells("child");
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        say("the child ended with %d\n", status);
    does_events();
    tells("parent");
}

static void
by_signals(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};

    fails();
    signal(SIGUSR1, SIG_IGN);
    sigaction(SIGUSR2, &action, NULL);
    tells("signal");
}

static void *
thread(void *unused)
{
    fails();
    does_events();
    tells("thread");
    return unused;
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t t;

    if (strcmp(what, "start") == 0) {
        fails(); // The process's first event is inside this function.
        tells("start");
    } else if (strcmp(what, "events") == 0) {
        fails();
        does_events();
        tells("events");
    } else if (strcmp(what, "fork") == 0) {
        in_child();
    } else if (strcmp(what, "signal") == 0) {
        by_signals();
    } else if (pthread_create(&t, NULL, thread, NULL) == 0) {
        pthread_join(t, NULL);
    }
    return 0;
}
