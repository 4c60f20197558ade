/* region.h: the memory that a recorder gets in another process, and its record of all changes. */
#ifndef ATTACH_REGION_H
#define ATTACH_REGION_H

#include "attach/patch.h"
#include "format/attach_request.h"

enum {
    REGION_VERSION = 3,
    REGION_BRANCHES_MAX = 512,
    REGION_PATH_BYTES = 4096,
    REGION_ANNEXES_MAX = 16,
    REGION_PATCHES_MAX = ATTACH_FUNCTION_COUNT + ATTACH_HOOKS_MAX,
};

/* Other memory that the recorder has in the process, [low, high): see annex.c. */
struct region_annex {
    uint64_t low, high;
};

#define REGION_MAGIC UINT64_C(0x4741525044545048)

/* The beginning of the region. */
struct region {
    uint64_t magic;
    uint32_t version;
    uint32_t is_active; // The jumps may have been written.
    uint32_t pid; // The attached process; a forked child has a copy of the region.
    uint32_t reserved;
    uint64_t size_bytes, code, library, stack_top;
    uint64_t end_function; // heaptap_attach_end
    uint64_t tls_bytes;
    uint64_t patch_count, branch_count;
    uint64_t annex_count;
    struct region_annex annexes[REGION_ANNEXES_MAX];
    uint64_t has_finder; // The last patch replaces the search for objects.
    char name[16]; // For /proc/PID/maps.
    char profile[REGION_PATH_BYTES];
    struct patch patches[REGION_PATCHES_MAX];
    struct branch branches[REGION_BRANCHES_MAX];
};

/* Find the region of an attached recorder. Return its address; 0 if there is none. */
uint64_t region_find(const struct target *t, struct region *ret);

/* Append to ERR, which has a message, that the region stays in process PID, and the remedy. */
void region_report_rest(uint32_t pid, struct err *err);

#endif
