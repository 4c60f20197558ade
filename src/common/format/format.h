/* format.h: the profile file, byte for byte. docs/format.md is the specification; change both or
 * neither.
 *
 * Little-endian, 64-bit aligned, one mapped file per process image. The recorder writes it in
 * place, so it is complete at every instant: zero means "not yet written", data is written first
 * and then the word that publishes it, and a reader checks every offset before following it.
 *
 *     0       disk_header     one page: identity, options, control, shared totals, losses
 *     4096    disk_segment[]  the directory, DISK_SEGMENT_MAX entries
 *     16384   segments        page-aligned; several per kind, joined by table_off
 */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "base/base.h"

#define DISK_MAGIC UINT64_C(0x0150415450414548) // "HEAPTAP\1"
#define DISK_VERSION 1u

enum {
    DISK_PAGE_BYTES = 4096,
    DISK_DIRECTORY_OFF = 4096,
    DISK_SEGMENT_MAX = 192,
    DISK_DATA_OFF = 16384,
    DISK_BUILD_ID_MAX = 32,
    DISK_THREAD_NAME_BYTES = 16,
};

/* The largest table that a recorder may write and a reader accepts: the counters of many threads,
 * or a reserve for them. */
#define DISK_TABLE_BYTES_MAX ((uint64_t)8 << 30)

/* Feature flags. A reader refuses a file with an incompatible flag that it does not support. */
enum disk_incompatible {
    DISK_INCOMPATIBLE_TAGS = 1 << 0,    // Some nodes are tags (DISK_NODE_TAG), not frames.
    DISK_INCOMPATIBLE_COLUMNS = 1 << 1, // Some segments are DISK_SEGMENT_COLUMNS.
    DISK_INCOMPATIBLE_NAMED = 1 << 2,   // Some nodes are named frames (DISK_NAMED_FRAME).
    DISK_INCOMPATIBLE_KNOWN =
        DISK_INCOMPATIBLE_TAGS | DISK_INCOMPATIBLE_COLUMNS | DISK_INCOMPATIBLE_NAMED,
};

enum disk_compatible {
    DISK_COMPATIBLE_BOUND = 1 << 0, // The writer keeps shared.bound_bytes.
    DISK_COMPATIBLE_LIVES = 1 << 1, // The writer counts lifetimes: disk_counter.ended_16 and _256.
    DISK_COMPATIBLE_CHECK = 1 << 2, // The file has a check; 0 means that it is corrupt.
};

enum disk_state {
    DISK_STATE_NEW = 0,       // The header is not complete.
    DISK_STATE_RECORDING = 1, // The process lives, or ended without running its exit handlers.
    DISK_STATE_ENDED = 2,     // Exit handlers ran. Later events may still follow.
    DISK_STATE_PACKED = 3,    // Written by heaptap pack; no process writes to it any more.
};

enum disk_process_flags {
    DISK_PROCESS_FORKED = 1 << 0,      // Made by fork of a recorded process, without exec.
    DISK_PROCESS_FILE_FAILED = 1 << 1, // The file could not grow; later tables are in memory only.
    DISK_PROCESS_GONE = 1 << 2,        // Packed after the process had ended.
    DISK_PROCESS_IN_MEMORY = 1 << 3,   // The file is a periodic copy of the profile in memory.
    DISK_PROCESS_FOLDED = 1 << 4,      // Some stacks with named frames lack frames of runtimes.
    DISK_PROCESS_DAMAGED = 1 << 5,     // Packed from a damaged file.
    DISK_PROCESS_LASTED = 1 << 6,      // Packed; the process lasted last_ns or longer.
};

struct disk_string {
    uint32_t off;   // Into the STRINGS table.
    uint32_t bytes; // Without a final NUL. 0 = none.
};

/* Shared totals; the recorder's hottest line. */
struct disk_shared {
    uint64_t peak_epoch; // The epoch of the latest maximum of live bytes; starts at 1.
    // The maximum as the recorder saw it. The exact peak is the sum of attributions.
    int64_t peak_bytes;
    int64_t flushed_bytes;   // Live bytes that threads had published by the last tick.
    uint64_t peak_ns;        // Elapsed when a rise of the peak was last seen (coarse).
    uint64_t last_ns;        // Elapsed at the last tick of any thread, or at exit.
    uint64_t epoch;          // Rises with each new maximum and each snapshot; starts at 1.
    uint64_t snapshot_epoch; // The epoch of the latest snapshot; 0 = none yet.
    // With DISK_COMPATIBLE_BOUND: upper bound of the true peak; 0 = the attributed peak is exact.
    int64_t bound_bytes;
};
static_assert(sizeof(struct disk_shared) == 64, "format.md 2.4");

