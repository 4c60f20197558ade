/* signal_name.c: map "USR1" to 10, for options that name a signal.
 *
 * Signals that cannot be handled are rejected, and so are the signals of faults, ours or the
 * program's: a handler that returned would receive the signal again at once. */
#include "launch/launch.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool
is_usable(int number)
{
    static const int refused[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE,
                                  SIGILL,  SIGTRAP, SIGSYS,  SIGABRT};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i] == number)
            return false;
    return (number > 0 && number < 32) || (number >= SIGRTMIN && number <= SIGRTMAX);
}

/* Return the number TEXT; -1 if TEXT is not a number. */
static int
whole_number(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    return end != text && *end == '\0' && number >= 0 && number <= SIGRTMAX ? (int)number : -1;
}

/* Return the signal called NAME, which may count from the first or the last real-time signal; 0 if
 * there is none. */
static int
named(const char *name)
{
    int off;

    for (int number = 1; number < 32; number++) {
        const char *known = sigabbrev_np(number);

        if (known != NULL && strcasecmp(known, name) == 0)
            return number;
    }
    if (strncasecmp(name, "RTMIN", 5) == 0 && (name[5] == '\0' || name[5] == '+')) {
        off = name[5] == '\0' ? 0 : whole_number(name + 6);
        return off < 0 ? 0 : SIGRTMIN + off;
    }
    if (strncasecmp(name, "RTMAX", 5) == 0 && (name[5] == '\0' || name[5] == '-')) {
        off = name[5] == '\0' ? 0 : whole_number(name + 6);
        return off < 0 ? 0 : SIGRTMAX - off;
    }
    return 0;
}

int
signal_number(const char *text)
{
    int number = whole_number(text);

    if (number < 0)
        number = named(strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text);
    return is_usable(number) ? number : 0;
}
