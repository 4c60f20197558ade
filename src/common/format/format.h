/* format.h: the profile file, byte for byte. docs/format.md is the specification; change both or
 * neither.
 *
 * Little-endian, 64-bit aligned, one mapped file per process image. The recorder writes in place,
 * and the file is complete at every instant: zero means "not yet written", and data is written
 * before the word that publishes it. A reader checks every offset before following it.
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

/* Upper bound of the size of a table, for writers and readers. The counters of many threads, or a
 * reserve for them, may need this much. */
#define DISK_TABLE_BYTES_MAX ((uint64_t)8 << 30)

/* Feature flags. A reader refuses a file with an incompatible flag that it does not support. */
enum disk_incompatible {
    DISK_INCOMPATIBLE_TAGS = 1 << 0,    // Some nodes are tags (DISK_NODE_TAG), not frames.
    DISK_INCOMPATIBLE_COLUMNS = 1 << 1, // Some segments are DISK_SEGMENT_COLUMNS.
    DISK_INCOMPATIBLE_NAMED = 1 << 2,   // Some nodes are named frames (DISK_NAMED_FRAME).
    DISK_INCOMPATIBLE_CALLERS = 1 << 3, // Some tags are DISK_TAG_CALLERS.
    DISK_INCOMPATIBLE_KNOWN =
        DISK_INCOMPATIBLE_TAGS | DISK_INCOMPATIBLE_COLUMNS | DISK_INCOMPATIBLE_NAMED |
        DISK_INCOMPATIBLE_CALLERS,
};

enum disk_compatible {
    DISK_COMPATIBLE_BOUND = 1 << 0, // The writer maintains shared.bound_bytes.
    DISK_COMPATIBLE_LIVES = 1 << 1, // The writer counts lifetimes: disk_counter.ended_16 and _256.
    DISK_COMPATIBLE_CHECK = 1 << 2, // The header has a checksum; 0 means that the file is corrupt.
};

enum disk_state {
    DISK_STATE_NEW = 0,       // The header is not complete.
    DISK_STATE_RECORDING = 1, // The process is running, or ended without running its exit handlers.
    DISK_STATE_ENDED = 2,     // Exit handlers ran. Events may still follow.
    DISK_STATE_PACKED = 3,    // Written by heaptap pack; no process writes to it.
};

enum disk_end {
    DISK_END_UNKNOWN = 0,
    DISK_END_EXITED = 1,
    DISK_END_KILLED = 2,    // By a signal.
    DISK_END_NO_MEMORY = 3, // By SIGKILL, while the kernel killed processes for want of memory.
};

enum disk_process_flags {
    DISK_PROCESS_FORKED = 1 << 0,      // Made by fork of a recorded process, without exec.
    DISK_PROCESS_FILE_FAILED = 1 << 1, // The file could not grow: data recorded later is missing
                                       // from it.
    DISK_PROCESS_GONE = 1 << 2,        // The file was packed after the process had ended.
    DISK_PROCESS_IN_MEMORY = 1 << 3,   // The file is a periodic copy of the profile in memory.
    DISK_PROCESS_FOLDED = 1 << 4,      // Some stacks with named frames lack runtime code.
    DISK_PROCESS_DAMAGED = 1 << 5,     // The file was packed from a damaged file, or is an early
                                       // copy in the place of the recorder's file.
    DISK_PROCESS_LASTED = 1 << 6,      // The file is packed, and the process lasted last_ns or
                                       // longer.
    DISK_PROCESS_ANNOTATED = 1 << 7,   // Blocks carry annotations, so overflows are found.
    DISK_PROCESS_RESERVED = 1 << 8,    // The tables have a fixed size, from --reserve.
    DISK_PROCESS_ATTACHED = 1 << 9,    // The recorder was attached while the process was running.
};

struct disk_string {
    uint32_t off;   // Offset in the STRINGS table.
    uint32_t bytes; // Length without a final NUL; 0 = no string.
};

/* Totals of the process, in the cache line that the recorder writes most. */
struct disk_shared {
    uint64_t peak_epoch; // The epoch of the latest maximum of live bytes; starts at 1.
    // The largest number of live bytes that the recorder noticed. The exact peak is the sum of the
    // attributions to sites (format.md 4.4).
    int64_t peak_bytes;
    int64_t flushed_bytes;   // Live bytes that threads had published by the last tick.
    uint64_t peak_ns;        // Elapsed time when a rise of the peak was last noticed (coarse).
    uint64_t last_ns;        // Elapsed time at the last tick of any thread, or at exit.
    uint64_t epoch;          // Rises with each new maximum and each snapshot; starts at 1.
    uint64_t snapshot_epoch; // The epoch of the latest snapshot; 0 = none yet.
    // With DISK_COMPATIBLE_BOUND: upper bound of the true peak; 0 = the attributed peak is exact.
    int64_t bound_bytes;
};
static_assert(sizeof(struct disk_shared) == 64, "format.md 2.4");

