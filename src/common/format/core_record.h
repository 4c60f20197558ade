/* core_record.h: the recorder's data in the memory of the process, for tools that read that memory
 * from a core dump or from the living process. docs/internals/core.md is the specification; change
 * both or neither.
 *
 * One record per recording process, page-aligned, in private memory that a core dump includes. It
 * identifies the profile of the process, and leads to the ledger, which has the live blocks and the
 * site of each. Little-endian, like the profile; addresses are of the process.
 *
 *     core_record ─► chunks of core_leaf ─► leaves: 4 (or 8) bytes for each granule of address
 *                 └► side tables               space, then a byte for each */
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
    CORE_THREADS = 1024, // Rows of threads whose latest blocks are listed.
    CORE_RECENT = 256,   // Number of latest blocks of each thread.
};

/* An entry of the ledger. For blocks of malloc it has 32 bits:
 *
 *     31        24 23  22 21                     0
 *     |  slack    | sub |         site           |       0 = no block has started here */
enum core_entry {
    CORE_SITE_BITS = 22,
    CORE_SUB_SHIFT = CORE_SITE_BITS, // Start of the block in its granule, in steps of 8.
    CORE_SLACK_SHIFT = 24,           // Usable size minus requested size, or:
    CORE_SLACK_SIDE = 254,           // all but the low bits of the site is in a side table;
    CORE_SLACK_ENDED = 255,          // the block has ended, and none has started here since.
    CORE_SPAN_BITS = 24,             // A leaf covers 2^24 bytes of address space.
    CORE_HOOKED_SHIFT = 4,           // Hooked allocators have granules of 16 bytes
    CORE_HOOKED_SIZE_SHIFT = 32,     // and entries of 64 bits: size above, site below.
    // Word `how` of a side table: CORE_HOW_BITS for the kind of block, then the birth. Kind 0: an
    // ordinary block. CORE_HOW_BACKING: a heap of the program makes its blocks from this one. Else
    // a sample: the lowest bit means that its weight was rounded up, the others are its recording
    // mode's index plus 1. Bit CORE_HOW_ODD_SHIFT: the allocator must not be asked for the size of
    // the block.
    CORE_HOW_BITS = 32 - CORE_SITE_BITS,
    CORE_HOW_ODD_SHIFT = CORE_HOW_BITS + 8,
    CORE_HOW_BACKING = 1,
    CORE_HOW_MODE_SHIFT = 1,
    CORE_BACKING_SIZE_BITS = 40, // The bits above the size of such a block are flags.
};

#define CORE_SITE_MASK ((1u << CORE_SITE_BITS) - 1)
#define CORE_HOOKED_SIDE UINT32_C(0xffffffff)  // The size of a hooked block is in a side table.
#define CORE_HOOKED_ENDED UINT32_C(0xfffffffe) // The hooked block has ended.

/* Set in the key of a hooked block; higher than all bits of addresses. */
#define CORE_HOOKED_KEY (UINT64_C(1) << 62)

/* Source of the requested size. */
enum core_usable {
    CORE_USABLE_NONE = 0,  // A side table, for every block.
    CORE_USABLE_CALL = 1,  // malloc_usable_size, minus the slack.
    CORE_USABLE_GLIBC = 2, // The word in front without its three low bits, minus the slack.
};

/* Return the key of the block at ADDRESS with SITE among the latest blocks of its thread. */
static inline uint64_t
core_recent_key(uint64_t address, uint32_t site)
{
    uint64_t sub = address >> 3 & 3;

    return (uint64_t)((site & CORE_SITE_MASK) | sub << CORE_SUB_SHIFT) << (64 - CORE_SLACK_SHIFT) ^
           address;
}

enum core_flags {
    CORE_SELF_CONTAINED = 1 << 0, // The profile's tables are in memory that a core dump includes.
};

enum core_leaf_kind { CORE_LEAF_MALLOC = 0, CORE_LEAF_HOOKED = 1 };

struct core_leaf {
    uint64_t span; // Start of the span, plus enum core_leaf_kind.
    uint64_t leaf; // Address of the leaf; written last. 0 = not there yet.
};

