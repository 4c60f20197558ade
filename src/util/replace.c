/* replace.c: written beside the target under a name of its own, then renamed over it. */
#include "util/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/strbuf.h"

static bool
write_all(int fd, const char *data, size_t size_bytes)
{
    while (size_bytes > 0) {
        ssize_t n = write(fd, data, size_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        size_bytes -= (size_t)n;
    }
    return true;
}

bool
replace_file(const char *path, const void *data, size_t size_bytes)
{
    struct strbuf temporary = {0};
    bool done = false;
    int saved_errno, fd;

    strbuf_fmt(&temporary, "%s.XXXXXX", path);
    fd = mkostemp(temporary.text, O_CLOEXEC); // Makes it with mode 0600.
    if (fd >= 0) {
        done = write_all(fd, data, size_bytes);
        done = close(fd) == 0 && done && rename(temporary.text, path) == 0;
        saved_errno = errno;
        if (!done)
            unlink(temporary.text);
        errno = saved_errno;
    }
    strbuf_release(&temporary);
    return done;
}
