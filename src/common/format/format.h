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

/* The largest table that a recorder may write and a reader believes: the counters of many threads,
 * or a reserve for them. */
#define DISK_TABLE_BYTES_MAX ((uint64_t)8 << 30)

/* Feature flags. A reader refuses a file with an incompatible flag it does not know. */
enum disk_incompatible {
    DISK_INCOMPATIBLE_TAGS = 1 << 0,    // Some nodes are tags (DISK_NODE_TAG), not frames.
    DISK_INCOMPATIBLE_COLUMNS = 1 << 1, // Some segments are DISK_SEGMENT_COLUMNS.
    DISK_INCOMPATIBLE_NAMED = 1 << 2,   // Some nodes are named frames (DISK_NAMED_FRAME).
    DISK_INCOMPATIBLE_KNOWN =
        DISK_INCOMPATIBLE_TAGS | DISK_INCOMPATIBLE_COLUMNS | DISK_INCOMPATIBLE_NAMED,
};

enum disk_compatible {
    DISK_COMPATIBLE_MOST = 1 << 0,  // The writer knows shared.most_bytes.
    DISK_COMPATIBLE_LIVES = 1 << 1, // And how long blocks lived: disk_counter.ended_16.
    DISK_COMPATIBLE_CHECK = 1 << 2, // The file has a check: 0 is damage.
};

enum disk_state {
    DISK_STATE_NEW = 0,       // The header is not complete.
    DISK_STATE_RECORDING = 1, // The process lives, or ended without running its exit handlers.
    DISK_STATE_ENDED = 2,     // Exit handlers ran. Later events may still follow.
    DISK_STATE_PACKED = 3,    // Written by heaptap pack; no process writes here any more.
};

enum disk_process_flags {
    DISK_PROCESS_FORKED = 1 << 0,      // Made by fork of a recorded process, without exec.
    DISK_PROCESS_FILE_FAILED = 1 << 1, // The file could not grow; later tables are in memory only.
    DISK_PROCESS_GONE = 1 << 2,        // Packed after the process had ended.
    DISK_PROCESS_IN_MEMORY = 1 << 3,   // The file is a copy of memory, made now and then.
    DISK_PROCESS_FOLDED = 1 << 4,      // Some stacks with named frames have none of a runtime.
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
    int64_t flushed_bytes;   // Live bytes that threads had told of at the last tick.
    uint64_t peak_ns;        // Elapsed when the peak was last seen to have risen (coarse).
    uint64_t last_ns;        // Elapsed at the last tick of any thread, or at exit.
    uint64_t epoch;          // Rises with each new maximum and each snapshot; starts at 1.
    uint64_t snapshot_epoch; // That of the latest snapshot; 0 = none yet.
    // With DISK_COMPATIBLE_MOST: the true peak was no higher; 0 = what was attributed is exact.
    int64_t most_bytes;
};
static_assert(sizeof(struct disk_shared) == 64, "format.md 2.4");

/* Losses that no thread row can hold. */
struct disk_losses {
    uint64_t no_thread_events;
    uint64_t no_memory_events;
    uint64_t reentrant_events;
    uint64_t frames_without_module; // Places in the program, each counted when it was met anew.
    uint64_t history_records;       // Values at a snapshot, and snapshots, that found no room.
    uint64_t label_sets;            // Times that a set of labels became "other" for want of room.
    uint64_t heap_events;           // Events of the program's own heaps that were not recorded.
    uint64_t unseen_allocators; // C libraries whose own malloc could not be recorded.
};
static_assert(sizeof(struct disk_losses) == 64, "format.md 2.5");

enum disk_counting_flags {
    DISK_COUNTING = 1 << 0,        // Accesses to blocks are counted; without it the rest is zero.
    DISK_COUNTING_APART = 1 << 1,  // Reads and writes are known apart.
    DISK_COUNTING_ATOMIC = 1 << 2, // No count is lost between threads.
    DISK_COUNTING_ENDED = 1 << 3,  // The latest merge was the one at exit.
    DISK_COUNTING_LOOKED = 1 << 4, // `uncounted` names all who may use blocks without counting.
    // ACCESS flags the sites whose blocks they may have used. Without it: all sites, if any.
    DISK_COUNTING_BY_SITE = 1 << 5,
};