/* Losses that no thread row can hold. */
struct disk_losses {
    uint64_t no_thread_events;
    uint64_t no_memory_events;
    uint64_t reentrant_events;
    uint64_t frames_without_module; // Code addresses whose module had no room; counted for
                                    // each rule.
    uint64_t history_records;       // Dropped values at a snapshot, and dropped snapshots.
    uint64_t label_sets;            // Times that a set of labels became "other" for lack of room.
    uint64_t heap_events;           // Events of the program's own heaps that were not recorded.
    uint64_t unseen_allocators; // C libraries whose malloc could not be recorded.
};
static_assert(sizeof(struct disk_losses) == 64, "format.md 2.5");

enum disk_counting_flags {
    DISK_COUNTING = 1 << 0,        // Accesses to blocks are counted; without it the rest is zero.
    DISK_COUNTING_APART = 1 << 1,  // Reads and writes are counted separately.
    DISK_COUNTING_ATOMIC = 1 << 2, // No count is lost between threads.
    DISK_COUNTING_ENDED = 1 << 3,  // The latest merge was the one at exit.
    DISK_COUNTING_LOOKED = 1 << 4, // `uncounted` lists all code that may use blocks uncounted.
    // ACCESS flags the sites whose blocks that code may have used. Without it: all sites, if any.
    DISK_COUNTING_BY_SITE = 1 << 5,
};

/* How accesses were counted, and which are missing. */
struct disk_counting {
    uint32_t flags;         // enum disk_counting_flags
    uint32_t granule_bytes; // Bytes that share a counter: 8, 16 or 64.
    uint32_t words_max;     // Granules of a block, from its front on, that FIELDS covers.
    uint32_t reserved0;
    uint64_t merge;    // The latest complete merge of live blocks; 0 = none. Written last.
    uint64_t merge_ns; // Elapsed when it began.
    // Losses, in blocks that had ended or were being merged:
    uint64_t unmerged_blocks; // There was no memory for their counts.
    uint64_t undated_blocks;  // The time and cpu of their allocation are not known.
    uint64_t unaligned_blocks; // They may share a granule, and so include a neighbour's accesses.
    uint64_t unfielded_blocks; // FIELDS had no room for their granules.
    uint64_t outside_blocks;   // Their addresses have no counters.
    uint64_t resets;           // Number of requested resets of all counts.
    uint64_t reset_ns;         // Elapsed at the latest reset.
    uint64_t lost_accesses;    // Accesses beyond 2^32 of a granule.
    struct disk_string uncounted; // With DISK_COUNTING_LOOKED: code that may use blocks uncounted.
    uint64_t reserved[3];
};
static_assert(sizeof(struct disk_counting) == 128, "format.md 2.7");

struct disk_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_bytes; // sizeof(struct disk_header) of the writer.
    uint64_t incompatible;
    uint64_t compatible;
    uint32_t state;         // enum disk_state.
    uint32_t process_flags; // enum disk_process_flags.
    uint32_t pid;
    uint32_t parent_pid;
    uint64_t process_start; // Start time in clock ticks since boot, /proc/PID/stat field 22.
    uint64_t session_id;    // Given by heaptap run to all processes of one run; 0 = none.
    uint64_t start_unix_ns;
    uint64_t start_monotonic_ns;
    uint64_t start_cycles; // The cycle counter at start and at the last tick, and
    uint64_t last_cycles;  // the clock beside it, give its frequency.
    uint64_t last_cycles_ns;
    uint32_t page_bytes;
    uint32_t cpu_count;
    uint32_t machine;             // ELF e_machine.
    uint32_t depth_max;           // Frames recorded of a stack.
    uint64_t sample_period_bytes; // Present recording mode; 0 = exact, by count or off.
    uint64_t recorder_bytes;    // Touched by the recorder at its last look, minus the file's size.
    struct disk_string command; // Arguments separated by NUL.
    struct disk_string executable;
    struct disk_string kernel;
    struct disk_string heaptap;
    uint64_t check;             // Packed files: see format.md 5; 0 = not checked.
    uint64_t reserved0[40];
    uint32_t merged_processes; // Processes in a merged profile; 0 = the profile is not merged.
    uint32_t merged_damaged;   // Inputs that could be read only in part,
    uint32_t merged_left_out;  // or could not be read.
    uint32_t reserved2;
    struct disk_shared shared; // At offset 512.
    struct disk_losses losses;
    /* A request. A tool writes it and then increments the generation; the recorder takes the
     * request and then answers. */
    uint64_t control_generation;
    uint64_t control[7];     // enum disk_control; then its arguments.
    uint64_t control_taken;  // The latest generation with an answer; written last.
    uint64_t control_answer; // enum disk_answer.
    uint64_t early_events;   // Losses: events of other threads while one was starting the recorder.
    struct disk_counting counting; // At offset 728.
    uint64_t damaged_blocks;       // Annotated blocks that were found damaged.
    // Elapsed when the process was gone, if no exit handler ran. Written by `heaptap run`, which
    // waited for it. 0 = not known.
    uint64_t ended_ns;
    uint64_t reserved1[403];
};
static_assert(offsetof(struct disk_header, check) == 168, "format.md 2");
static_assert(offsetof(struct disk_header, shared) == 512, "format.md 2");
static_assert(offsetof(struct disk_header, counting) == 728, "format.md 2.7");
static_assert(offsetof(struct disk_header, ended_ns) == 864, "format.md 2");
static_assert(sizeof(struct disk_header) == DISK_PAGE_BYTES, "format.md 2");

