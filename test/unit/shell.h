/* shell.h: run commands in tests, to make files. */
#ifndef UNIT_SHELL_H
#define UNIT_SHELL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"

/* Return true if the command ends with status 0. */
static inline bool PRINTF(1, 2)
shell(const char *format, ...)
{
    char command[4096];
    va_list ap;

    va_start(ap, format);
    vsnprintf(command, sizeof command, format, ap);
    va_end(ap);
    return system(command) == 0;
}

/* Return true if the command TOOL exists; otherwise print that a test is skipped. */
static inline bool
have(const char *tool)
{
    if (shell("command -v %s >/dev/null 2>&1", tool))
        return true;
    print_message("SKIPPED: no %s\n", tool);
    return false;
}

#endif
