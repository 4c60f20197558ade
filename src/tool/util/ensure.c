/* ensure.c: end the program on an internal error.
 *
 * The program ends by exit instead of abort: the user gets a sentence and the documented exit code
 * instead of a core file. Fuzzers treat the exit as a finding and keep the input. A build with a
 * sanitizer prints the stack trace as well, for the developer.
 *
 * The broken condition is stored in one static buffer. That suffices, because the tools have one
 * thread, and other programs run validity functions while no other thread runs. */
#include "util/ensure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_BUG = 4 };

static char broken[256];

/* A function of the sanitizer; NULL in a build without one. */
void __sanitizer_print_stack_trace(void) __attribute__((weak));

static const char *
ensure_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

bool
ensure_broken(const char *condition, const char *file, int line)
{
    snprintf(broken, sizeof broken, "%s (%s:%d)", condition, ensure_base_name(file), line);
    return false;
}

const char *
ensure_broken_text(void)
{
    return broken;
}

_Noreturn void
ensure_failed(const char *expected, const char *why, const char *file, int line)
{
    fprintf(stderr,
            "heaptap: this is a mistake of heaptap's own, please report it with the command: "
            "%s:%d: expected %s%s%s; the input is as it was\n",
            ensure_base_name(file), line, expected, why != NULL ? ", broken is " : "",
            why != NULL ? why : "");
    if (__sanitizer_print_stack_trace != NULL)
        __sanitizer_print_stack_trace();
    exit(EXIT_BUG);
}
