/* memory.h: the memory of a process, dead or alive, behind one reader.
 *
 * A core dump or /proc says which ranges of addresses there are, which files lie in them, which
 * threads there are and what they were at. What a dump does not hold (left out by the kernel's
 * filter, cut off with the end of the file) is not known: a read of it gives nothing, never zeros.
 */
#ifndef IMAGE_MEMORY_H
#define IMAGE_MEMORY_H

#include "util/arena.h"
#include "util/err.h"

enum memory_access { MEMORY_READ = 4, MEMORY_WRITE = 2, MEMORY_EXECUTE = 1 };

/* A range of addresses. */
struct memory_region {
    uint64_t start, end;
    uint64_t held_bytes; // So much from its start on can be read; 0 = nothing.
    uint64_t file_off;   // Of a dump: where that is in it.
    uint32_t access;     // enum memory_access
};

/* A file, or a part of it, that the process has mapped. */
struct memory_mapping {
    uint64_t start, end;
    uint64_t file_off;
    const char *path;
};

enum { MEMORY_REGISTERS = 40 };

struct memory_thread {
    uint32_t tid;
    const char *name; // NULL = not known: a dump has none.
    uint64_t registers[MEMORY_REGISTERS];
    uint32_t register_count;  // 0 = a kind of processor that we do not know.
    uint64_t pc, sp, pointer; // The last is the thread pointer; 0 = not known.
    uint32_t pending;         // Of one that we have stopped: the signal that it is yet to get.
    // Left asleep in its system call instead of stopped: its line of /proc/PID/task/TID/syscall and
    // the number of its context switches. NULL = it is stopped, or the kernel holds it.
    const char *asleep_in;
    uint64_t switches;
};

/* What ended the process. */
struct memory_signal {
    uint32_t number; // 0 = none: the dump was taken of a process that went on.
    int32_t code;
    bool has_address;
    uint64_t address;
};

struct memory {
    struct arena arena;
    const char *name; // For messages: the dump's path, or "process 4711".
    uint32_t word_bytes; // 4 or 8.
    bool big_endian;
    uint32_t machine; // ELF e_machine.
    uint32_t pid;     // 0 = not known.
    const char *program; // As far as it is known, else "".
    struct memory_region *regions; // By address; they do not overlap.
    size_t region_count;
    struct memory_mapping *mappings; // By address.
    size_t mapping_count;
    struct memory_thread *threads; // The one that died first, if one did.
    size_t thread_count;
    struct memory_signal signal;
    uint64_t first_stack; // An address in the stack that the kernel made; 0 = not known.
    uint64_t missing_bytes; // That the dump should have, but ends before.
    bool lives;
    // A dump's bytes.
    const unsigned char *bytes;
    size_t size_bytes;
    // Of a live process: the part of it that was read last.
    struct memory_window *window;
};

/* The thread that the process began with; NULL if it is not among those of M. */
const struct memory_thread *memory_first_thread(const struct memory *m);

/* Give back what M has; it may be {0}. */
void memory_close(struct memory *m);

/* M is of a living process: give it what reading that needs. For those who fill M. */
void memory_watch(struct memory *m);

/* Sort regions and mappings, drop what overlaps. For those who fill M. */
void memory_settle(struct memory *m);

/* Copy the SIZE_BYTES at ADDRESS to BUFFER, as far as they are there without a gap; returns how
 * many are. */
size_t memory_read(const struct memory *m, uint64_t address, void *buffer, size_t size_bytes);

/* The word of SIZE_BYTES (2, 4 or 8) at ADDRESS in the byte order of M; false if it is not there.
 * */
bool memory_word(const struct memory *m, uint64_t address, uint32_t size_bytes, uint64_t *ret);

/* The first address from ADDRESS on that can be read; UINT64_MAX if there is none. */
uint64_t memory_next(const struct memory *m, uint64_t address);

/* The region of ADDRESS, or NULL. */
const struct memory_region *memory_region_at(const struct memory *m, uint64_t address);

/* Whether R belongs to a file, or follows what does: the variables of a program or library. */
bool memory_is_variables(const struct memory *m, const struct memory_region *r);

/* The mapping of ADDRESS, or NULL. */
const struct memory_mapping *memory_mapping_at(const struct memory *m, uint64_t address);

#endif
