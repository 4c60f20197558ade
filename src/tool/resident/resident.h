/* resident.h: the resident memory of a recorded process, divided by use. */
#ifndef RESIDENT_RESIDENT_H
#define RESIDENT_RESIDENT_H

#include "image/examined.h"
#include "resident/trim.h"

/* Uses of resident memory. Every resident byte has one. */
enum resident_part {
    RESIDENT_LIVE,       // Live blocks, as many bytes as were requested.
    RESIDENT_BACKING,    // Live blocks in which heaps of the program make their objects.
    RESIDENT_ROUNDING,   // The rest of chunks with live blocks; annotations and guards too.
    RESIDENT_HEADERS,    // glibc's words between blocks, and its records of arenas.
    RESIDENT_CACHED,     // Freed, in the cache of a thread.
    RESIDENT_FASTBINS,   // Freed, in fastbins, where neighbours are not merged.
    RESIDENT_FREE,       // Freed, in the bins of an arena.
    RESIDENT_TOP,        // Free ends of arenas.
    RESIDENT_UNRECORDED, // In use in glibc's heaps, but not in the ledger.
    RESIDENT_ALLOCATOR,  // Around live blocks of other allocators: free, or their own records.
    RESIDENT_STACKS,
    RESIDENT_CODE,       // Code and variables of the program and its libraries.
    RESIDENT_FILES,      // Other mapped files.
    RESIDENT_SHARED,     // Memory shared with other processes.
    RESIDENT_MAPPED,     // Mapped by the program without malloc.
    RESIDENT_RECORDER,   // heaptap's, with its profile.
    RESIDENT_UNKNOWN,    // A damaged heap of glibc.
    RESIDENT_PARTS
};

/* Memory that the program mapped without malloc. */
struct resident_mapping {
    uint64_t start, end, resident_bytes;
    const char *name; // "" = none.
};

/* A range of an arena of glibc. */
struct resident_heap {
    uint64_t start, end;
    bool is_main;
    uint64_t resident_bytes, free_bytes, trim_bytes;
};

/* A heap of the program, with the bytes of its objects and of the blocks that back it. */
struct resident_backing {
    const char *name;
    int64_t object_bytes, backing_bytes;
};

struct resident {
    uint64_t rss_bytes; // Sum of the parts.
    uint64_t proportional_bytes, swapped_bytes, huge_bytes;
    uint64_t parts[RESIDENT_PARTS];
    uint64_t *block_bytes; // By block: its resident bytes.
    // Memory of the process's control group, and its limit (UINT64_MAX = none); 0 = unknown.
    uint64_t group_bytes, group_max_bytes;
    bool has_glibc;  // glibc's heaps were walked.
    uint64_t trim_bytes; // malloc_trim(0) would return them.
    struct resident_heap *heaps; // Most free bytes first.
    size_t heap_count;
    struct resident_mapping *mappings; // Largest first.
    size_t mapping_count;
    struct resident_backing *backings; // From the profile; resident_find leaves them empty.
    size_t backing_count;
    struct trim_pin pins[TRIM_PINS_MAX]; // Most returned bytes first.
    size_t pin_count;
};

/* Divide the resident memory of E, a stopped process whose blocks and profile were read, and store
 * the result in *RET. Memory is from ARENA. If the kernel refuses, rss_bytes is 0. */
void resident_find(const struct examined *e, struct arena *arena, struct resident *ret);

#endif