/* control[0], and the words after it. */
enum disk_control {
    DISK_CONTROL_PHASE = 1,    // enum disk_mode, then the period.
    DISK_CONTROL_SNAPSHOT = 2, // DISK_SNAPSHOT_NAME_BYTES of a name, then enum disk_snapshot_kind.
    DISK_CONTROL_ACCESS = 3,   // enum disk_access_wish
};

enum disk_access_wish {
    DISK_ACCESS_MERGE = 1, // Merge the live blocks now.
    DISK_ACCESS_RESET = 2, // Reset all counts; live blocks begin anew.
};

enum disk_answer {
    DISK_ANSWER_DONE = 1,
    DISK_ANSWER_REFUSED = 2, // This recorder does not support it.
    DISK_ANSWER_FULL = 3,    // No room for another recording mode or snapshot.
};

enum disk_kind {
    DISK_UNUSED = 0,
    DISK_STRINGS = 1,        // Bytes.
    DISK_MODULES = 2,        // struct disk_module
    DISK_NODES = 3,          // struct disk_node
    DISK_COUNTERS = 4,       // struct disk_block
    DISK_THREADS = 5,        // struct disk_thread
    DISK_BINS = 6,           // struct disk_bins, found through disk_thread.bins
    DISK_TIMELINE = 7,       // struct disk_time_point
    DISK_FRAMES = 8,         // struct disk_frame, packed files only
    DISK_LOCATIONS = 9,      // struct disk_location, packed files only
    DISK_UNKNOWN_FREES = 10, // struct disk_unknown_free
    DISK_PHASES = 11,        // struct disk_phase
    DISK_ERRORS = 12,        // struct disk_error
    DISK_SNAPSHOTS = 13,     // struct disk_snapshot
    DISK_TYPES = 14,         // struct disk_type; packed files only
    DISK_SITE_TYPES = 15,    // struct disk_site_type; packed files only
    DISK_HISTORY = 16,       // struct disk_history
    DISK_HEAPS = 17,         // struct disk_heap
    DISK_LABELS = 18,        // struct disk_label_set
    DISK_PROGRAMS = 19,      // struct disk_program; merged files only
    DISK_NOTES = 20,         // struct disk_note; written by tools only
    DISK_ACCESS = 21,        // struct disk_access; where accesses are counted
    DISK_FIELDS = 22,        // struct disk_access; only with counted accesses
    DISK_NAMED = 23,         // struct disk_fields; only with counted accesses
    DISK_CORRUPTIONS = 24,   // struct disk_corruption
    DISK_KINDS = 25,
};

enum disk_segment_flags {
    DISK_SEGMENT_ZSTD = 1 << 0, // stored_bytes of one zstd frame that expands to `bytes`.
    // Expanded, the segment has the first byte of each record, then the second of each, and so on.
    DISK_SEGMENT_COLUMNS = 1 << 1,
    DISK_SEGMENT_KNOWN = DISK_SEGMENT_ZSTD | DISK_SEGMENT_COLUMNS,
};

struct disk_segment {
    uint32_t kind; // enum disk_kind; written last. Readers skip unknown kinds.
    uint32_t flags;
    uint64_t off;          // In the file, page-aligned while recording.
    uint64_t stored_bytes; // In the file.
    uint64_t bytes;        // After expansion; equals stored_bytes without flags.
    uint64_t
        table_off; // Offset of its first byte in its table; may be in the middle of a record.
    uint32_t record_bytes; // Stride; a later version may append fields. 1 for STRINGS.
    uint32_t reserved;
};
static_assert(sizeof(struct disk_segment) == 48, "format.md 3");
static_assert(DISK_DIRECTORY_OFF + DISK_SEGMENT_MAX * sizeof(struct disk_segment) <= DISK_DATA_OFF,
              "format.md 3");