/* How accesses were counted, and what of them is not known. */
struct disk_counting {
    uint32_t flags;         // enum disk_counting_flags
    uint32_t granule_bytes; // What has one counter: 8, 16 or 64 bytes.
    uint32_t words_max;     // Granules of a block, from its front on, of which FIELDS knows.
    uint32_t reserved0;
    uint64_t merge;    // The latest merge of live blocks that is complete; 0 = none. Written last.
    uint64_t merge_ns; // Elapsed when it began.
    // Losses, in blocks that had ended or were being merged:
    uint64_t unmerged_blocks; // There was no memory for what was known of them.
    uint64_t undated_blocks;  // When and where they began is not known.
    uint64_t unaligned_blocks; // They may share a granule, and have accesses of a neighbour.
    uint64_t unfielded_blocks; // FIELDS had no room for their granules.
    uint64_t outside_blocks;   // Their addresses have no counters.
    uint64_t resets;           // Times that all was forgotten, as asked for.
    uint64_t reset_ns;         // Elapsed, at the latest.
    uint64_t lost_accesses;    // Of granules with more than 2^32 of them.
    struct disk_string uncounted; // With DISK_COUNTING_LOOKED: who else may have used blocks.
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
    uint32_t depth_max;           // Frames kept of a stack.
    uint64_t sample_period_bytes; // Of the present way of recording; 0 = exact, by count or off.
    uint64_t recorder_bytes;    // Touched by the recorder at its last look, less the file's size.
    struct disk_string command; // Arguments separated by NUL.
    struct disk_string executable;
    struct disk_string kernel;
    struct disk_string heaptap;
    uint64_t check;             // Of a packed file, format.md 5; 0 = not checked.
    uint64_t reserved0[40];
    uint32_t merged_processes; // Processes in a merged profile; 0 = it is that of one process.
    uint32_t merged_damaged;   // Inputs of it that could be read in part only,
    uint32_t merged_left_out;  // or not at all.
    uint32_t reserved2;
    struct disk_shared shared; // At 512.
    struct disk_losses losses;
    /* A request: written by a tool, which then raises the generation; taken by the recorder, which
     * then answers. */
    uint64_t control_generation;
    uint64_t control[7];     // enum disk_control; then what it says.
    uint64_t control_taken;  // The latest generation that was answered; written last.
    uint64_t control_answer; // enum disk_answer.
    uint64_t early_events;   // Losses: of other threads, while one was starting the recorder.
    struct disk_counting counting; // At 728.
    uint64_t damaged_blocks;       // Annotated blocks that were found damaged.
    // Elapsed when the process was gone, if no exit handler ran: written by `heaptap run`, which
    // waited for it. 0 = not known.
    uint64_t ended_ns;
    uint64_t reserved1[403];
};
static_assert(offsetof(struct disk_header, check) == 168, "format.md 2");
static_assert(offsetof(struct disk_header, shared) == 512, "format.md 2");
static_assert(offsetof(struct disk_header, counting) == 728, "format.md 2.7");
static_assert(offsetof(struct disk_header, ended_ns) == 864, "format.md 2");
static_assert(sizeof(struct disk_header) == DISK_PAGE_BYTES, "format.md 2");

/* control[0], and what the words after it are. */
enum disk_control {
    DISK_CONTROL_PHASE = 1,    // enum disk_mode, period.
    DISK_CONTROL_SNAPSHOT = 2, // DISK_SNAPSHOT_NAME_BYTES of a name, then enum disk_snapshot_kind.
    DISK_CONTROL_ACCESS = 3,   // enum disk_access_wish
};

enum disk_access_wish {
    DISK_ACCESS_MERGE = 1, // Merge what is live now.
    DISK_ACCESS_RESET = 2, // Forget all that was counted; blocks that live begin anew.
};

enum disk_answer {
    DISK_ANSWER_DONE = 1,
    DISK_ANSWER_REFUSED = 2, // It makes no sense to this recorder.
    DISK_ANSWER_FULL = 3,    // No room for another way of recording or snapshot.
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
    DISK_FIELDS = 22,        // struct disk_fields; the same
    DISK_NAMED = 23,         // struct disk_named
    DISK_DAMAGES = 24,       // struct disk_damage
    DISK_KINDS = 25,
};

enum disk_segment_flags {
    DISK_SEGMENT_ZSTD = 1 << 0, // stored_bytes of one zstd frame that expands to `bytes`.
    // What it expands to is the first byte of each record, then the second of each, and so on.
    DISK_SEGMENT_COLUMNS = 1 << 1,
    DISK_SEGMENT_KNOWN = DISK_SEGMENT_ZSTD | DISK_SEGMENT_COLUMNS,
};

