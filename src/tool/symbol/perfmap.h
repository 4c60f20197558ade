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

/* Return the bytes of the file at PATH, which the caller frees, if it can be trusted as PROCESS's;
 * else NULL. */
char *perfmap_read(const char *path, const struct profile_process *process,
                   size_t *ret_size_bytes);

/* Add the function [START, START + SIZE_BYTES) with the NAME of LENGTH bytes. Ignores impossible
 * ranges. Call ranges_sort after the last. */
void perfmap_add(struct perfmap *m, uint64_t start, uint64_t size_bytes, const char *name,
                 size_t length);

/* Read TEXT into the empty M. Malformed lines are skipped. */
void perfmap_parse(struct perfmap *m, const char *text, size_t size_bytes);

/* Return the function at ADDRESS or NULL; where code was replaced, the later one. Lives as long as
 * M. */
const char *perfmap_name(const struct perfmap *m, uint64_t address);

/* M is empty ({0}) afterwards. */
void perfmap_release(struct perfmap *m);

#endif
