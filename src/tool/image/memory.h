/* memory.h: memory of a process, dead or alive, through one interface.
 *
 * A core dump or /proc lists the ranges of addresses, the mapped files, and the threads with their
 * state. A dump may lack bytes: the kernel's filter leaves some out, and a file may be cut off. A
 * read of missing bytes returns nothing, never zeros. */
#ifndef IMAGE_MEMORY_H
#define IMAGE_MEMORY_H

#include "util/arena.h"
#include "util/err.h"

enum memory_access { MEMORY_READ = 4, MEMORY_WRITE = 2, MEMORY_EXECUTE = 1 };

/* A range of addresses. */
struct memory_region {
    uint64_t start, end;
    uint64_t readable_bytes; // Number of readable bytes from `start` on; 0 = none.
    uint64_t file_off;       // For a dump: offset of these bytes in the file.
    uint32_t access;         // enum memory_access
    // Set if the region is not writable and none of its pages was written: it has no pointers to
    // blocks. False if unknown.
    bool clean;
    bool wiped, not_inherited; // A forked child gets zeros, or nothing.
};

/* A mapped file, or a mapped part of one. */
struct memory_mapping {
    uint64_t start, end;
    uint64_t file_off;
    const char *path;
};

enum { MEMORY_REGISTERS = 40 };

struct memory_thread {
    uint32_t tid;
    const char *name; // NULL = unknown: a dump has no names.
    uint64_t registers[MEMORY_REGISTERS];
    uint32_t register_count;  // 0 = unknown kind of processor, or not stopped.
    // Vector registers as the kernel saved them, in the process's byte order (saved_registers.c).
    const unsigned char *vectors;
    uint32_t vector_bytes;    // 0 = unknown.
    uint64_t pc, sp, pointer; // `pointer` is the thread pointer. 0 = unknown.
    uint32_t pending;         // Signal to deliver when we resume the thread; 0 = none.
    // Set if the thread was left asleep in a system call: its line of /proc/PID/task/TID/syscall,
    // and its number of context switches. NULL = stopped, or held by the kernel.
    const char *asleep_in;
    uint64_t switches;
};

/* The signal that ended the process. */
struct memory_signal {
    uint32_t number; // 0 = none: the process survived the dump.
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
    uint32_t pid;     // 0 = unknown.
    const char *program; // Name or command line; "" = unknown.
    struct memory_region *regions; // By address, without overlaps.
    size_t region_count;
    struct memory_mapping *mappings; // By address.
    size_t mapping_count;
    struct memory_thread *threads; // If a thread died, it comes first.
    size_t thread_count;
    struct memory_signal signal;
    uint64_t first_stack; // Address in the stack that the kernel made; 0 = unknown.
    uint64_t missing_bytes; // Bytes beyond the end of a dump that was cut short.
    bool lives;
    bool stopped;    // A signal has stopped the live process.
    uint32_t thread;   // Thread through which a live process is read.
    uint32_t snapshot; // Process with a copy of the memory, which is read instead; 0 = none.
    // Bytes of a dump's file.
    const unsigned char *bytes;
    size_t size_bytes;
    // Bytes cached by the last reads, for a live process; else NULL.
    struct memory_window *window;
};

/* Return the thread that the process began with; NULL if M does not list it. */
const struct memory_thread *memory_first_thread(const struct memory *m);

/* Release all resources of M. M may be {0}. */
void memory_close(struct memory *m);

/* Prepare M for reads from a live process, and invalidate its window. For code that fills M. */
void memory_watch(struct memory *m);

/* Sort regions and mappings, and drop overlapping ones. For code that fills M. */
void memory_sort(struct memory *m);

/* Copy the SIZE_BYTES at ADDRESS to BUFFER, up to the first gap. Return the number of bytes
 * copied. */
size_t memory_read(const struct memory *m, uint64_t address, void *buffer, size_t size_bytes);

/* Return the integer of SIZE_BYTES (up to 8) at BYTES, in the byte order of M. */
static inline uint64_t
memory_number(const struct memory *m, const unsigned char *bytes, uint32_t size_bytes)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < size_bytes; i++)
        value |= (uint64_t)bytes[m->big_endian ? size_bytes - 1 - i : i] << (8 * i);
    return value;
}

/* Read the word of SIZE_BYTES (2, 4 or 8) at ADDRESS in the byte order of M into *RET. Return false
 * if it cannot be read. */
bool memory_word(const struct memory *m, uint64_t address, uint32_t size_bytes, uint64_t *ret);

/* Return the first readable address from ADDRESS on; UINT64_MAX if there is none. */
uint64_t memory_next(const struct memory *m, uint64_t address);

/* Return the region that contains ADDRESS, or NULL. */
const struct memory_region *memory_region_at(const struct memory *m, uint64_t address);

/* Return true if R begins in a mapped file or directly behind one. Such a region may have the
 * variables of a program or library. */
bool memory_is_variables(const struct memory *m, const struct memory_region *r);

/* Return the mapping that contains ADDRESS, or NULL. */
const struct memory_mapping *memory_mapping_at(const struct memory *m, uint64_t address);

#endif
