/* path.c: names of files, as text; nothing here looks at a file. */
#include "util/path.h"

#include <string.h>

const char *
path_basename(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