/* Losses that belong to no thread row. */
struct disk_losses {
    uint64_t no_thread_events;
    uint64_t no_memory_events;
    uint64_t reentrant_events;
    uint64_t frames_without_module; // Code addresses whose module had no room in the table, counted
                                    // once for each unwind rule.
    uint64_t history_records;       // Number of values at snapshots, and of snapshots, that had no
                                    // room.
    uint64_t label_sets;            // Number of label sets counted as "other" for lack of room.
    uint64_t heap_events;           // Events of the program's own heaps that were not recorded.
    uint64_t unseen_allocators; // C libraries whose malloc could not be recorded.
};
static_assert(sizeof(struct disk_losses) == 64, "format.md 2.5");

enum disk_counting_flags {
    DISK_COUNTING = 1 << 0,        // Accesses are counted. Without this flag, all other fields are
                                   // zero.
    DISK_COUNTING_APART = 1 << 1,  // Reads and writes are counted separately.
    DISK_COUNTING_ATOMIC = 1 << 2, // No count is lost between threads.
    DISK_COUNTING_ENDED = 1 << 3,  // The latest merge was the one at exit.
    DISK_COUNTING_LOOKED = 1 << 4, // `uncounted` lists all code that may use blocks without
                                   // counting.
    // ACCESS marks the sites whose blocks uncounted code may have used. Without this flag, that may
    // be any site if `uncounted` lists code.
    DISK_COUNTING_BY_SITE = 1 << 5,
};

/* The method of counting accesses, and the losses. */
struct disk_counting {
    uint32_t flags;         // enum disk_counting_flags
    uint32_t granule_bytes; // Bytes that share a counter: 8, 16 or 64.
    uint32_t words_max;     // Number of granules at the front of a block that FIELDS covers.
    uint32_t reserved0;
    uint64_t merge;    // The latest complete merge of live blocks; 0 = none. Written last.
    uint64_t merge_ns; // Elapsed time when that merge began.
    // Losses: numbers of blocks that were freed or merged.
    uint64_t unmerged_blocks; // Blocks without counts, for lack of memory.
    uint64_t undated_blocks;  // Blocks with unknown time and cpu of allocation.
    uint64_t unaligned_blocks; // Blocks that may share a granule with a neighbour. Their counts may
                               // include the neighbour's accesses.
    uint64_t unfielded_blocks; // Blocks whose granules found no room in FIELDS.
    uint64_t outside_blocks;   // Blocks at addresses without counters.
    uint64_t resets;           // Number of resets of all counts on request.
    uint64_t reset_ns;         // Elapsed time at the latest reset.
    uint64_t lost_accesses;    // Accesses beyond the 2^32 that a half counter can hold, for which
                               // there was no room.
    struct disk_string uncounted; // With DISK_COUNTING_LOOKED: code that may use blocks without
                                  // counting.
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
    uint64_t start_cycles; // Cycle counter at the start.
    uint64_t last_cycles;  // Cycle counter at the time last_cycles_ns.
    uint64_t last_cycles_ns;
    uint32_t page_bytes;
    uint32_t cpu_count;
    uint32_t machine;             // ELF e_machine.
    uint32_t depth_max;           // Largest number of frames recorded per stack.
    uint64_t sample_period_bytes; // Period of the present recording mode; 0 = exact, by count or
                                  // off.
    uint64_t recorder_bytes;    // Bytes of memory that the recorder had touched at its last
                                // measurement, without the file.
    struct disk_string command; // Arguments separated by NUL.
    struct disk_string executable;
    struct disk_string kernel;
    struct disk_string heaptap;
    uint64_t check;             // Checksum of a packed file, format.md 5; 0 = not checked.
    uint64_t reserved0[40];
    uint32_t merged_processes; // Processes in a merged profile; 0 = the profile is not merged.
    uint32_t merged_damaged;   // Inputs that could be read only in part.
    uint32_t merged_left_out;  // Inputs that could not be read.
    uint32_t reserved2;
    struct disk_shared shared; // At offset 512.
    struct disk_losses losses;
    /* A request of a tool. The tool writes `control` and then increments the generation. The
     * recorder carries out the request and then publishes the answer. */
    uint64_t control_generation;
    uint64_t control[7];     // enum disk_control, then its arguments.
    uint64_t control_taken;  // Generation of the latest answered request; written last.
    uint64_t control_answer; // enum disk_answer.
    uint64_t early_events;   // Losses: events of other threads during the initialisation of the
                             // recorder.
    struct disk_counting counting; // At offset 728.
    uint64_t damaged_blocks;       // Number of annotated blocks that were found corrupted.
    // Elapsed time when the process had ended, if no exit handler ran; 0 = not known. `heaptap
    // run`, which waits for the process, writes this field.
    uint64_t ended_ns;
    uint64_t limit_bytes; // Limit on recorder_bytes and the file; 0 = none so far.
    // The largest callers_period of a mode (DISK_PHASES); 0 = all allocations have whole stacks.
    uint64_t callers_period;
    // With --max-overhead: the limit in thousandths of a percent, 0 = none; and the processor time
    // of the recorder and of the program, as far as they were measured.
    uint64_t overhead_limit, overhead_ns, overhead_program_ns;
    // How the process ended: enum disk_end, and the exit status or the number of the signal.
    // `heaptap run` writes both for the process that it has started.
    uint32_t end_kind, end_value;
    // Blocks that were in use when the recorder was attached, and their usable bytes, as `heaptap
    // attach` has counted them from outside; 0 = not known.
    uint64_t earlier_blocks, earlier_bytes;
    // The file that the recorder maps, as from stat; 0 = not known. Another file with this header
    // is a copy.
    uint64_t file_device, file_inode;
    uint64_t reserved1[393];
};
static_assert(offsetof(struct disk_header, check) == 168, "format.md 2");
static_assert(offsetof(struct disk_header, shared) == 512, "format.md 2");
static_assert(offsetof(struct disk_header, counting) == 728, "format.md 2.7");
static_assert(offsetof(struct disk_header, ended_ns) == 864, "format.md 2");
static_assert(offsetof(struct disk_header, end_kind) == 912, "format.md 2");
static_assert(offsetof(struct disk_header, callers_period) == 880, "format.md 2");
static_assert(offsetof(struct disk_header, earlier_blocks) == 920, "format.md 2");
static_assert(offsetof(struct disk_header, file_device) == 936, "format.md 2");
static_assert(sizeof(struct disk_header) == DISK_PAGE_BYTES, "format.md 2");

