/* path.h: names of files. */
#ifndef UTIL_PATH_H
#define UTIL_PATH_H

/* What follows the last slash of PATH. */
const char *path_basename(const char *path);

#endif