/* Source of the names of a module's functions in a packed file. */
enum disk_symbols {
    DISK_SYMBOLS_UNKNOWN = 0, // The module's file was not there, or an older writer.
    DISK_SYMBOLS_NONE = 1,
    DISK_SYMBOLS_EXPORTS = 2, // The dynamic symbols only.
    DISK_SYMBOLS_TABLE = 3,
    DISK_SYMBOLS_DEBUG = 4,
};

struct disk_module {
    uint32_t id; // Its index; written last. Record 0 is never used.
    uint32_t build_id_bytes;
    uint64_t start, end;
    uint64_t bias; // Address in memory minus address in the ELF file.
    struct disk_string path;
    uint32_t loaded;   // Generation of the module list when it was first seen.
    uint32_t unloaded; // Generation that first lacked it; 0 = still there.
    uint8_t build_id[DISK_BUILD_ID_MAX];
    uint32_t symbols; // enum disk_symbols; packed files only.
    uint32_t reserved0;
    uint64_t reserved[4];
};
static_assert(sizeof(struct disk_module) == 120, "format.md 4.2");

/* A frame: address in the low 48 bits, module id above. */
#define DISK_ADDRESS_BITS 48
#define DISK_ADDRESS_MASK ((UINT64_C(1) << DISK_ADDRESS_BITS) - 1)

enum { DISK_DEPTH_MAX = 1024 }; // depth_max, unless fewer frames were requested.

enum disk_node_id {
    DISK_NODE_ROOT = 0,
    DISK_NODE_OTHER = 1, // All stacks that found no room.
    DISK_NODE_TRUNCATED =
        2,                // Parent of the outermost known frame of a stack deeper than depth_max,
    DISK_NODE_BROKEN = 3, // and of one whose walk failed.
    DISK_NODE_FIRST = 4,
};

enum disk_node_flags {
    DISK_NODE_GUESSED = 1 << 0, // No unwind information at this frame: its callers are a guess.
    DISK_NODE_EXACT = 1 << 1,   // The address is an interrupted instruction, not a return address.
    DISK_NODE_TAG = 1 << 2,     // No frame: describes the sites of the stack above it.
    DISK_NODE_RUNTIME = 1 << 3, // Code of a runtime, represented by named frames near it.
};

/* The frame of an interpreted function has this in place of a module, and an index into NAMED in
 * place of the address. The frame is inside the C frame that is its parent, or inside another such
 * frame. */
enum { DISK_NAMED_FRAME = 0xFFFC };

/* The frame of a node, child of DISK_NODE_TRUNCATED, that collects stacks whose outer
 * frames found no room. Readers that do not support it show a function without a name. */
#define DISK_SHORTENED ((uint64_t)DISK_NAMED_FRAME << DISK_ADDRESS_BITS)

/* The frame of a tag has one of these in place of a module, and an id in place of the address. The
 * tags of a path are its innermost nodes, in this order, outer ones first. */
enum disk_tag {
    DISK_TAG_LABELS = 0xFFFD,  // Index into LABELS.
    DISK_TAG_HEAP = 0xFFFE,    // Index into HEAPS: blocks of a heap that the program made.
    DISK_TAG_BACKING = 0xFFFF, // Index into HEAPS: blocks that the heap carves its blocks from.
};

enum { DISK_SIZE_CLASSES = 4 };

enum { DISK_SITE_FIRST = 5 }; // Lower ids are the size classes of DISK_NODE_OTHER.

/* A node of the call tree. Site ids are dense over the whole tree; 0 = no site yet. */
struct disk_node {
    uint64_t frame;  // Written last (it publishes the node); 0 = unused.
    uint32_t parent; // Smaller than the node's own id.
    uint32_t flags;
    uint32_t site[DISK_SIZE_CLASSES]; // One site per size class: <= 32, <= 256, <= 2048, above.
};
static_assert(sizeof(struct disk_node) == 32, "format.md 4.3");

static inline uint32_t
disk_size_class(uint64_t size_bytes)
{
    return (uint32_t)(size_bytes > 32) + (uint32_t)(size_bytes > 256) +
           (uint32_t)(size_bytes > 2048);
}

/* Counters of one thread row at one site. Two cache lines; the first holds what every event
 * touches. */