/* The value of control[0], with the arguments in the words after it. */
enum disk_control {
    DISK_CONTROL_PHASE = 1,    // enum disk_mode, then the period.
    DISK_CONTROL_SNAPSHOT = 2, // A name of DISK_SNAPSHOT_NAME_BYTES, then enum disk_snapshot_kind.
    DISK_CONTROL_ACCESS = 3,   // enum disk_access_request
    DISK_CONTROL_CALLERS = 4,  // Exact, with the callers of one allocation in the next word.
};

enum disk_access_request {
    DISK_ACCESS_MERGE = 1, // Merge the live blocks immediately.
    DISK_ACCESS_RESET = 2, // Reset all counts; live blocks start from zero.
};

enum disk_answer {
    DISK_ANSWER_DONE = 1,
    DISK_ANSWER_REFUSED = 2, // This recorder does not support the request.
    DISK_ANSWER_FULL = 3,    // No room for another recording mode or snapshot.
};

enum disk_kind {
    DISK_UNUSED = 0,
    DISK_STRINGS = 1,        // Bytes.
    DISK_MODULES = 2,        // struct disk_module
    DISK_NODES = 3,          // struct disk_node
    DISK_COUNTERS = 4,       // struct disk_block
    DISK_THREADS = 5,        // struct disk_thread
    DISK_BINS = 6,           // struct disk_bins, indexed by disk_thread.bins
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
    DISK_ACCESS = 21,        // struct disk_access; only with counted accesses
    DISK_FIELDS = 22,        // struct disk_fields; only with counted accesses
    DISK_NAMED = 23,         // struct disk_named
    DISK_CORRUPTIONS = 24,   // struct disk_corruption
    DISK_KINDS = 25,
};

enum disk_segment_flags {
    DISK_SEGMENT_ZSTD = 1 << 0, // The segment is one zstd frame of stored_bytes, which expands to
                                // `bytes`.
    // The expanded segment is transposed: it has the first byte of each record, then the second
    // byte of each record, and so on.
    DISK_SEGMENT_COLUMNS = 1 << 1,
    DISK_SEGMENT_KNOWN = DISK_SEGMENT_ZSTD | DISK_SEGMENT_COLUMNS,
};

struct disk_segment {
    uint32_t kind; // enum disk_kind; written last. Readers skip unknown kinds.
    uint32_t flags;
    uint64_t off;          // Offset in the file; page-aligned while recording.
    uint64_t stored_bytes; // In the file.
    uint64_t bytes;        // Size after expansion; equals stored_bytes if no flag is set.
    uint64_t
        table_off; // Offset of the segment's first byte in its table; may be inside a record.
    uint32_t record_bytes; // Distance between records, 1 for STRINGS. A later version may append
                           // fields to a record.
    uint32_t reserved;
};
static_assert(sizeof(struct disk_segment) == 48, "format.md 3");
static_assert(DISK_DIRECTORY_OFF + DISK_SEGMENT_MAX * sizeof(struct disk_segment) <= DISK_DATA_OFF,
              "format.md 3");

