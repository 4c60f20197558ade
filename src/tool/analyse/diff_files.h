/* diff_files.h: match the source files of two profiles, even if they were built in different
 * directories. */
#ifndef ANALYSE_DIFF_FILES_H
#define ANALYSE_DIFF_FILES_H

#include "profile/profile.h"
#include "util/map.h"

struct diff_files {
    struct strtab paths;
    struct map matches; // Id of a path that only AFTER has, to the id of its match in BEFORE.
};

/* Match the files of the frames of BEFORE and AFTER. diff_files_release frees *RET. */
void diff_files_match(const struct profile *before, const struct profile *after,
                      struct diff_files *ret);
void diff_files_release(struct diff_files *f);

/* Return the common name of the file PATH of AFTER: its match in BEFORE, else PATH. Valid as long
 * as F and PATH. */
const char *diff_files_key(struct diff_files *f, const char *path);

#endif
