/* core_record.h: the recorder's data in the memory of the process, for tools that read this memory
 * from a core dump or from the running process. docs/internals/core.md is the specification; change
 * both or neither.
 *
 * Each recording process has one record, page-aligned, in private memory that a core dump includes.
 * The record identifies the profile of the process and points to the ledger, which has the live
 * blocks and the site of each. It is little-endian, like the profile. Its addresses are addresses
 * in the process.
 *
 *     core_record ─► chunks of core_leaf ─► leaves: 4 or 8 bytes for each granule of address
 *                 └► side tables               space, in some forms then a byte for each */
#ifndef FORMAT_CORE_RECORD_H
#define FORMAT_CORE_RECORD_H

#include "base/base.h"

#define CORE_MAGIC UINT64_C(0x45524f4350414548) // "HEAPCORE"

enum {
    CORE_VERSION = 2, // Version 1 has other entries and keys of latest blocks.
    CORE_RECORD_ALIGNMENT = 4096,
    CORE_CHUNKS = 256,
    CORE_CHUNK_LEAVES = 1024,
    CORE_SIDES = 12,
    CORE_TABLES = 24,
    CORE_PATH_BYTES = 4096,
    CORE_THREADS = 1024, // Number of thread rows whose latest blocks the record lists.
    CORE_RECENT = 256,   // Number of latest blocks of each thread.
};

/* An entry of the ledger, for blocks of malloc. Granules of 32 bytes have packed entries, and
 * granules of 16 bytes have plain ones:
 *
 *     31    26 25   19  18  17                0
 *     | kind  | birth | sub |      site       |    0 = no block ever started here
 *     |  slack  |  0  |          site         |
 *     31      24 23 22 21                     0
 *
 * In both forms the upper six bits are a value of CORE_KIND_*, or part of a slack (usable size
 * minus requested size). A packed entry contains the slack minus CORE_PACKED_SLACK_MIN. The births
 * of plain entries follow the entries, a byte each. */
enum core_entry {
    CORE_SITE_BITS = 22,
    CORE_SPAN_BITS = 24,     // A leaf covers 2^24 bytes of address space.
    CORE_PACKED_SHIFT = 5,   // Log2 of a granule's bytes if entries are packed.
    CORE_KIND_SHIFT = 26,
    CORE_KIND_WIDE = 61,     // A leaf of the wide ledger has site and size; packed form only.
    CORE_KIND_SIDE = 62,     // A side table has site, size and birth.
    CORE_KIND_ENDED = 63,    // The block has ended, and no block has started here since.
    CORE_PACKED_SITE_BITS = 18, // If the site is 0, the wide ledger has it.
    CORE_PACKED_SUB_SHIFT = 18, // Offset of the block in its granule, in units of 16 bytes.
    CORE_PACKED_BIRTH_SHIFT = 19,
    CORE_PACKED_SLACK_MIN = 8,
    CORE_PLAIN_SLACK_SHIFT = 24,
    CORE_BIRTHS = 128,       // Births of packed entries are modulo this number.
    // Version 1 has one form for both granules, like the plain form: bits 22 and 23 are the offset
    // in units of 8 bytes, and the slack has these two special values.
    CORE_V1_SUB_SHIFT = 22,
    CORE_V1_SLACK_SIDE = 254,
    CORE_V1_SLACK_ENDED = 255,
    CORE_HOOKED_SHIFT = 4,           // Log2 of the granule in bytes of hooked allocators.
    CORE_HOOKED_SIZE_SHIFT = 32,     // Entries of hooked blocks and of the wide ledger have 64
                                     // bits: site in the low 32, size above.
    // Word `how` of a side table: the kind of block in the low CORE_HOW_BITS, then the birth. Kind
    // 0 is an ordinary block. CORE_HOW_BACKING is a block that a heap of the program divides into
    // its blocks. Any other kind is a sample: its lowest bit is set if the weight was rounded up,
    // the other bits are the index of its recording mode plus 1. If bit CORE_HOW_ODD_SHIFT is set,
    // do not ask the allocator for the size of the block.
    CORE_HOW_BITS = 32 - CORE_SITE_BITS,
    CORE_HOW_ODD_SHIFT = CORE_HOW_BITS + 8,
    CORE_HOW_BACKING = 1,
    CORE_HOW_MODE_SHIFT = 1,
    CORE_BACKING_SIZE_BITS = 40, // Number of size bits of a backing block; the bits above are
                                 // flags.
};

#define CORE_SITE_MASK ((1u << CORE_SITE_BITS) - 1)
#define CORE_HOOKED_SIDE UINT32_C(0xffffffff)  // A side table has the size of the hooked block.
#define CORE_HOOKED_ENDED UINT32_C(0xfffffffe) // The hooked block was freed.

/* Flag in a side table's key: the block is hooked. The bit is above all bits of an address. */
#define CORE_HOOKED_KEY (UINT64_C(1) << 62)

/* How a reader finds the requested size of a block. */
enum core_usable {
    CORE_USABLE_NONE = 0,  // A side table has the size of every block.
    CORE_USABLE_CALL = 1,  // The size is malloc_usable_size minus the slack.
    CORE_USABLE_GLIBC = 2, // The size is the word before the block, without its three low bits,
                           // minus the slack.
};

/* Return the key for the block at ADDRESS with SITE in the thread's list of latest blocks, in a
 * record of VERSION. */
static inline uint64_t
core_recent_key(uint32_t version, uint64_t address, uint32_t site)
{
    uint64_t sub = address >> 3 & 3;

    if (version == 1)
        return ((site & CORE_SITE_MASK) | sub << CORE_V1_SUB_SHIFT) << 40 ^ address;
    return (uint64_t)site << (64 - CORE_PACKED_SITE_BITS) ^ address;
}