/* A slot of a side table. The table begins with two words, the first of them the number of slots
 * minus one; the slots follow. */
struct core_side_slot {
    uint64_t key;   // The block's address; 0 and 1 = unused.
    uint64_t value; // The size in the low 42 bits, the low bits of the site above.
    uint64_t how;   // Kind or sampling of the block, then its birth and whether it is odd.
};

/* A table of the profile in memory. The profile's directory lists the parts that are filled. */
struct core_table {
    uint32_t kind; // enum disk_kind; 0 = unused.
    uint32_t reserved;
    uint64_t address;
    uint64_t max_bytes; // Address space.
};

/* docs/internals/annotated.md specifies the annotations in front of blocks. A leaf has a byte for
 * each granule of a span: whether an annotated block begins there, and where. */
enum core_annotated {
    CORE_ANNOTATED_GRANULE = 64,
    CORE_ANNOTATED_SUB = 7,          // Start of the block in its granule, in steps of 8.
    CORE_ANNOTATED_LIVE = 1 << 3,    // The block is live. Else it has ended.
    CORE_ANNOTATED_LOOKED = 1 << 4,  // A thread is checking it at this moment.
    CORE_ANNOTATED_PADDED = 1 << 5,  // Padding precedes its annotation.
    CORE_ANNOTATED_REPORTED = 1 << 6, // It was found damaged.
    CORE_ANNOTATED_ENDED = 1 << 7,   // It has ended, and no other block began there.
};

struct core_annotated_leaf {
    uint64_t span;    // Start of the 2^24 bytes of address space.
    uint64_t next;    // Address of the next leaf; 0 = this is the last.
    uint64_t seen_ns; // Time of the last check of the blocks, by CLOCK_MONOTONIC; 0 = never.
    uint64_t reserved;
    // The bytes follow.
};

struct core_record {
    uint64_t magic; // Written last.
    uint32_t version;
    uint32_t record_bytes; // sizeof(struct core_record) of the writer.
    uint64_t address;      // Address of this record. A record found elsewhere is a copy.
    uint32_t pid;
    uint32_t flags; // enum core_flags
    // From the profile's header: with the pid they identify the profile.
    uint64_t process_start, start_unix_ns, start_monotonic_ns, session_id;
    uint32_t usable; // enum core_usable
    uint32_t granule_shift;
    uint64_t leaf_count;               // Atomic. May exceed the capacity of the lists.
    uint64_t leaf_chunks[CORE_CHUNKS]; // Addresses of CORE_CHUNK_LEAVES core_leaf each; 0 = none.
    uint64_t sides[CORE_SIDES];        // Addresses; 0 = none.
    uint64_t header;                   // Its address, if the profile is self-contained.
    struct core_table tables[CORE_TABLES];
    uint64_t last_ns; // Atomic. Elapsed at the last reading of the clock; 0 = not known.
    uint64_t threads; // Address of CORE_THREADS addresses, by row of the profile; 0 = none.
    // Offsets from such an address: CORE_RECENT keys of 64 bits, by birth; and a byte, the next
    // birth.
    uint32_t recent_off, alloc_seq_off;
    // For annotated blocks: address of a word with the address of the first core_annotated_leaf,
    // and the sizes of an annotation and a guard. 0 = blocks are not annotated.
    uint64_t annotated;
    uint32_t annotation_bytes, guard_bytes;
    uint64_t reserved[59];
    char path[CORE_PATH_BYTES]; // Absolute path of the profile; ends with NUL.
};

#define CORE_ORIGIN_MAGIC UINT64_C(0x4b524f4650414548) // "HEAPFORK"

/* Names the process that recorded last. It is a variable of the recorder, which a forked child
 * inherits. In a child without a record it names the parent, whose profile has the child's
 * modules. */
struct core_origin {
    uint64_t magic;   // Written last.
    uint64_t address; // Address of this struct.
    uint32_t pid;
    uint32_t usable; // This field and all others as in struct core_record.
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
