/* target.h: a running process that is changed from outside: its memory, mappings and modules. */
#ifndef ATTACH_TARGET_H
#define ATTACH_TARGET_H

#include "util/arena.h"
#include "util/err.h"

enum target_access { TARGET_READ = 4, TARGET_WRITE = 2, TARGET_EXECUTE = 1 };

struct target_map {
    uint64_t start, end;
    uint32_t access; // enum target_access
    const char *path; // "" = none.
};

/* An object in the dynamic linker's list, with the addresses of the tables in it. */
struct target_module {
    uint64_t bias, symbols, names, versions;
    uint64_t gnu_hash, hash; // 0 = no table of that kind.
    const char *path;
};

struct target_symbol {
    uint64_t address, size_bytes;
    uint32_t type; // STT_*
    const struct target_module *module;
};

struct target {
    struct arena arena;
    uint32_t pid;
    uint32_t thread; // Through which the memory is accessed: the first thread may have ended.
    int memory_fd; // /proc/PID/task/THREAD/mem
    bool is_filtered; // The process has a seccomp filter.
    bool has_shadow_stack; // The processor compares its return addresses.
    struct target_map *maps; // By address.
    size_t map_count;
    struct target_module *modules; // In the order of the dynamic linker's search.
    size_t module_count;
};

/* Open process PID, which must run a dynamically linked 64-bit program. Returns 0 and an owned *RET
 * (target_close), or HEAPTAP_BAD_INPUT with ERR set. */
int target_open(uint32_t pid, struct target *ret, struct err *err);
void target_close(struct target *t);

/* Read the mappings again. */
void target_read_maps(struct target *t);

/* Copy SIZE_BYTES at ADDRESS. Reading and writing ignore the protection of private pages. Return
 * false if not all bytes could be copied. */
bool target_read(const struct target *t, uint64_t address, void *buffer, size_t size_bytes);
bool target_write(const struct target *t, uint64_t address, const void *bytes, size_t size_bytes);

/* Read up to SIZE_BYTES. Return the number of bytes. */
size_t target_read_some(const struct target *t, uint64_t address, void *buffer,
                        size_t size_bytes);

/* Return the word at ADDRESS; 0 if it cannot be read. */
uint64_t target_word(const struct target *t, uint64_t address);

const struct target_map *target_map_at(const struct target *t, uint64_t address);

/* Find the first definition of NAME, by the rules of the dynamic linker for a reference without a
 * version. Return false if there is none. */
bool target_find(const struct target *t, const char *name, struct target_symbol *ret);

/* Return the start of free address space of SIZE_BYTES that is less than 2 GiB from each address in
 * [LOW, HIGH); 0 if there is none. */
uint64_t target_gap(const struct target *t, uint64_t low, uint64_t high, uint64_t size_bytes);

/* Return the line of /proc/PID/task/TID/NAME that begins with KEY, behind KEY; NULL if there is
 * none. From the arena of T. */
const char *target_status(struct target *t, uint32_t tid, const char *key);

#endif
