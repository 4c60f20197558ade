/* ensure.c: end the program on an internal error.
 *
 * Uses exit, not abort: a user gets a sentence and the documented exit code, not a core file;
 * fuzzers take the exit for a finding and keep the input. With a sanitizer the stack trace is
 * printed as well, because a developer is searching for the cause.
 *
 * The broken condition is one static line. The tools have one thread; in other programs, validity
 * functions run while nothing else does. */
#include "util/ensure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_BUG = 4 };

static char broken[256];

/* The sanitizers', if there is one. */
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