struct disk_counter {
    uint64_t allocations;
    uint64_t allocated_bytes;
    uint64_t frees;
    uint64_t freed_bytes;
    uint64_t peak_epoch; // Epoch of the saved peak_* fields; see format.md 4.4.
    int64_t peak_bytes;
    int64_t peak_blocks;
    uint64_t temporary; // Freed (not moved) by their thread before its next allocation.
    uint64_t reallocations;
    uint64_t moved;
    uint64_t grown_bytes;
    uint64_t size_min; // Valid when allocations > 0.
    uint64_t size_max;
    uint32_t born; // Id of the latest snapshot before its first use; all zero until then.
    uint32_t reserved0;
    // With DISK_COMPATIBLE_LIVES: freed by their thread after 1 to 15 further allocations of that
    // thread, and after 16 to 255.
    uint64_t ended_16;
    uint64_t ended_256;
};
static_assert(sizeof(struct disk_counter) == 128, "format.md 4.4");

enum { DISK_BLOCK_SITES = 16 };

/* The counters of one thread row at DISK_BLOCK_SITES consecutive sites. */
struct disk_block {
    uint32_t thread;     // Row id; written last. 0 = unused.
    uint32_t first_site; // Multiple of DISK_BLOCK_SITES.
    uint64_t reserved[15];
    struct disk_counter counters[DISK_BLOCK_SITES];
};
static_assert(sizeof(struct disk_block) == (size_t)17 * 128, "format.md 4.4");

/* A thread row: used by one thread at a time, and by later threads of the same name. */
struct disk_thread {
    uint32_t id;  // Its index; written last. Record 0 is never used.
    uint32_t tid; // Id of the thread that uses it or used it last.
    uint32_t uses;
    uint32_t bins; // Index of its record in BINS.
    char name[DISK_THREAD_NAME_BYTES];
    uint64_t frames_reused;
    uint64_t frames_unwound;
    uint64_t full_unwinds;
    uint64_t timed_events;
    uint64_t timed_cycles;
    uint64_t failed_calls;
    uint64_t reentrant_events;
    uint64_t no_memory_events;
    uint64_t ledger_events;
    uint64_t unknown_frees;
    uint64_t inherited_frees;
    uint64_t overwritten_blocks;
    uint64_t double_frees; // Part of unknown_frees.
    // Frees, while everything was recorded, of older blocks that may not have been recorded.
    uint64_t unrecorded_frees;
    uint64_t reserved[14];
};
static_assert(sizeof(struct disk_thread) == 256, "format.md 4.5");

enum { DISK_EXACT_BINS = 1025, DISK_RANGE_BINS = 40, DISK_RANGE_FIRST_BIT = 10 };

struct disk_range {
    uint64_t allocations, allocated_bytes, frees, freed_bytes;
};

struct disk_bins {
    struct {
        uint64_t allocations, frees;
    } exact[DISK_EXACT_BINS];                 // Index: requested size 0 to 1024.
    struct disk_range range[DISK_RANGE_BINS]; // i: 2^(10+i) < size <= 2^(11+i), the last one open.
};
static_assert(sizeof(struct disk_bins) ==
                  (size_t)16 * DISK_EXACT_BINS + (size_t)32 * DISK_RANGE_BINS,
              "format.md 4.6");

/* The range bin of SIZE_BYTES > 1024. */
static inline uint32_t
disk_range_bin(uint64_t size_bytes)
{
    uint32_t bit = 63 - (uint32_t)__builtin_clzll(size_bytes - 1);

    return bit - DISK_RANGE_FIRST_BIT < DISK_RANGE_BINS ? bit - DISK_RANGE_FIRST_BIT
                                                        : DISK_RANGE_BINS - 1;
}

struct disk_time_point {
    uint64_t elapsed_ns; // Written last; 0 = unused.
    int64_t live_bytes;
    uint64_t events; // Allocations and frees so far, to within a tick of each thread.
};
static_assert(sizeof(struct disk_time_point) == 24, "format.md 4.7");

/* Why a free found no live block. */
enum disk_free_kind {
    DISK_FREE_FOREIGN = 1,   // Never seen: from another allocator, or from before recording.
    DISK_FREE_TWICE = 2,     // The last event at the address was its free.
    DISK_FREE_INHERITED = 3, // In a forked process: a block of the parent.
};

/* Frees of one kind from one stack. */
struct disk_unknown_free {
    uint32_t kind; // enum disk_free_kind; written last. 0 = unused.
    uint32_t node; // The stack of the free.
    uint32_t site; // DISK_FREE_TWICE: where the block had been allocated.
    uint32_t reserved0;
    uint64_t count;
    uint64_t address; // The latest address.
    uint64_t reserved[2];
};
static_assert(sizeof(struct disk_unknown_free) == 48, "format.md 4.8");