struct disk_segment {
    uint32_t kind; // enum disk_kind; written last. Readers skip kinds they do not know.
    uint32_t flags;
    uint64_t off;          // In the file, page-aligned while recording.
    uint64_t stored_bytes; // In the file.
    uint64_t bytes;        // After expansion; equals stored_bytes without flags.
    uint64_t
        table_off; // Where its first byte belongs in its table; may be in the middle of a record.
    uint32_t record_bytes; // Stride; a later version may append fields. 1 for STRINGS.
    uint32_t reserved;
};
static_assert(sizeof(struct disk_segment) == 48, "format.md 3");
static_assert(DISK_DIRECTORY_OFF + DISK_SEGMENT_MAX * sizeof(struct disk_segment) <= DISK_DATA_OFF,
              "format.md 3");

/* What the names of a module's functions in a packed file came from. */
enum disk_symbols {
    DISK_SYMBOLS_UNKNOWN = 0, // Its file was not there, or an older writer did not tell.
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
    uint32_t unloaded; // Generation in which it was found gone; 0 = still there.
    uint8_t build_id[DISK_BUILD_ID_MAX];
    uint32_t symbols; // enum disk_symbols; packed files only.
    uint32_t reserved0;
    uint64_t reserved[4];
};
static_assert(sizeof(struct disk_module) == 120, "format.md 4.2");

/* A frame: address in the low 48 bits, module id above. */
#define DISK_ADDRESS_BITS 48
#define DISK_ADDRESS_MASK ((UINT64_C(1) << DISK_ADDRESS_BITS) - 1)

enum { DISK_DEPTH_MAX = 1024 }; // depth_max, unless fewer frames were asked for.

enum disk_node_id {
    DISK_NODE_ROOT = 0,
    DISK_NODE_OTHER = 1, // All stacks that no longer fitted.
    DISK_NODE_TRUNCATED =
        2,                // Parent of the outermost known frame of a stack deeper than depth_max,
    DISK_NODE_BROKEN = 3, // and of one that broke off.
    DISK_NODE_FIRST = 4,
};

enum disk_node_flags {
    DISK_NODE_GUESSED = 1 << 0, // No unwind information at this frame: its callers are a guess.
    DISK_NODE_EXACT = 1 << 1,   // The address is an interrupted instruction, not a return address.
    DISK_NODE_TAG = 1 << 2,     // No frame: says something of the sites of the stack above it.
    DISK_NODE_RUNTIME = 1 << 3, // Code of a runtime, which named frames near it stand for.
};

/* The frame of a function of the program's own language has this in place of a module, and an index
 * into NAMED in place of the address. It stands inside of the C frame that is its parent, or inside
 * of another such function. */
enum { DISK_NAMED_FRAME = 0xFFFC };

/* The frame of the node, a child of DISK_NODE_TRUNCATED, on which stacks hang whose outer frames no
 * longer fitted into the tree. To readers that do not know it, a function without a name. */
#define DISK_SHORTENED ((uint64_t)DISK_NAMED_FRAME << DISK_ADDRESS_BITS)

/* The frame of a tag has one of these in place of a module, and an id in place of the address. On
 * one path tags are innermost and in this order, outer ones first. */
enum disk_tag {
    DISK_TAG_LABELS = 0xFFFD,  // Index into LABELS.
    DISK_TAG_HEAP = 0xFFFE,    // Index into HEAPS: blocks of a heap of the program's own.
    DISK_TAG_BACKING = 0xFFFF, // Index into HEAPS: blocks that the heap makes its own from.
};

enum { DISK_SIZE_CLASSES = 4 };

enum { DISK_SITE_FIRST = 5 }; // Those before are the size classes of DISK_NODE_OTHER.

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
    uint64_t peak_epoch; // The epoch in which peak_* were saved; see format.md 4.4.
    int64_t peak_bytes;
    int64_t peak_blocks;
    uint64_t temporary; // Ended (not moved) by their thread before its next allocation.
    uint64_t reallocations;
    uint64_t moved;
    uint64_t grown_bytes;
    uint64_t size_min; // Valid when allocations > 0.
    uint64_t size_max;
    uint32_t born; // The latest snapshot when it was first used: all zero then and before.
    uint32_t reserved0;
    // With DISK_COMPATIBLE_LIVES: ended so after 1 to 15 further allocations of their thread, and
    // after 16 to 255.
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
    uint32_t tid; // Of the thread that uses it or used it last.
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
    // Frees, while all was recorded, of blocks from before that may have been left out.
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
    DISK_FREE_FOREIGN = 1,   // Never seen: another allocator's, or from before recording.
    DISK_FREE_TWICE = 2,     // The last that was seen of the address is its free.
    DISK_FREE_INHERITED = 3, // In a process made by fork: its parent's.
};

