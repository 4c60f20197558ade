/* err.c: fill in struct err. */
#include "util/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
err_set(struct err *e, enum heaptap_errc code, const char *format, ...)
{
    va_list ap;

    if (e == NULL)
        return code;
    va_start(ap, format);
    vsnprintf(e->text, sizeof e->text, format, ap);
    va_end(ap);
    return code;
}

int
err_errno(struct err *e, enum heaptap_errc code, const char *format, ...)
{
    int saved_errno = errno;
    size_t used;
    va_list ap;

    if (e == NULL)
        return code;
    va_start(ap, format);
    vsnprintf(e->text, sizeof e->text, format, ap);
    va_end(ap);
    used = strlen(e->text);
    snprintf(e->text + used, sizeof e->text - used, ": %s", strerror(saved_errno));
    return code;
}