/* Damage to an annotated block (internals/annotated.md), as far as it was seen. */
enum disk_corruption_kind {
    DISK_CORRUPTION_PAST_END = 1,     // The user of the block wrote past its end.
    DISK_CORRUPTION_BEFORE_START = 2, // The user of the block wrote before its beginning.
    DISK_CORRUPTION_OVERWRITTEN = 3,  // Its annotation was overwritten, most likely from the block
                                      // in front of it.
};

enum disk_corruption_found {
    DISK_FOUND_BY_FREE = 1,
    DISK_FOUND_BY_REALLOC = 2,
    DISK_FOUND_BY_CHECK = 3, // A check by some thread's allocation or free.
};

enum { DISK_CORRUPTION_BYTES = 24 };

/* A damaged block. */
struct disk_corruption {
    uint32_t kind;       // enum disk_corruption_kind; written last. 0 = unused.
    uint32_t found;      // enum disk_corruption_found
    uint32_t node;       // Stack of the free or realloc that found it; 0 = none.
    uint32_t site;       // Site of the block's allocation; 0 = not known.
    uint32_t front_site; // The same for the nearest live block in front.
    uint32_t written_bytes; // Length of `written`.
    uint64_t address, size_bytes; // The block; size 0 = not known any more.
    uint64_t front_address, front_size_bytes; // The block in front; 0 = none near.
    uint64_t at;       // The lowest address known to have changed.
    uint64_t found_ns; // Elapsed.
    uint64_t whole_ns; // Elapsed when it was last known to be intact.
    uint8_t written[DISK_CORRUPTION_BYTES]; // The bytes from `at` on when the damage was found.
    uint64_t reserved[3];
};
static_assert(sizeof(struct disk_corruption) == 128, "format.md 4.19");

/* How blocks are selected for recording. */
enum disk_mode {
    DISK_MODE_EXACT = 0, // All.
    DISK_MODE_BYTES = 1, // The block that contains a random point; one point in `period` bytes.
    DISK_MODE_COUNT = 2, // A random call; one in `period`.
    DISK_MODE_OFF = 3,   // None.
};

/* Bounds of a period. Below 1 KiB nearly every call would be a sample, and a sample costs more than
 * an exact record. Above 1 TiB nothing would be seen; this bound also keeps sums of weights far
 * from 2^64. */
#define DISK_SAMPLE_BYTES_MIN ((uint64_t)1 << 10)
#define DISK_SAMPLE_COUNT_MIN ((uint64_t)2)
#define DISK_SAMPLE_PERIOD_MAX ((uint64_t)1 << 40)

/* A stretch of time with one recording mode. */
struct disk_phase {
    uint32_t id; // Its index plus 1; written last. 0 = unused.
    uint32_t mode;
    uint64_t period;   // 0 when exact or off.
    uint64_t since_ns; // Elapsed when it began.
    uint64_t reserved;
};
static_assert(sizeof(struct disk_phase) == 32, "format.md 4.9");

/* The sums over the samples of one site, and the variance of the estimates. */
struct disk_error_sum {
    uint64_t samples;
    uint64_t blocks; // The part of the counters that is an estimate.
    uint64_t bytes;
    double blocks_variance; // Unbiased estimates of the variance of those.
    double bytes_variance;
};

/* Process-wide, all words added to atomically. */
struct disk_error {
    uint64_t site; // Written last; 0 = unused.
    struct disk_error_sum allocated, freed;
    uint64_t peak_epoch;        // As in struct disk_counter:
    struct disk_error_sum peak; // allocated minus freed, saved before the first change of an epoch.
    double blocks_unit_max; // Largest number of blocks, and of bytes, per point of the draw: one
    double bytes_unit_max;  // more sample might have added as much.
    uint64_t reserved;
};
static_assert(sizeof(struct disk_error) == 160, "format.md 4.10");

enum { DISK_SNAPSHOT_NAME_BYTES = 32 };

enum disk_snapshot_kind {
    DISK_SNAPSHOT_ASKED = 0,   // Requested by a tool.
    DISK_SNAPSHOT_TIMED = 1,   // Taken for the timeline; has no name.
    DISK_SNAPSHOT_PROGRAM = 2, // Requested by the program.
    DISK_SNAPSHOT_PHASE = 3,   // The program has begun a phase of that name.
    DISK_SNAPSHOT_GROWTH = 4,  // Live bytes have grown by the requested amount.
    DISK_SNAPSHOT_SIGNAL = 5,  // The requested signal was received.
    DISK_SNAPSHOT_PERIOD = 6,  // Taken by a tool at intervals.
};