/* Frees of one kind from one stack. */
struct disk_unknown_free {
    uint32_t kind; // enum disk_free_kind; written last. 0 = unused.
    uint32_t node; // The stack of the free.
    uint32_t site; // DISK_FREE_TWICE: where the block had been allocated.
    uint32_t reserved0;
    uint64_t count;
    uint64_t address; // Of the latest.
    uint64_t reserved[2];
};
static_assert(sizeof(struct disk_unknown_free) == 48, "format.md 4.8");

/* What has become of an annotated block (internals/annotated.md), as far as it was seen. */
enum disk_damage_kind {
    DISK_DAMAGE_PAST_END = 1,     // Whoever has the block wrote past its end.
    DISK_DAMAGE_BEFORE_START = 2, // Whoever has the block wrote before its beginning.
    DISK_DAMAGE_OVERWRITTEN = 3,  // Its annotation was overwritten, most likely by whoever has the
                                  // block in front of it.
};

enum disk_damage_found {
    DISK_FOUND_BY_FREE = 1,
    DISK_FOUND_BY_REALLOC = 2,
    DISK_FOUND_BY_CHECK = 3, // Somebody's allocation or free has looked at it.
};

enum { DISK_DAMAGE_BYTES = 24 };

/* A damaged block. */
struct disk_damage {
    uint32_t kind;       // enum disk_damage_kind; written last. 0 = unused.
    uint32_t found;      // enum disk_damage_found
    uint32_t node;       // The stack of the free or realloc that has found it; 0 = none.
    uint32_t site;       // Where the block had been allocated; 0 = not known.
    uint32_t front_site; // The same of the block in front of it, the nearest that lived.
    uint32_t written_bytes; // Of `written`.
    uint64_t address, size_bytes; // Of the block. The size is 0 if it is not known any more.
    uint64_t front_address, front_size_bytes; // Of the block in front; 0 = none near.
    uint64_t at;       // The lowest address that is known to have changed.
    uint64_t found_ns; // Elapsed.
    uint64_t whole_ns; // Elapsed, when it was last known to be whole.
    uint8_t written[DISK_DAMAGE_BYTES]; // What is there now, from `at` on.
    uint64_t reserved[3];
};
static_assert(sizeof(struct disk_damage) == 128, "format.md 4.19");

/* How blocks are chosen for recording. */
enum disk_mode {
    DISK_MODE_EXACT = 0, // All.
    DISK_MODE_BYTES = 1, // One point in `period` bytes, at random; the block in which it falls.
    DISK_MODE_COUNT = 2, // One call in `period`, at random.
    DISK_MODE_OFF = 3,   // None.
};

/* What a period may be. Below 1 KiB nearly every call would be a sample, and a sample costs more
 * than an exact record; above 1 TiB nothing would be seen, and sums of weights stay far from
 * 2^64. */
#define DISK_SAMPLE_BYTES_MIN ((uint64_t)1 << 10)
#define DISK_SAMPLE_COUNT_MIN ((uint64_t)2)
#define DISK_SAMPLE_PERIOD_MAX ((uint64_t)1 << 40)

/* A stretch of time with one way of recording. */
struct disk_phase {
    uint32_t id; // Its index plus 1; written last. 0 = unused.
    uint32_t mode;
    uint64_t period;   // 0 when exact or off.
    uint64_t since_ns; // Elapsed when it began.
    uint64_t reserved;
};
static_assert(sizeof(struct disk_phase) == 32, "format.md 4.9");

/* What the samples of one site come to, and how far the estimates may be off. */
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
    double blocks_unit_max; // Largest number of blocks, and of bytes, per point of the draw: what
    double bytes_unit_max;  // one more sample might have added.
    uint64_t reserved;
};
static_assert(sizeof(struct disk_error) == 160, "format.md 4.10");

enum { DISK_SNAPSHOT_NAME_BYTES = 32 };

