/* ensure.c: the end of a program that has found a mistake of ours.
 *
 * It ends by exit, not by abort: a user gets a sentence and the exit code that the manual names,
 * not a core file; fuzzers take an exit for a finding and keep the input. Where a sanitizer is in
 * the program its stack trace is printed too, because there somebody is looking for the cause.
 *
 * What is kept of a broken condition is one static line. The tools have one thread; validity
 * functions in other programs are called while nothing else runs.
 */
#include "util/ensure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_BUG = 4 };

static char broken[256];

/* The sanitizers', if there is one. */
void __sanitizer_print_stack_trace(void) __attribute__((weak));

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

bool
ensure_broken(const char *condition, const char *file, int line)
{
    snprintf(broken, sizeof broken, "%s (%s:%d)", condition, base_name(file), line);
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
            base_name(file), line, expected, why != NULL ? ", broken is " : "",
            why != NULL ? why : "");
    if (__sanitizer_print_stack_trace != NULL)
        __sanitizer_print_stack_trace();
    exit(EXIT_BUG);
}
