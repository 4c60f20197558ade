/* history_signal.c: print a program's observations of the signal that requests snapshots.
 *
 *     history_signal default     SIGUSR2 seems to have its default action; the program gets three
 *     history_signal own         the program installs a handler, removes it, and then gets one
 *     history_signal reset       the program sets the default action, and the signal kills it
 *     history_signal child       a forked child gets one before its first event and one after it
 *     history_signal before      a forked child gets one before its first event, and has no event
 *
 * Prints its observations. It allocates before each observation, so that the recorder polls. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int caught;
static void *volatile block;

static void
handler(int number)
{
    caught = number;
}

static const char *
name_of(void (*f)(int))
{
    return f == SIG_DFL ? "default" : f == SIG_IGN ? "ignored" : f == handler ? "own" : "strange";
}

static void
say_present(void)
{
    struct sigaction now;

    sigaction(SIGUSR2, NULL, &now);
    printf("%s flags %x\n", name_of(now.sa_handler), (unsigned)now.sa_flags);
}

static void
event(void)
{
    block = malloc(10);
    free(block);
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int status = 0;

    event();
    say_present();
    if (strcmp(what, "default") == 0) {
        for (int i = 0; i < 3; i++) {
            raise(SIGUSR2);
            event();
        }
        say_present();
    } else if (strcmp(what, "own") == 0) {
        printf("before: %s\n", name_of(signal(SIGUSR2, handler)));
        say_present();
        raise(SIGUSR2);
        printf("caught %d\n", caught == SIGUSR2);
    } else if (strcmp(what, "reset") == 0) {
        printf("before: %s\n", name_of(signal(SIGUSR2, SIG_DFL)));
        fflush(stdout);
        raise(SIGUSR2);
    } else if (strcmp(what, "child") == 0 || strcmp(what, "before") == 0) {
        fflush(stdout);
        if (fork() == 0) {
            raise(SIGUSR2);
            if (strcmp(what, "before") == 0)
                _exit(0);
            event();
            raise(SIGUSR2);
            event();
            _exit(0);
        }
        wait(&status);
        printf("child %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }
    return 0;
}
