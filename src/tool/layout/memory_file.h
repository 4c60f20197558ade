/* memory_file.h: open files with copies of memory: raw bytes, and ELF cores for any processor. */
#ifndef LAYOUT_MEMORY_FILE_H
#define LAYOUT_MEMORY_FILE_H

#include <time.h>

#include "layout/annotated_memory.h"

struct memory_file {
    const char *path;
    int fd;
    struct byte_source source;
    bool is_core;
    struct elf_facts facts; // Facts of a core or program.
    uint64_t missing_bytes; // Cores only: bytes that segments claim beyond the file's end.
    struct timespec written;
};

struct memory_parts {
    struct memory_part *v; // From the arena.
    size_t count, capacity;
};

/* Open PATH, a regular file, as *RET, which must stay at its address until memory_file_close.
 * Strings are from ARENA. Returns 0, or HEAPTAP_BAD_INPUT with ERR set and nothing to close. */
int memory_file_open(const char *path, struct arena *arena, struct memory_file *ret,
                     struct err *err);
void memory_file_close(struct memory_file *file);

/* Read the headers of the ELF file FILE. Returns 0 or HEAPTAP_BAD_INPUT with ERR set. */
int memory_file_read_elf(struct memory_file *file, struct arena *arena, struct err *err);

/* Add the memory in FILE to PARTS: the segments of a core, or the whole file at *BASE; NULL =
 * unknown base. Returns 0 or HEAPTAP_BAD_INPUT with ERR set. */
int memory_file_parts(struct memory_file *file, const uint64_t *base, struct arena *arena,
                      struct memory_parts *parts, struct err *err);

/* Replace parts of known bases that are adjacent in memory, or overlap, by one part. It has the
 * names of all files that contribute to it. From ARENA. Returns 0, or HEAPTAP_BAD_INPUT with ERR
 * set if parts have different bytes for one address. */
int memory_parts_join(struct memory_parts *parts, struct arena *arena, struct err *err);

#endif