/* Source of a module's function names in a packed file. */
enum disk_symbols {
    DISK_SYMBOLS_UNKNOWN = 0, // The module's file was missing, or an older writer did not record
                              // it.
    DISK_SYMBOLS_NONE = 1,
    DISK_SYMBOLS_EXPORTS = 2, // Dynamic symbols only.
    DISK_SYMBOLS_TABLE = 3,
    DISK_SYMBOLS_DEBUG = 4,
};

struct disk_module {
    uint32_t id; // The record's index; written last. Record 0 is never used.
    uint32_t build_id_bytes;
    uint64_t start, end;
    uint64_t bias; // Address in memory minus address in the ELF file.
    struct disk_string path;
    uint32_t loaded;   // First generation of the module list that contains the module.
    uint32_t unloaded; // First generation that lacks the module; 0 = still loaded.
    uint8_t build_id[DISK_BUILD_ID_MAX];
    uint32_t symbols; // enum disk_symbols; packed files only.
    uint32_t reserved0;
    uint64_t reserved[4];
};
static_assert(sizeof(struct disk_module) == 120, "format.md 4.2");

/* A frame: the address in the low 48 bits, the module id above. */
#define DISK_ADDRESS_BITS 48
#define DISK_ADDRESS_MASK ((UINT64_C(1) << DISK_ADDRESS_BITS) - 1)

enum { DISK_DEPTH_MAX = 1024 }; // Default of depth_max; a user can only lower it.

enum disk_node_id {
    DISK_NODE_ROOT = 0,
    DISK_NODE_OTHER = 1, // Represents all stacks that found no room in the tree.
    DISK_NODE_TRUNCATED =
        2,                // Parent of the outermost known frame of a stack deeper than depth_max.
    DISK_NODE_BROKEN = 3, // Parent of the outermost known frame of a stack whose walk failed.
    DISK_NODE_FIRST = 4,
};

enum disk_node_flags {
    DISK_NODE_GUESSED = 1 << 0, // No unwind information covers this frame: its callers are guessed.
    DISK_NODE_EXACT = 1 << 1,   // The address is an interrupted instruction, not a return address.
    DISK_NODE_TAG = 1 << 2,     // The node is no frame. It gives the heap or the labels of the
                                // stack that its ancestors form.
    DISK_NODE_RUNTIME = 1 << 3, // The frame is code of a language's runtime, which named frames
                                // near it represent.
};

/* Marks a named frame, i.e. an interpreted function: it has this value in place of a module id, and
 * an index into NAMED in place of an address. The function runs inside its parent, which is a C
 * frame or another named frame. */
enum { DISK_NAMED_FRAME = 0xFFFC };

/* The frame of a child of DISK_NODE_TRUNCATED that collects the stacks whose outer frames found no
 * room in the tree. A reader that does not know this value shows an unnamed function. */
#define DISK_SHORTENED ((uint64_t)DISK_NAMED_FRAME << DISK_ADDRESS_BITS)

/* The frame of a child of DISK_NODE_TRUNCATED above short stacks, which consist of the frames of a
 * site. Readers without support for it show an unnamed function. */
#define DISK_CALLERS_UNRECORDED (DISK_SHORTENED | UINT32_MAX)

/* A tag has one of these in the bits of the module and an id in the bits of the address. The tags
 * of a path are its innermost nodes, in this order, outer ones first. */
enum disk_tag {
    DISK_TAG_CALLERS = 0xFFFB, // Callers of one block in this number were recorded (4.3.1).
    DISK_TAG_LABELS = 0xFFFD,  // Index into LABELS.
    DISK_TAG_HEAP = 0xFFFE,    // Index into HEAPS: blocks of a heap of the program.
    DISK_TAG_BACKING = 0xFFFF, // Index into HEAPS: blocks that the heap divides into smaller
                               // blocks.
};

enum { DISK_SIZE_CLASSES = 4 };

enum { DISK_SITE_FIRST = 5 }; // Lower ids belong to the size classes of DISK_NODE_OTHER.

/* A node of the call tree. Site ids are dense over the whole tree; 0 = no site yet. */
struct disk_node {
    uint64_t frame;  // Written last to publish the node; 0 = unused.
    uint32_t parent; // Smaller than the node's own id.
    uint32_t flags;
    uint32_t site[DISK_SIZE_CLASSES]; // One site per size class: up to 32, 256 and 2048 bytes, and
                                      // above.
};
static_assert(sizeof(struct disk_node) == 32, "format.md 4.3");

/* The largest sizes of all size classes but the last. */
enum { DISK_CLASS_0_BYTES = 32, DISK_CLASS_1_BYTES = 256, DISK_CLASS_2_BYTES = 2048 };

