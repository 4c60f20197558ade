/* text_read.c: read any file that the user named: a regular file, a pipe from the shell's <(…),
 * standard input, /dev/null. The file's type does not show whether the file ends. Therefore limits
 * on the length of a line and of the whole file reject endless input such as /dev/zero. */
#include "util/path.h"

#include <errno.h>
#include <string.h>

#define LINE_KIB_MAX 64
#define TEXT_MIB_MAX 64

#define STRING(x) #x
#define TEXT_OF(x) STRING(x)

const char *
text_read(FILE *f, struct strbuf *ret)
{
    char chunk[4096];
    size_t n, line_at = 0;

    errno = 0;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        const char *end = memrchr(chunk, '\n', n);

        strbuf_add(ret, chunk, n);
        if (end != NULL)
            line_at = ret->length - (size_t)(chunk + n - end) + 1;
        if (ret->length - line_at > LINE_KIB_MAX * KIB)
            return "a line has more than " TEXT_OF(LINE_KIB_MAX) " KiB";
        if (ret->length > TEXT_MIB_MAX * MIB)
            return "it has more than " TEXT_OF(TEXT_MIB_MAX) " MiB";
    }
    return ferror(f) ? strerror(errno) : NULL;
}