/* Return the index of the block with BIRTH in that list. */
static inline uint8_t
core_recent_place(uint32_t version, uint8_t birth)
{
    if (version == 1)
        return birth;
    return (uint8_t)(birth << 1 | birth >> 7);
}

enum core_flags {
    CORE_SELF_CONTAINED = 1 << 0, // A core dump includes the profile's tables.
};

enum core_leaf_kind { CORE_LEAF_MALLOC = 0, CORE_LEAF_HOOKED = 1, CORE_LEAF_WIDE = 2 };

struct core_leaf {
    uint64_t span; // Start of the span, plus enum core_leaf_kind.
    uint64_t leaf; // Address of the leaf, written last; 0 = unused.
};

/* A slot of a side table. The slots follow a header of two words; the first word is the number of
 * slots minus one. */
struct core_side_slot {
    uint64_t key;   // The block's address; 0 and 1 = unused.
    uint64_t value; // The size in the low 42 bits, the low bits of the site above them.
    uint64_t how;   // Kind, birth and flag; see CORE_HOW_BITS.
};

/* A table of the profile in memory. The profile's directory lists the parts in use. */
struct core_table {
    uint32_t kind; // enum disk_kind; 0 = unused.
    uint32_t reserved;
    uint64_t address;
    uint64_t max_bytes; // Reserved address space in bytes.
};

/* docs/internals/annotated.md specifies the annotations before blocks. A leaf has a byte for each
 * granule of a span: it records if an annotated block begins there, and at which offset. */
enum core_annotated {
    CORE_ANNOTATED_GRANULE = 64,
    CORE_ANNOTATED_SUB = 7,          // Offset of the block in its granule, in units of 8 bytes.
    CORE_ANNOTATED_LIVE = 1 << 3,    // The block is live; otherwise it was freed.
    CORE_ANNOTATED_LOOKED = 1 << 4,  // A thread is checking the block at this moment.
    CORE_ANNOTATED_PADDED = 1 << 5,  // Padding precedes its annotation.
    CORE_ANNOTATED_REPORTED = 1 << 6, // The block was reported as corrupted.
    CORE_ANNOTATED_ENDED = 1 << 7,   // The block was freed, and no block has begun there since.
};

struct core_annotated_leaf {
    uint64_t span;    // Start of the span, which has 2^24 bytes.
    uint64_t next;    // Address of the next leaf; 0 = this is the last.
    uint64_t seen_ns; // Time of the last check of the blocks (CLOCK_MONOTONIC); 0 = never.
    uint64_t reserved;
    // One byte per granule follows.
};

/* Memory of the recorder that dumps exclude, wholly or in part. */
struct core_piece {
    uint64_t address; // 0 = unused.
    uint64_t bytes;
    uint64_t below_bytes; // Bytes below `address` without access.
};

enum { CORE_PIECES = 8192, CORE_SINGLES = 16, CORE_SINGLE_STATE = 0 };

struct core_record {
    uint64_t magic; // Written last.
    uint32_t version;
    uint32_t record_bytes; // sizeof(struct core_record) of the writer.
    uint64_t address;      // Address of this record. A record found elsewhere is a copy.
    uint32_t pid;
    uint32_t flags; // enum core_flags
    // Copies of fields of the profile's header. Together with the pid they identify the profile.
    uint64_t process_start, start_unix_ns, start_monotonic_ns, session_id;
    uint32_t usable; // enum core_usable
    uint32_t granule_shift;
    uint64_t leaf_count;               // Number of leaves. Atomic. May exceed the capacity of the
                                       // lists.
    uint64_t leaf_chunks[CORE_CHUNKS]; // Addresses of arrays of CORE_CHUNK_LEAVES core_leaf; 0 =
                                       // none.
    uint64_t sides[CORE_SIDES];        // Addresses of the side tables; 0 = none.
    uint64_t header;                   // Address of the profile's header if the profile is
                                       // self-contained, else 0.
    struct core_table tables[CORE_TABLES];
    uint64_t last_ns; // Atomic. Elapsed time at the last reading of the clock; 0 = not known.
    uint64_t threads; // Address of an array of CORE_THREADS addresses, indexed by thread row; 0 =
                      // none.
    // Offsets from each of these addresses: of an array of CORE_RECENT keys of 64 bits, indexed by
    // core_recent_place, and of a byte with the next birth.
    uint32_t recent_off, alloc_seq_off;
    // For annotated blocks: address of a word that holds the address of the first
    // core_annotated_leaf, and the sizes of an annotation and of a guard. 0 = blocks are not
    // annotated.
    uint64_t annotated;
    uint32_t annotation_bytes, guard_bytes;
    // Addresses of arrays of CORE_PIECES and CORE_SINGLES core_piece; 0 = unknown.
    uint64_t pieces, singles;
    uint64_t reserved[57];
    char path[CORE_PATH_BYTES]; // Absolute path of the profile, NUL-terminated.
};

#define CORE_ORIGIN_MAGIC UINT64_C(0x4b524f4650414548) // "HEAPFORK"

/* Identifies the process that recorded last. The struct is a variable of the recorder, so a forked
 * child inherits it. In a child without a record it identifies the parent, whose profile lists the
 * child's modules. */
struct core_origin {
    uint64_t magic;   // Written last.
    uint64_t address; // Address of this struct.
    uint32_t pid;
    uint32_t usable; // As in struct core_record, like all fields below.
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