static inline uint32_t
disk_size_class(uint64_t size_bytes)
{
    static_assert(DISK_SIZE_CLASSES == 4, "three bounds");
    return (uint32_t)(size_bytes > DISK_CLASS_0_BYTES) +
           (uint32_t)(size_bytes > DISK_CLASS_1_BYTES) +
           (uint32_t)(size_bytes > DISK_CLASS_2_BYTES);
}

/* Counters of one thread row at one site. Two cache lines; every event touches the first. */
struct disk_counter {
    uint64_t allocations;
    uint64_t allocated_bytes;
    uint64_t frees;
    uint64_t freed_bytes;
    uint64_t peak_epoch; // Epoch of the saved peak_* fields; see format.md 4.4.
    int64_t peak_bytes;
    int64_t peak_blocks;
    uint64_t temporary; // Blocks freed (not moved) by their thread before its next allocation.
    uint64_t reallocations;
    uint64_t moved;
    uint64_t grown_bytes;
    uint64_t size_min; // Valid when allocations > 0.
    uint64_t size_max;
    uint32_t born; // Id of the latest snapshot before the first use; the counter was zero until
                   // then.
    uint32_t reserved0;
    // With DISK_COMPATIBLE_LIVES: numbers of blocks that their thread freed after 1 to 15 further
    // allocations of that thread, and after 16 to 255.
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

/* A thread row, used by one thread at a time. Later threads of the same name use it again. */
struct disk_thread {
    uint32_t id;  // The record's index; written last. Record 0 is never used.
    uint32_t tid; // Id of the present or latest thread that uses the row.
    uint32_t uses;
    uint32_t bins; // Index of the row's record in BINS.
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
    // Frees of blocks that are older than the present mode and may be unrecorded, while all blocks
    // are recorded.
    uint64_t unrecorded_frees;
    uint64_t lost_sizes; // Frees of blocks whose size the program had overwritten.
    uint64_t reserved[13];
};
static_assert(sizeof(struct disk_thread) == 256, "format.md 4.5");

enum { DISK_EXACT_BINS = 1025, DISK_RANGE_BINS = 40, DISK_RANGE_FIRST_BIT = 10 };

struct disk_range {
    uint64_t allocations, allocated_bytes, frees, freed_bytes;
};

struct disk_bins {
    struct {
        uint64_t allocations, frees;
    } exact[DISK_EXACT_BINS];                 // Indexed by requested size, 0 to 1024.
    struct disk_range range[DISK_RANGE_BINS]; // i: 2^(10+i) < size <= 2^(11+i); the last has no
                                              // upper bound.
};
static_assert(sizeof(struct disk_bins) ==
                  (size_t)16 * DISK_EXACT_BINS + (size_t)32 * DISK_RANGE_BINS,
              "format.md 4.6");

/* Return the index of the range bin for SIZE_BYTES > 1024. */
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
    uint64_t events; // Allocations and frees so far; each thread may be behind by one tick.
};
static_assert(sizeof(struct disk_time_point) == 24, "format.md 4.7");

/* Reason why a free found no live block. */
enum disk_free_kind {
    DISK_FREE_FOREIGN = 1,   // No event had this address: another allocator returned the block, or
                             // the block is older than the recording.
    DISK_FREE_TWICE = 2,     // The previous event at the address was a free.
    DISK_FREE_INHERITED = 3, // The process was forked, and its parent allocated the block.
};

/* Frees of one kind from one stack. */
struct disk_unknown_free {
    uint32_t kind; // enum disk_free_kind; written last. 0 = unused.
    uint32_t node; // The stack of the free.
    uint32_t site; // DISK_FREE_TWICE: site of the block's allocation.
    uint32_t reserved0;
    uint64_t count;
    uint64_t address; // The latest address.
    uint64_t reserved[2];
};
static_assert(sizeof(struct disk_unknown_free) == 48, "format.md 4.8");

/* Kinds of damage to annotated blocks (internals/annotated.md) that the recorder detects. */
enum disk_corruption_kind {
    DISK_CORRUPTION_PAST_END = 1,     // The program wrote past the end of the block.
    DISK_CORRUPTION_BEFORE_START = 2, // The program wrote before the start of the block.
    DISK_CORRUPTION_OVERWRITTEN = 3,  // The annotation was overwritten, most likely through the
                                      // block before it.
};

enum disk_corruption_found {
    DISK_FOUND_BY_FREE = 1,
    DISK_FOUND_BY_REALLOC = 2,
    DISK_FOUND_BY_CHECK = 3, // A check of all blocks, during an event or at the end.
};

enum { DISK_CORRUPTION_BYTES = 24 };

