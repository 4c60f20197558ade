/* perfmap.h: names of code that a runtime compiled while it ran, as runtimes leave them in
 * /tmp/perf-PID.map: one line "START SIZE name" per function, numbers in hexadecimal.
 */
#ifndef SYMBOL_PERFMAP_H
#define SYMBOL_PERFMAP_H

#include "profile/profile.h"
#include "symbol/ranges.h"

struct perfmap {
    struct arena arena;
    struct ranges ranges; // To indices of names.
    const char **names;
    size_t name_count, name_capacity;
};

/* Read the map of PROCESS, whose files are below SYSROOT (or NULL), into the empty M. M stays empty
 * without a trusted map: a regular file owned by our user, written since the process started, of at
 * most 256 MiB. */
void perfmap_load(struct perfmap *m, const struct profile_process *process,
                  const char *sysroot);

/* The bytes of the file at PATH, to be freed, if it can be believed to be of PROCESS; else NULL. */
char *perfmap_read(const char *path, const struct profile_process *process,
                   size_t *ret_size_bytes);

/* SIZE_BYTES from START on are the function whose NAME has LENGTH bytes. What cannot be is left
 * out. ranges_sort must follow the last. */
void perfmap_add(struct perfmap *m, uint64_t start, uint64_t size_bytes, const char *name,
                 size_t length);

/* Read TEXT into the empty M. Lines that are not as they should be are skipped. */
void perfmap_parse(struct perfmap *m, const char *text, size_t size_bytes);

/* The function at ADDRESS or NULL; where code was replaced, the later one. Lives as long as M. */
const char *perfmap_name(const struct perfmap *m, uint64_t address);

/* M is empty ({0}) afterwards. */
void perfmap_release(struct perfmap *m);

#endif
