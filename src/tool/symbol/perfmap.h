/* perfmap.h: names of code that a runtime compiled while it ran, from /tmp/perf-PID.map, which
 * runtimes write for perf. It has one line "START SIZE name" per function, with hexadecimal
 * numbers. */
#ifndef SYMBOL_PERFMAP_H
#define SYMBOL_PERFMAP_H

#include "profile/profile.h"
#include "symbol/ranges.h"

struct perfmap {
    struct arena arena;
    struct ranges ranges; // Ranges to indices of names.
    const char **names;
    size_t name_count, name_capacity;
};

/* Read the map of PROCESS, whose files are below SYSROOT (or NULL), into the empty M. M stays empty
 * without a trusted map: a regular file owned by our user, written since the process started, of at
 * most 256 MiB. */
void perfmap_load(struct perfmap *m, const struct profile_process *process,
                  const char *sysroot);

/* Return the bytes of the file at PATH, which the caller frees, if the file can be trusted to be
 * PROCESS's; otherwise NULL. */
char *perfmap_read(const char *path, const struct profile_process *process,
                   size_t *ret_size_bytes);

/* Add the function NAME of LENGTH bytes at [START, START + SIZE_BYTES). Impossible ranges are
 * ignored. Call ranges_sort after the last one. */
void perfmap_add(struct perfmap *m, uint64_t start, uint64_t size_bytes, const char *name,
                 size_t length);

/* Read TEXT into the empty M. Malformed lines are skipped. */
void perfmap_parse(struct perfmap *m, const char *text, size_t size_bytes);

/* Return the name of the function at ADDRESS, or NULL; if code was replaced, the latest. Lives as
 * long as M. */
const char *perfmap_name(const struct perfmap *m, uint64_t address);

/* Free all memory of M; M is empty ({0}) afterwards. */
void perfmap_release(struct perfmap *m);

/* --- jitdump.c: names of code that a runtime compiled while it ran, from jit-PID.dump, which some
 * runtimes write for perf. */

/* Add the functions of PROCESS's jitdump file to M; they override earlier ones. The file is
 * searched in the process's working directory, its /tmp and our current directory. With SYSROOT,
 * only /tmp below SYSROOT is searched. The file is trusted on the same conditions as a perf map. */
void jitdump_load(struct perfmap *m, const struct profile_process *process, const char *sysroot);

/* Add the records in the SIZE bytes at DATA, up to the first invalid one. Return false if DATA is
 * not a jitdump file of x86-64 and of process PID. */
bool jitdump_parse(struct perfmap *m, const uint8_t *data, size_t size, uint32_t pid);

#endif