/* A corrupted block. */
struct disk_corruption {
    uint32_t kind;       // enum disk_corruption_kind; written last. 0 = unused.
    uint32_t found;      // enum disk_corruption_found
    uint32_t node;       // Stack of the free or realloc that found the damage; 0 = none.
    uint32_t site;       // Site of the block's allocation; 0 = not known.
    uint32_t front_site; // Allocation site of the nearest live block before it; 0 = not known.
    uint32_t written_bytes; // Number of valid bytes in `written`.
    uint64_t address, size_bytes; // The corrupted block; size 0 = not known any more.
    uint64_t front_address, front_size_bytes; // The nearest live block before it; 0 = none nearby.
    uint64_t at;       // The lowest address known to have changed.
    uint64_t found_ns; // Elapsed time when the damage was found.
    uint64_t whole_ns; // Elapsed time when the block was last known to be intact.
    uint8_t written[DISK_CORRUPTION_BYTES]; // The bytes at `at` when the damage was found.
    uint64_t reserved[3];
};
static_assert(sizeof(struct disk_corruption) == 128, "format.md 4.19");

/* Methods of selecting blocks for recording. */
enum disk_mode {
    DISK_MODE_EXACT = 0, // All blocks.
    DISK_MODE_BYTES = 1, // Blocks that contain a random point; on average one in `period` bytes.
    DISK_MODE_COUNT = 2, // Blocks of randomly chosen calls, on average one in `period` calls.
    DISK_MODE_OFF = 3,   // No blocks.
};

/* Bounds of a period. Below 1 KiB nearly every call would be a sample, and a sample costs more than
 * an exact record. Above 1 TiB no block would be sampled; the bound also keeps sums of weights far
 * below 2^64. */
#define DISK_SAMPLE_BYTES_MIN ((uint64_t)1 << 10)
#define DISK_SAMPLE_COUNT_MIN ((uint64_t)2)
#define DISK_SAMPLE_PERIOD_MAX ((uint64_t)1 << 40)

/* Upper bound of callers_period, which keeps products of counts and weights far below 2^63. */
#define DISK_CALLERS_PERIOD_MAX ((uint64_t)1 << 20)

/* Maximum number of different values of callers_period in a process, besides 0. */
#define DISK_CALLERS_PERIODS 15

/* A stretch of time with one recording mode. */
struct disk_phase {
    uint32_t id; // The record's index plus 1; written last. 0 = unused.
    uint32_t mode;
    uint64_t period;   // In bytes or calls; 0 in the modes exact and off.
    uint64_t since_ns; // Elapsed time when the mode began.
    // One allocation in this number is recorded with its callers; 0 = all. In the mode exact only.
    uint64_t callers_period;
};
static_assert(sizeof(struct disk_phase) == 32, "format.md 4.9");

/* Sums over the samples of one site, and the variance of the estimates. */
struct disk_error_sum {
    uint64_t samples;
    uint64_t blocks; // Blocks and bytes in the counters that are estimates.
    uint64_t bytes;
    double blocks_variance; // Unbiased estimates of the variance of `blocks` and `bytes`.
    double bytes_variance;
};

/* Errors of a site's estimates over all threads. Additions to all words are atomic. */
struct disk_error {
    uint64_t site; // Written last; 0 = unused.
    struct disk_error_sum allocated, freed;
    uint64_t peak_epoch;        // Epoch of `peak`, as in struct disk_counter.
    struct disk_error_sum peak; // Allocated minus freed, saved before the epoch's first change.
    double blocks_unit_max; // Largest number of blocks that one more sample could have added.
    double bytes_unit_max;  // Largest number of bytes that one more sample could have added.
    uint64_t reserved;
};
static_assert(sizeof(struct disk_error) == 160, "format.md 4.10");

enum { DISK_SNAPSHOT_NAME_BYTES = 32 };

enum disk_snapshot_kind {
    DISK_SNAPSHOT_ASKED = 0,   // Requested by a tool.
    DISK_SNAPSHOT_TIMED = 1,   // Taken for the timeline; has no name.
    DISK_SNAPSHOT_PROGRAM = 2, // Requested by the program.
    DISK_SNAPSHOT_PHASE = 3,   // The program began a phase of that name.
    DISK_SNAPSHOT_GROWTH = 4,  // Live bytes grew by the requested amount.
    DISK_SNAPSHOT_SIGNAL = 5,  // The requested signal was received.
    DISK_SNAPSHOT_PERIOD = 6,  // Taken by a tool at intervals.
};

/* A moment at which the value of every counter is known. */
struct disk_snapshot {
    uint64_t elapsed_ns;                   // Written last; 0 = unused.
    int64_t live_bytes;                    // Live bytes, as far as threads had published them.
    uint64_t allocations, allocated_bytes; // Zero in files with HISTORY; in other files, id is 0.
    char name[DISK_SNAPSHOT_NAME_BYTES];   // NUL-terminated unless it fills the field.
    uint32_t id;                           // The record's index plus 1; rises with time.
    uint32_t kind;                         // enum disk_snapshot_kind
    uint64_t collections;                  // Number of collections by runtimes' collectors so far.
};
static_assert(sizeof(struct disk_snapshot) == 80, "format.md 4.11");