enum disk_snapshot_kind {
    DISK_SNAPSHOT_ASKED = 0,   // By a tool.
    DISK_SNAPSHOT_TIMED = 1,   // Of the timeline; has no name.
    DISK_SNAPSHOT_PROGRAM = 2, // By the program.
    DISK_SNAPSHOT_PHASE = 3,   // The program has begun a phase of that name.
    DISK_SNAPSHOT_GROWTH = 4,  // Live bytes have grown by as much as was asked for.
    DISK_SNAPSHOT_SIGNAL = 5,  // The signal that was asked for has come.
    DISK_SNAPSHOT_PERIOD = 6,  // A tool takes them now and then.
};

/* A moment of which the value of every counter is known. */
struct disk_snapshot {
    uint64_t elapsed_ns;                   // Written last; 0 = unused.
    int64_t live_bytes;                    // As threads last told it.
    uint64_t allocations, allocated_bytes; // Only in files without HISTORY, where id is 0.
    char name[DISK_SNAPSHOT_NAME_BYTES];   // Ended by NUL unless it fills the field.
    uint32_t id;                           // Its index plus 1; rises with time.
    uint32_t kind;                         // enum disk_snapshot_kind
    uint64_t collections;                  // Of runtimes' collectors, until then.
};
static_assert(sizeof(struct disk_snapshot) == 80, "format.md 4.11");

/* The values of one counter at a snapshot, and at those before it back to its previous record. */
struct disk_history {
    uint32_t snapshot; // Id; written last. 0 = unused.
    uint32_t counter;  // Index of its block in COUNTERS * DISK_BLOCK_SITES + place in the block.
    uint64_t allocations, allocated_bytes, frees, freed_bytes;
};
static_assert(sizeof(struct disk_history) == 40, "format.md 4.12");

enum disk_heap_flags {
    DISK_HEAP_COLLECTED = 1 << 0, // Objects end when a collector has found them dead.
};

/* A name under which the program has made heaps of its own. */
struct disk_heap {
    uint32_t id;    // Its index; written last. Record 0 is never used.
    uint32_t flags; // enum disk_heap_flags
    struct disk_string name;
    uint64_t created_ns; // Elapsed when the first of that name was made.
    uint64_t made;       // How many have been.
    uint64_t destroyed;
    uint64_t resets;
    uint64_t collections;  // Of what is in these heaps.
    uint64_t collected_ns; // Elapsed at the end of the latest; 0 = none yet.
};
static_assert(sizeof(struct disk_heap) == 64, "format.md 4.13");

/* A set of labels. Set 1 stands for all that found no room. */
struct disk_label_set {
    uint32_t id; // Its index; written last. Record 0 is never used.
    uint32_t reserved0;
    struct disk_string text; // key NUL value NUL key NUL value NUL …, by key; each key once.
    uint64_t reserved[2];
};
static_assert(sizeof(struct disk_label_set) == 32, "format.md 4.14");

/* Which blocks of a site a record is about; format.md 4.16 says how they add up. */
enum disk_access_part {
    DISK_ACCESS_ENDED = 0,  // Blocks that have ended and are in no other part.
    DISK_ACCESS_LIVE_0 = 1, // Blocks that lived at merge `merge`, an even one,
    DISK_ACCESS_LIVE_1 = 2, // and an odd one.
    DISK_ACCESS_LATE_0 = 3, // Those of an even merge that have ended since, as they were at their
    DISK_ACCESS_LATE_1 = 4, // end, and those of an odd one.
    DISK_ACCESS_PARTS = 5,
};

/* One number of each block. */
struct disk_spread {
    uint64_t total, min, max; // min is all ones until there is a block.
};

enum disk_access_flags {
    DISK_ACCESS_UNPROVEN = 1 << 0, // Some of the blocks may have uncounted accesses.
};

/* How blocks of a site were used: each is merged once, when it ends or at a merge. Words are added
 * to atomically where there is more than one thread. */
