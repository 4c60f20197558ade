/* core_record.h: what a recorder leaves in its own memory for those who read that memory later, out
 * of a core dump or of the living process. docs/internals/core.md is the specification; change both
 * or neither.
 *
 * One record per recording process, page-aligned, in private memory that a core holds. It says
 * which profile belongs to the process and where the ledger is: which blocks live, and the site of
 * each. Little-endian, like the profile; addresses are of the process.
 *
 *     core_record ─► chunks of core_leaf ─► leaves: 4 (or 8) bytes for each granule of address
 *                 └► side tables               space, then a byte for each
 */
#ifndef FORMAT_CORE_RECORD_H
#define FORMAT_CORE_RECORD_H

#include "base/base.h"

#define CORE_MAGIC UINT64_C(0x45524f4350414548) // "HEAPCORE"

enum {
    CORE_VERSION = 1,
    CORE_RECORD_ALIGNMENT = 4096,
    CORE_CHUNKS = 256,
    CORE_CHUNK_LEAVES = 1024,
    CORE_SIDES = 12,
    CORE_TABLES = 24,
    CORE_PATH_BYTES = 4096,
    CORE_THREADS = 1024, // Rows of threads whose latest blocks are told.
    CORE_RECENT = 256,   // So many of each.
};

/* What an entry of the ledger says. Of malloc's blocks it has 32 bits:
 *
 *     31        24 23  22 21                     0
 *     |  slack    | sub |         site           |       0 = no block has started here
 */
enum core_entry {
    CORE_SITE_BITS = 22,
    CORE_SUB_SHIFT = CORE_SITE_BITS, // Where in the granule it starts, in steps of 8.
    CORE_SLACK_SHIFT = 24,           // The room it was given minus the size requested, or:
    CORE_SLACK_SIDE = 254,           // all but the site's low bits is in a side table;
    CORE_SLACK_ENDED = 255,          // the block has ended, and none has started here since.
    CORE_SPAN_BITS = 24,             // A leaf is of 2^24 bytes of address space.
    CORE_HOOKED_SHIFT = 4,           // The granules of hooked allocators: 16 bytes,
    CORE_HOOKED_SIZE_SHIFT = 32,     // with entries of 64 bits: the size above, the site below.
    // In a side table: the bits of `how` above a site; those above them are the birth. All of them
    // 0: a block as it is. CORE_HOW_BACKING: one of which the program makes a heap of its own. Else
    // a sample: the lowest bit says that its weight was rounded up, the others are its way plus 1.
    // From CORE_HOW_ODD_SHIFT on: 1, no allocator must be asked how large the block is.
    CORE_HOW_BITS = 32 - CORE_SITE_BITS,
    CORE_HOW_ODD_SHIFT = CORE_HOW_BITS + 8,
    CORE_HOW_BACKING = 1,
    CORE_HOW_WAY_SHIFT = 1,
    CORE_BACKING_SIZE_BITS = 40, // Above the size of such a block are flags.
};

#define CORE_SITE_MASK ((1u << CORE_SITE_BITS) - 1)
#define CORE_HOOKED_SIDE UINT32_C(0xffffffff)  // A hooked block's size is in a side table;
#define CORE_HOOKED_ENDED UINT32_C(0xfffffffe) // it has ended.

/* Above all addresses: set in a key that is of a hooked block. */
#define CORE_HOOKED_KEY (UINT64_C(1) << 62)

/* How the requested size is found again. */
enum core_usable {
    CORE_USABLE_NONE = 0,  // It is in a side table, always.
    CORE_USABLE_CALL = 1,  // What malloc_usable_size says, minus the slack.
    CORE_USABLE_GLIBC = 2, // The word in front of the block without its three low bits, minus it.
};

/* The key of the block at ADDRESS of SITE among the latest of its thread. */
static inline uint64_t
core_recent_key(uint64_t address, uint32_t site)
{
    uint64_t sub = address >> 3 & 3;

    return (uint64_t)((site & CORE_SITE_MASK) | sub << CORE_SUB_SHIFT) << (64 - CORE_SLACK_SHIFT) ^
           address;
}

enum core_flags {
    CORE_SELF_CONTAINED = 1 << 0, // The profile's tables are in memory that a core holds.
};

enum core_leaf_kind { CORE_LEAF_MALLOC = 0, CORE_LEAF_HOOKED = 1 };

struct core_leaf {
    uint64_t span; // Where the span begins, plus enum core_leaf_kind.
    uint64_t leaf; // Its address; written last. 0 = not there yet.
};