/* Values of one counter at a snapshot. They also hold for the earlier snapshots that follow the
 * counter's previous record. */
struct disk_history {
    uint32_t snapshot; // Id of the snapshot; written last. 0 = unused.
    uint32_t counter;  // Index in COUNTERS of the counter's block, times DISK_BLOCK_SITES, plus the
                       // index in the block.
    uint64_t allocations, allocated_bytes, frees, freed_bytes;
};
static_assert(sizeof(struct disk_history) == 40, "format.md 4.12");

enum disk_heap_flags {
    DISK_HEAP_COLLECTED = 1 << 0, // A collector decides when objects end.
};

/* A name, and the program's heaps with that name. */
struct disk_heap {
    uint32_t id;    // The record's index; written last. Record 0 is never used.
    uint32_t flags; // enum disk_heap_flags
    struct disk_string name;
    uint64_t created_ns; // Elapsed time when the first heap of the name was created.
    uint64_t made;       // Number of heaps created with the name.
    uint64_t destroyed;
    uint64_t resets;
    uint64_t collections;  // Number of collections of these heaps.
    uint64_t collected_ns; // Elapsed time at the end of the latest collection; 0 = none yet.
};
static_assert(sizeof(struct disk_heap) == 64, "format.md 4.13");

/* A set of labels. Set 1 represents all sets that found no room. */
struct disk_label_set {
    uint32_t id; // The record's index; written last. Record 0 is never used.
    uint32_t reserved0;
    struct disk_string text; // key NUL value NUL key NUL value NUL …, sorted by key; no key twice.
    uint64_t reserved[2];
};
static_assert(sizeof(struct disk_label_set) == 32, "format.md 4.14");

/* The subset of a site's blocks that a record covers. format.md 4.16 explains how to add the
 * parts. */
enum disk_access_part {
    DISK_ACCESS_ENDED = 0,  // Freed blocks that belong to no other part.
    DISK_ACCESS_LIVE_0 = 1, // Blocks that were live at merge `merge`, an even number.
    DISK_ACCESS_LIVE_1 = 2, // Blocks that were live at merge `merge`, an odd number.
    DISK_ACCESS_LATE_0 = 3, // Blocks of an even merge that were freed after it, with all counts.
    DISK_ACCESS_LATE_1 = 4, // Blocks of an odd merge that were freed after it, with all counts.
    DISK_ACCESS_PARTS = 5,
};

/* Sum, minimum and maximum of a number over blocks. */
struct disk_spread {
    uint64_t total, min, max; // min is all ones until there is a block.
};

enum disk_access_flags {
    DISK_ACCESS_UNPROVEN = 1 << 0, // Some of the blocks may have accesses that were not counted.
};

/* Usage of the blocks of a site. The recorder adds a block when the program frees it, or at a merge
 * of live blocks. Additions are atomic if there is more than one thread. */
struct disk_access {
    uint32_t site;   // Written last; 0 = unused.
    uint32_t part;   // enum disk_access_part
    uint64_t merge;  // In LIVE parts, the merge that wrote the record. The record is outdated if
                     // this is not the header's merge.
    uint64_t blocks;
    struct disk_spread accesses; // Reads and writes.
    struct disk_spread writes;   // With DISK_COUNTING_APART.
    struct disk_spread size_bytes;
    struct disk_spread lifetime_us; // Only of blocks with a known time of allocation.
    struct disk_spread utilised;    // Share of granules touched, in 1/100 %.
    struct disk_spread density;          // Accesses * 100 / size.
    struct disk_spread lifetime_density; // Density * 1000 / lifetime in ms, which is at least 1.
    uint64_t granules, touched_granules;
    uint64_t untouched_bytes; // Bytes of granules without an access.
    uint64_t never;           // Number of blocks without any access.
    uint64_t write_only; // With DISK_COUNTING_APART: number of blocks with writes and no reads.
                         // Excludes blocks that a reallocation ended, because their data remains in
                         // use.
    uint64_t dated;           // Number of blocks with known time and cpu of allocation.
    uint64_t migrated;        // Number of dated blocks that were freed on another cpu.
    uint64_t overlaps;        // Number of dated blocks whose life overlapped that of the previous
                              // block.
    uint64_t same_alloc_cpu;  // Number of dated blocks with the previous block's cpu of allocation.
    uint64_t same_dealloc_cpu; // Number of dated blocks with the previous block's cpu of free.
    uint64_t alloc_us, dealloc_us; // Elapsed times of the latest dated block.
    uint32_t alloc_cpu, dealloc_cpu;
    uint64_t flags; // enum disk_access_flags; with DISK_COUNTING_BY_SITE.
    uint64_t regrown; // With DISK_COUNTING_APART: number of blocks with writes and no reads that a
                      // reallocation replaced by a block of the same stack.
    uint64_t reserved[3];
};
static_assert(sizeof(struct disk_access) == 336, "format.md 4.16");

