/* history_signal.c: what a program sees of a signal that the recorder takes for snapshots.
 *
 *     history_signal default     SIGUSR2 is at its default, as far as it can tell; it gets three
 *     history_signal own         it has a handler of its own for a while, and then gets one
 *     history_signal reset       it asks for the default, and dies of the signal
 *     history_signal child       a forked child gets one before its first event and one after it
 *     history_signal before      a forked child gets one before its first event, and has none
 *
 * Says what it has seen; before each answer there is an event, so that the recorder looks.
 */
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