/* A moment at which the value of every counter is known. */
struct disk_snapshot {
    uint64_t elapsed_ns;                   // Written last; 0 = unused.
    int64_t live_bytes;                    // As threads last published it.
    uint64_t allocations, allocated_bytes; // Only in files without HISTORY, where id is 0.
    char name[DISK_SNAPSHOT_NAME_BYTES];   // Ended by NUL unless it fills the field.
    uint32_t id;                           // Its index plus 1; rises with time.
    uint32_t kind;                         // enum disk_snapshot_kind
    uint64_t collections;                  // By runtimes' collectors, until then.
};
static_assert(sizeof(struct disk_snapshot) == 80, "format.md 4.11");

/* The values of one counter at a snapshot, and at each earlier one back to its previous record. */
struct disk_history {
    uint32_t snapshot; // Id; written last. 0 = unused.
    uint32_t counter;  // Index of its block in COUNTERS * DISK_BLOCK_SITES + place in the block.
    uint64_t allocations, allocated_bytes, frees, freed_bytes;
};
static_assert(sizeof(struct disk_history) == 40, "format.md 4.12");

enum disk_heap_flags {
    DISK_HEAP_COLLECTED = 1 << 0, // Objects end when a collector finds them dead.
};

/* A name that the program uses for its heaps. */
struct disk_heap {
    uint32_t id;    // Its index; written last. Record 0 is never used.
    uint32_t flags; // enum disk_heap_flags
    struct disk_string name;
    uint64_t created_ns; // Elapsed when the first heap of that name was made.
    uint64_t made;       // Number of such heaps.
    uint64_t destroyed;
    uint64_t resets;
    uint64_t collections;  // Collections of objects in these heaps.
    uint64_t collected_ns; // Elapsed at the end of the latest collection; 0 = none yet.
};
static_assert(sizeof(struct disk_heap) == 64, "format.md 4.13");

/* A set of labels. Set 1 represents all that found no room. */
struct disk_label_set {
    uint32_t id; // Its index; written last. Record 0 is never used.
    uint32_t reserved0;
    struct disk_string text; // key NUL value NUL key NUL value NUL …, by key; each key once.
    uint64_t reserved[2];
};
static_assert(sizeof(struct disk_label_set) == 32, "format.md 4.14");

/* The blocks of a site that a record covers; format.md 4.16 says how the parts add up. */
enum disk_access_part {
    DISK_ACCESS_ENDED = 0,  // Blocks that have ended and are in no other part.
    DISK_ACCESS_LIVE_0 = 1, // Blocks that lived at merge `merge`, an even one,
    DISK_ACCESS_LIVE_1 = 2, // and an odd one.
    DISK_ACCESS_LATE_0 = 3, // Blocks of an even merge that have ended since, with their counts
    DISK_ACCESS_LATE_1 = 4, // at the end; and blocks of an odd merge.
    DISK_ACCESS_PARTS = 5,
};

/* Sum and extremes of a number over blocks. */
struct disk_spread {
    uint64_t total, min, max; // min is all ones until there is a block.
};

enum disk_access_flags {
    DISK_ACCESS_UNPROVEN = 1 << 0, // Some of the blocks may have uncounted accesses.
};

/* How blocks of a site were used. Each block is merged once, when it ends or at a merge. Words are
 * added to atomically if there is more than one thread. */
struct disk_access {
    uint32_t site;   // Written last; 0 = unused.
    uint32_t part;   // enum disk_access_part
    uint64_t merge;  // Parts LIVE: the merge. A record is old unless this is the header's merge.
    uint64_t blocks;
    struct disk_spread accesses; // Reads and writes.
    struct disk_spread writes;   // With DISK_COUNTING_APART.
    struct disk_spread size_bytes;
    struct disk_spread lifetime_us; // Dated blocks only.
    struct disk_spread utilised;    // Granules touched, in 1/100 %.
    struct disk_spread density;          // Accesses * 100 / size.
    struct disk_spread lifetime_density; // Density * 1000 / lifetime in ms, which is at least 1.
    uint64_t granules, touched_granules;
    uint64_t untouched_bytes; // Bytes of granules without an access.
    uint64_t never;           // Blocks without any access.
    uint64_t write_only; // Blocks with writes and no reads; with DISK_COUNTING_APART. Blocks that
                         // a reallocation ended are not in it: their data lives on.
    uint64_t dated;           // Blocks with a known time and cpu of allocation. Numbers of these:
    uint64_t migrated;        // blocks that began and ended on different cpus,
    uint64_t overlaps;        // blocks that overlapped in time with the block merged before,
    uint64_t same_alloc_cpu;  // blocks that began on the same cpu as that block,
    uint64_t same_dealloc_cpu; // or ended there.
    uint64_t alloc_us, dealloc_us; // Elapsed; of the block merged last.
    uint32_t alloc_cpu, dealloc_cpu;
    uint64_t flags; // enum disk_access_flags; with DISK_COUNTING_BY_SITE.
    uint64_t regrown; // Blocks with writes and no reads that a reallocation replaced by a block
                      // of the same stack; with DISK_COUNTING_APART.
    uint64_t reserved[3];
};
static_assert(sizeof(struct disk_access) == 336, "format.md 4.16");