/* A slot of a side table, which is two words, the first of them the number of slots minus one, and
 * then the slots. */
struct core_side_slot {
    uint64_t key;   // The block's address; 0 and 1 = nothing.
    uint64_t value; // The size in the low 42 bits, above them the site's low bits.
    uint64_t how;   // The bits above a sample's site, above them the birth, and whether it is odd.
};

/* A table of the profile in memory. Which parts of it are there the profile's directory says. */
struct core_table {
    uint32_t kind; // enum disk_kind; 0 = unused.
    uint32_t reserved;
    uint64_t address;
    uint64_t max_bytes; // Of address space.
};

/* What a process writes in front of blocks that it annotates is that of internals/annotated.md. A
 * leaf has a byte for each granule of a span, whether such a block is there and where. */
enum core_annotated {
    CORE_ANNOTATED_GRANULE = 64,
    CORE_ANNOTATED_SUB = 7,          // Where in the granule it begins, in steps of 8.
    CORE_ANNOTATED_LIVE = 1 << 3,    // It lives. Else it has ended.
    CORE_ANNOTATED_LOOKED = 1 << 4,  // Somebody looks at it just now.
    CORE_ANNOTATED_PADDED = 1 << 5,  // There is padding before its annotation.
    CORE_ANNOTATED_REPORTED = 1 << 6, // It was found damaged.
};

struct core_annotated_leaf {
    uint64_t span;    // Where its 2^24 bytes of address space begin.
    uint64_t next;    // Address of the next leaf; 0 = this is the last.
    uint64_t seen_ns; // When its blocks were last looked at, by CLOCK_MONOTONIC; 0 = never.
    uint64_t reserved;
    // The bytes follow.
};

struct core_record {
    uint64_t magic; // Written last.
    uint32_t version;
    uint32_t record_bytes; // sizeof(struct core_record) of the writer.
    uint64_t address;      // Of this record: what is found elsewhere is a copy.
    uint32_t pid;
    uint32_t flags; // enum core_flags
    // Of the profile's header: these and the pid tell which profile belongs to it.
    uint64_t process_start, start_unix_ns, start_monotonic_ns, session_id;
    uint32_t usable; // enum core_usable
    uint32_t granule_shift;
    uint64_t leaf_count;               // Atomic. May run past what there is room for.
    uint64_t leaf_chunks[CORE_CHUNKS]; // Addresses of CORE_CHUNK_LEAVES core_leaf each; 0 = none.
    uint64_t sides[CORE_SIDES];        // Addresses; 0 = none.
    uint64_t header;                   // Of the profile, if it is self-contained.
    struct core_table tables[CORE_TABLES];
    uint64_t last_ns; // Atomic: elapsed when the clock was last looked at; 0 = not known.
    uint64_t threads; // Address of CORE_THREADS addresses, by row of the profile; 0 = none.
    // In what is at such an address: CORE_RECENT keys of 64 bits, by birth, and the number of the
    // next birth, a byte.
    uint32_t recent_off, births_off;
    // Blocks carry annotations: address of a word with that of the first core_annotated_leaf, the
    // length of an annotation, of a guard. 0 = they do not.
    uint64_t annotated;
    uint32_t annotation_bytes, guard_bytes;
    uint64_t reserved[59];
    char path[CORE_PATH_BYTES]; // Of the profile, absolute; ends with NUL.
};

#define CORE_ORIGIN_MAGIC UINT64_C(0x4b524f4650414548) // "HEAPFORK"

/* Among the recorder's variables, which a forked child inherits: which process recorded last. In a
 * child without a record of its own that is the parent, whose profile names the child's modules. */
struct core_origin {
    uint64_t magic;   // Written last.
    uint64_t address; // Of this struct.
    uint32_t pid;
    uint32_t usable; // As in struct core_record, and so is all else.
    uint64_t process_start, start_unix_ns, start_monotonic_ns, session_id;
    uint64_t annotated;
    uint32_t annotation_bytes, guard_bytes;
    char path[CORE_PATH_BYTES];
};

static_assert(offsetof(struct core_record, leaf_chunks) == 80, "internals/core.md");
static_assert(offsetof(struct core_record, tables) == 2232, "internals/core.md");
static_assert(sizeof(struct core_record) == 7416, "internals/core.md");
static_assert(sizeof(struct core_origin) == 4168, "internals/core.md");

#endif