struct disk_access {
    uint32_t site;   // Written last; 0 = unused.
    uint32_t part;   // enum disk_access_part
    uint64_t merge;  // Of parts LIVE: which. A record of another than the header's is old.
    uint64_t blocks;
    struct disk_spread accesses; // Reads and writes.
    struct disk_spread writes;   // With DISK_COUNTING_APART.
    struct disk_spread size_bytes;
    struct disk_spread lifetime_us; // Of dated blocks.
    struct disk_spread utilised;    // Granules touched, in 1/100 %.
    struct disk_spread density;          // Accesses * 100 / size.
    struct disk_spread lifetime_density; // Density * 1000 / lifetime in ms, which is at least 1.
    uint64_t granules, touched_granules;
    uint64_t untouched_bytes; // In granules that were not touched.
    uint64_t never;           // Blocks without any access.
    uint64_t write_only;      // Blocks with writes and no reads; with DISK_COUNTING_APART.
    uint64_t dated;           // Blocks of which it is known when and where they began. Of these:
    uint64_t migrated;        // began and ended on different cpus,
    uint64_t overlaps;        // lived at a time when the one merged before did,
    uint64_t same_alloc_cpu;  // began on the cpu on which that had,
    uint64_t same_dealloc_cpu;
    uint64_t alloc_us, dealloc_us; // Elapsed, of the latest that was merged.
    uint32_t alloc_cpu, dealloc_cpu;
    uint64_t flags; // enum disk_access_flags; with DISK_COUNTING_BY_SITE.
    uint64_t reserved[4];
};
static_assert(sizeof(struct disk_access) == 336, "format.md 4.16");

enum { DISK_FIELD_WORDS = 32 };

/* How the granules of blocks of a site were used, by their place in the block. */
struct disk_fields {
    uint32_t site;  // Written last; 0 = unused.
    uint32_t part;  // enum disk_access_part
    uint64_t merge; // As in struct disk_access.
    uint32_t first; // Of its granules, from the front of a block: a multiple of DISK_FIELD_WORDS.
    uint32_t reserved0;
    struct disk_field {
        uint64_t accesses; // Reads and writes.
        uint64_t writes;   // With DISK_COUNTING_APART.
        uint64_t blocks;   // That had an access there.
        uint64_t reached;  // That were large enough to have the granule, in part at least.
    } fields[DISK_FIELD_WORDS];
};
static_assert(sizeof(struct disk_fields) == 24 + (size_t)32 * DISK_FIELD_WORDS, "format.md 4.17");

/* A frame that has a name and no address: a function of an interpreted language at a line. */
struct disk_named {
    uint32_t id;   // Its index; written last. Record 0 is never used.
    uint32_t line; // 0 = not known.
    struct disk_string function, file;
    struct disk_string language; // "Lua"; empty only in record 1, which stands for all others.
    uint64_t reserved;
};
static_assert(sizeof(struct disk_named) == 40, "format.md 4.18");

/* Packed files only: symbols. */
struct disk_location {
    uint64_t frame;       // As in disk_node.
    uint32_t flags;       // DISK_NODE_EXACT
    uint32_t first_frame; // Into FRAMES.
    uint32_t frame_count;
    // Of code without a name: bytes from the first of its function to the call (the byte before a
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

/* A structure, union or class; by size, the likeliest of a size first. */
struct disk_type {
    uint64_t size;
    struct disk_string name;
};
static_assert(sizeof(struct disk_type) == 16, "format.md 5");

/* What the blocks of a site are. */
struct disk_site_type {
    uint32_t site;
    uint32_t verdict;        // 1 same size, 2 likely, 3 certain.
    struct disk_string type; // Empty: several have the size.
};
static_assert(sizeof(struct disk_site_type) == 16, "format.md 5");

enum disk_note_kind {
    DISK_NOTE_UNSEEN = 1, // Memory of the process did not come through malloc.
    DISK_NOTE_HOOK = 2,   // A function that was to be recorded was never called.
    DISK_NOTE_MOMENT = 3, // Made from the memory of a process: it has what lived in a moment.
    DISK_NOTE_MEMORY = 4, // The blocks were found in a copy of memory; what else was.
};

/* What a tool noted of the recording that the recorder could not know. */
struct disk_note {
    uint32_t kind;                // enum disk_note_kind; 0 = unused.
    uint32_t processes;           // How many of a merged file it is of; else 0.
    struct disk_string text;      // A sentence.
    struct disk_string advice;    // What to do: lines; empty = nothing.
    struct disk_string process;   // Merged files: the process that it was said of.
    uint64_t anonymous_bytes;     // DISK_NOTE_UNSEEN: the most that the kernel counted,
    uint64_t recorded_bytes;      // and what the recorder knew of.
    uint64_t reserved[2];
};
static_assert(sizeof(struct disk_note) == 64, "format.md 4.15");

/* Merged files only: a program of which there are processes in it. */
struct disk_program {
    struct disk_string executable; // Its path; empty if unknown.
    uint64_t processes;
};
static_assert(sizeof(struct disk_program) == 16, "format.md 5.1");

#endif