enum { DISK_FIELD_WORDS = 32 };

/* How the granules of blocks of a site were used, by their place in the block. */
struct disk_fields {
    uint32_t site;  // Written last; 0 = unused.
    uint32_t part;  // enum disk_access_part
    uint64_t merge; // As in struct disk_access.
    uint32_t first; // The first granule, from the front of a block: a multiple of DISK_FIELD_WORDS.
    uint32_t reserved0;
    struct disk_field {
        uint64_t accesses; // Reads and writes.
        uint64_t writes;   // With DISK_COUNTING_APART.
        uint64_t blocks;   // Blocks with an access there.
        uint64_t reached;  // Blocks large enough to have at least a part of the granule.
    } fields[DISK_FIELD_WORDS];
};
static_assert(sizeof(struct disk_fields) == 24 + (size_t)32 * DISK_FIELD_WORDS, "format.md 4.17");

/* A frame that has a name and no address: a function of an interpreted language at a line. */
struct disk_named {
    uint32_t id;   // Its index; written last. Record 0 is never used.
    uint32_t line; // 0 = not known.
    struct disk_string function, file;
    struct disk_string language; // "Lua"; empty only in record 1, which represents all others.
    uint64_t reserved;
};
static_assert(sizeof(struct disk_named) == 40, "format.md 4.18");

/* Packed files only: symbols. */
struct disk_location {
    uint64_t frame;       // As in disk_node.
    uint32_t flags;       // DISK_NODE_EXACT
    uint32_t first_frame; // Into FRAMES.
    uint32_t frame_count;
    // For code without a name: bytes from the start of the function to the call (the byte before a
    // return address), plus 1; 0 = not known.
    uint32_t into;
};
static_assert(sizeof(struct disk_location) == 24, "format.md 5");

struct disk_frame {
    struct disk_string function, linkage, file;
    uint32_t line;
    uint32_t inlined;
};
static_assert(sizeof(struct disk_frame) == 32, "format.md 5");

/* A structure, union or class. Sorted by size, the likeliest of a size first. */
struct disk_type {
    uint64_t size;
    struct disk_string name;
};
static_assert(sizeof(struct disk_type) == 16, "format.md 5");

/* The type of the blocks of a site. */
struct disk_site_type {
    uint32_t site;
    uint32_t verdict;        // 1 same size, 2 likely, 3 certain.
    struct disk_string type; // Empty: several types have the size.
};
static_assert(sizeof(struct disk_site_type) == 16, "format.md 5");

enum disk_note_kind {
    DISK_NOTE_UNSEEN = 1, // Memory of the process did not come through malloc.
    DISK_NOTE_HOOK = 2,   // A function expected to be recorded was never called.
    DISK_NOTE_MOMENT = 3, // Made from memory of a process: the blocks that lived at one moment.
    DISK_NOTE_MEMORY = 4, // The blocks were found in a copy of memory; nothing else is known.
};

/* A tool's note on facts about the recording that the recorder could not know. */
struct disk_note {
    uint32_t kind;                // enum disk_note_kind; 0 = unused.
    uint32_t processes;           // Number of processes of a merged file with this note; else 0.
    struct disk_string text;      // A sentence.
    struct disk_string advice;    // What to do: lines; empty = nothing.
    struct disk_string process;   // Merged files: the process with this note.
    uint64_t anonymous_bytes;     // DISK_NOTE_UNSEEN: the largest figure of the kernel,
    uint64_t recorded_bytes;      // and bytes known to the recorder.
    uint64_t reserved[2];
};
static_assert(sizeof(struct disk_note) == 64, "format.md 4.15");

/* Merged files only: a program of the merged processes. */
struct disk_program {
    struct disk_string executable; // Its path; empty if unknown.
    uint64_t processes;
};
static_assert(sizeof(struct disk_program) == 16, "format.md 5.1");

#endif