enum { DISK_FIELD_WORDS = 32 };

/* Usage of the granules of a site's blocks, by granule index in the block. */
struct disk_fields {
    uint32_t site;  // Written last; 0 = unused.
    uint32_t part;  // enum disk_access_part
    uint64_t merge; // As in struct disk_access.
    uint32_t first; // Index of the first granule, from the front of a block: a multiple of
                    // DISK_FIELD_WORDS.
    uint32_t reserved0;
    struct disk_field {
        uint64_t accesses; // Reads and writes.
        uint64_t writes;   // With DISK_COUNTING_APART.
        uint64_t blocks;   // Blocks with an access to the granule.
        uint64_t reached;  // Blocks that contain at least a part of the granule.
    } fields[DISK_FIELD_WORDS];
};
static_assert(sizeof(struct disk_fields) == 24 + (size_t)32 * DISK_FIELD_WORDS, "format.md 4.17");

/* A named frame, which has no address: a function of an interpreted language at a line. */
struct disk_named {
    uint32_t id;   // The record's index; written last. Record 0 is never used.
    uint32_t line; // 0 = not known.
    struct disk_string function, file;
    struct disk_string language; // "Lua"; empty only in record 1, which represents all others.
    uint64_t reserved;
};
static_assert(sizeof(struct disk_named) == 40, "format.md 4.18");

/* Packed files only: the symbols of one address. */
struct disk_location {
    uint64_t frame;       // As in disk_node.
    uint32_t flags;       // DISK_NODE_EXACT
    uint32_t first_frame; // Index into FRAMES.
    uint32_t frame_count;
    // For code without a name: offset of the call from the start of the function, plus 1; 0 = not
    // known. The call's address is the return address minus 1.
    uint32_t into;
};
static_assert(sizeof(struct disk_location) == 24, "format.md 5");

struct disk_frame {
    struct disk_string function, linkage, file;
    uint32_t line;
    uint32_t inlined;
    uint32_t local; // 1: other source files may define other functions of this name.
    uint32_t reserved;
};
static_assert(sizeof(struct disk_frame) == 40, "format.md 5");

// Older files lack the fields from `local` on.
#define DISK_FRAME_BYTES_MIN 32
static_assert(offsetof(struct disk_frame, local) == DISK_FRAME_BYTES_MIN, "format.md 5");

/* A structure, union or class. The table is sorted by size; among types of equal size, the
 * likeliest is first. */
struct disk_type {
    uint64_t size;
    struct disk_string name;
};
static_assert(sizeof(struct disk_type) == 16, "format.md 5");

/* The type of the blocks of a site. */
struct disk_site_type {
    uint32_t site;
    uint32_t verdict;        // 1 same size, 2 likely, 3 certain.
    struct disk_string type; // Name of the type; empty: several types have this size.
};
static_assert(sizeof(struct disk_site_type) == 16, "format.md 5");

enum disk_note_kind {
    DISK_NOTE_UNSEEN = 1, // Memory of the process that did not come through malloc.
    DISK_NOTE_HOOK = 2,   // The program never called a function that the user asked to record.
    DISK_NOTE_MOMENT = 3, // The file was made from the memory of a process. It has the blocks that
                          // were live at one moment.
    DISK_NOTE_MEMORY = 4, // The blocks were found in a copy of memory, so nothing else is known.
    DISK_NOTE_RUNTIME = 5, // The program is a runtime that manages its objects itself.
};

/* A tool's note on a fact that the recorder could not observe. */
struct disk_note {
    uint32_t kind;                // enum disk_note_kind; 0 = unused.
    uint32_t processes;           // Merged files: number of processes that have this note; else 0.
    struct disk_string text;      // A sentence.
    struct disk_string advice;    // Advice, in one or more lines; empty = none.
    struct disk_string process;   // Merged files: the process that has this note.
    uint64_t anonymous_bytes;     // DISK_NOTE_UNSEEN: most anonymous memory, from the kernel.
    uint64_t recorded_bytes;      // DISK_NOTE_UNSEEN: bytes that the recorder saw.
    uint64_t reserved[2];
};
static_assert(sizeof(struct disk_note) == 64, "format.md 4.15");

/* Merged files only: a program that some of the merged processes ran. */
struct disk_program {
    struct disk_string executable; // The program's path; empty if unknown.
    uint64_t processes;
};
static_assert(sizeof(struct disk_program) == 16, "format.md 5.1");

#endif
