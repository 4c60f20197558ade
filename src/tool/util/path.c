/* path.c: file names as text; no function accesses a file. */
#include "util/path.h"

#include <string.h>

const char *
path_basename(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
