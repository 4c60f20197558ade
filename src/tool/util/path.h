/* path.h: file names. */
#ifndef UTIL_PATH_H
#define UTIL_PATH_H

/* Return the part of PATH after the last slash. */
const char *path_basename(const char *path);

#endif
