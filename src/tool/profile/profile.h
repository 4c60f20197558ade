/* profile.h: the model of a profile, whether it was loaded from a file or a live process, or
 * merged. All views and exporters read this model. docs/glossary.md defines the terms.
 *
 *     site ──► node ──► parent node ──► … ──► root          (a stack, innermost node first)
 *               │
 *               └► location (module + address, each distinct one once)
 *                     └► frames: inlined functions innermost first, the physical function last
 *
 * Ids are indices into the arrays below; 0 is a valid entry meaning "none" in modules, locations,
 * nodes and strings, so arrays of those have count >= 1. profile_valid.h checks these invariants.
 * Everything lives in the profile's arena and string table and is released by profile_free. A
 * loaded profile is read-only, with two exceptions: symbol_resolve (symbol/symbol.h) fills in
 * locations, frames and the modules' sources of symbols once, and symbol_types (type/types.h) fills
 * in types. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/base.h"
#include "profile/access.h"
#include "profile/structure.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/map.h"

/* Counters of a site, of a thread, or of the whole process; bytes are requested bytes. A row
 * copied while its owner was writing may be off by one event, so live values can be negative.
 * Views show negative values unchanged. */
struct counters {
    int64_t allocations; // Calls that returned a block, reallocations included.
    int64_t allocated_bytes;
    int64_t frees; // Blocks that ended or moved.
    int64_t freed_bytes;
    int64_t reallocations; // Blocks that began by a realloc of another block.
    int64_t moved;         // Blocks that ended by realloc (counted in frees too).
    // Sum of new minus old size over growing reallocations that began a block here.
    int64_t grown_bytes;
    int64_t temporary;   // Blocks that their thread freed before it allocated again.
    int64_t ended_16;    // Blocks that their thread freed after 1 to 15 further allocations.
    int64_t ended_256;   // Blocks that their thread freed after 16 to 255 further allocations.
    int64_t peak_blocks; // Live when the whole process was at its peak.
    int64_t peak_bytes;
    // Smallest and largest requested size; SIZE_MIN_NONE and 0 without allocations.
    uint64_t size_min;
    uint64_t size_max;
    bool partial; // Cut to a time (time_slice.h): only the first four counters are known.
    bool lifetimes_unknown; // ended_16 and ended_256 are unknown, and stored as 0.
};

#define SIZE_MIN_NONE UINT64_MAX

/* Number of different shares of callers, including 1 for exact recording. */
enum { CALLERS_PERIODS_MAX = 16 };

/* Return A + B, wrapping: a damaged file may hold any numbers, and signed overflow would be
 * undefined behaviour. */
static inline int64_t
counters_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Return A - B, wrapping as counters_sum does. */
static inline int64_t
counters_difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Compare for sorting: the larger amount comes first, whether it grew or shrank; of equal amounts
 * the growth. */
static inline int
counters_by_magnitude(int64_t a, int64_t b)
{
    uint64_t size_a = a < 0 ? -(uint64_t)a : (uint64_t)a;
    uint64_t size_b = b < 0 ? -(uint64_t)b : (uint64_t)b;

    if (size_a != size_b)
        return size_a > size_b ? -1 : 1;
    return a > b ? -1 : a < b;
}

static inline int64_t
counters_live_blocks(const struct counters *c)
{
    return (int64_t)((uint64_t)c->allocations - (uint64_t)c->frees);
}

static inline int64_t
counters_live_bytes(const struct counters *c)
{
    return (int64_t)((uint64_t)c->allocated_bytes - (uint64_t)c->freed_bytes);
}

/* Return the number of blocks that their thread freed before it had allocated 16 more, temporary
 * blocks included. If lifetimes_unknown, return only the temporary ones. */
static inline int64_t
counters_within_16(const struct counters *c)
{
    return counters_sum(c->temporary, c->ended_16);
}

/* Like counters_within_16, for 256. */
static inline int64_t
counters_within_256(const struct counters *c)
{
    return counters_sum(counters_within_16(c), c->ended_256);
}

/* Clear the lifetime counts of C, because the lifetimes of some blocks are unknown. */
static inline void
counters_clear_lifetimes(struct counters *c)
{
    c->ended_16 = c->ended_256 = 0;
    c->lifetimes_unknown = true;
}

/* Add C to SUM field by field; sizes are combined by minimum and maximum. A fresh sum is
 * COUNTERS_ZERO. */
void counters_add(struct counters *sum, const struct counters *c);

#define COUNTERS_ZERO ((struct counters){.size_min = SIZE_MIN_NONE})

/* Counts up to a moment, or between two moments. */
struct profile_amounts {
    int64_t allocations, allocated_bytes, frees, freed_bytes;
};

static inline int64_t
profile_amounts_live(const struct profile_amounts *a)
{
    return (int64_t)((uint64_t)a->allocated_bytes - (uint64_t)a->freed_bytes);
}

/* Add A to SUM, wrapping as counters_sum does. */
void profile_amounts_add(struct profile_amounts *sum, const struct profile_amounts *a);

/* The estimated part of some counters, and its variance. All zero when everything was recorded.
 * Numbers are finite and not negative. */
struct error_sum {
    double samples; // Number of blocks examined.
    double blocks, bytes;
    double blocks_variance, bytes_variance;
};

/* Counters that have errors (struct errors), and whose counts of short stacks are distributed over
 * whole stacks. */
enum share_of {
    SHARE_ALLOCATIONS,
    SHARE_ALLOCATED_BYTES,
    SHARE_LIVE_BLOCKS,
    SHARE_LIVE_BYTES,
    SHARE_PEAK_BLOCKS,
    SHARE_PEAK_BYTES,
    SHARES
};

/* Return the counter WHAT of C; 0 for SHARES and above. */
int64_t counters_value(const struct counters *c, enum share_of what);

/* The part of a counter that was distributed over the whole stacks of a site, and its uncertainty.
 * A group has all stacks of a site. The open group is the one added last; the others are
 * closed. docs/internals/callers.md has the mathematics. */
struct share {
    double samples;  // Number of blocks with whole stacks that decided the share.
    double unit;     // Largest change of the share that one more such block could have caused.
    double estimate, bound, variance; // Closed groups: the amount, its upper limit, its variance.
    double open, whole;               // Open group: its amount here, and in the whole group.
    double squares, all_squares;      // The same for weighted squares.
    // Amounts of the sites, closed and open, that were not distributed. Some may belong to the sum.
    double left, open_left;
};

struct errors {
    // The counters depend on sampled callers, in a cut profile, where no interval is known.
    bool unbounded;
    uint32_t group;              // The open group of `shares`; 0 = none.
    struct share shares[SHARES]; // All zero unless callers were sampled.
    // Amounts of all blocks whose callers are unknown, and of those that the sum has. The others
    // may belong to it as well.
    double callerless[SHARES], callerless_in[SHARES];
    struct error_sum allocated;
    struct error_sum freed;
    struct error_sum peak;  // Blocks that were live at the peak.
    // Largest amount that one more sample would have added, from the sizes seen.
    double blocks_unit_max, bytes_unit_max;
    // Like the units above, but from all possible sizes; for use when few samples were seen.
    double blocks_unit_few, bytes_unit_few;
};

/* Return E, or zeros if E is NULL, as in rows of exact counts. */
const struct errors *errors_or_none(const struct errors *e);

/* Return *E, created from ARENA as zeros if it is NULL. */
struct errors *errors_of(struct errors **e, struct arena *arena);

/* Add C to SUMS, by counter. */
void shares_add_counters(double sums[SHARES], const struct counters *c);

/* Add E, which may be NULL, to SUM: sums and variances are added, and the larger of two units is
 * kept. */
void errors_add(struct errors *sum, const struct errors *e);

/* Like errors_add, without the shares of callers: SUM does not depend on them. */
void errors_add_site(struct errors *sum, const struct errors *e);

/* Close the open group of E, so that errors of another profile can be added. */
void errors_close(struct errors *e);

/* Return the variance of S, of all groups. */
double share_variance(const struct share *s);

/* Combine only the units of E into SUM, by maximum. */
void errors_add_units(struct errors *sum, const struct errors *e);

/* Return the errors of live amounts: allocated minus freed. */
struct error_sum errors_live(const struct errors *e);

enum { PROFILE_BUILD_ID_MAX = 32 };

/* Source of a module's function names, in ascending order of detail; same values as in the file
 * (enum disk_symbols). */
enum profile_symbols {
    SYMBOLS_UNKNOWN = 0, // The file was not searched yet, or is missing.
    SYMBOLS_NONE = 1,
    SYMBOLS_EXPORTS = 2, // Dynamic symbols only: the file is stripped.
    SYMBOLS_TABLE = 3,   // The full symbol table, without lines.
    SYMBOLS_DEBUG = 4,   // Debug information.
};

/* Result of the search for a module's file on this machine. */
enum profile_file {
    FILE_NOT_SOUGHT = 0, // Not searched, because not needed.
    FILE_FOUND,
    FILE_MISSING,
    FILE_CHANGED, // The file at the path has another build id.
    FILE_UNREADABLE,
};

struct profile_module {
    uint64_t start, end; // Address range in the recorded process, [start, end).
    uint64_t bias;       // Recorded address minus address in the ELF file.
    const char *path;    // Interned; "" if unknown, "[vdso]" for the kernel's.
    uint8_t build_id[PROFILE_BUILD_ID_MAX];
    uint32_t build_id_bytes; // 0 = none.
    bool unloaded;           // The library had been unloaded when the profile ended.
    enum profile_symbols symbols;
    enum profile_file file;
    const char *trouble; // FILE_CHANGED: build id of the file, in hex; FILE_UNREADABLE: reason.
    // Merged profiles: the executable of one of the programs. See profile_is_program.
    bool is_program;
    bool runtime; // Some of its locations are, see struct profile_location; set by fold_runtime.
};

/* One frame as in the source: a physical or an inlined function. */
struct profile_frame {
    uint32_t function; // String, demangled and complete; 0 if unknown.
    uint32_t linkage;  // String: the symbol's linkage name; 0 if unknown.
    uint32_t file;     // String: the path as the debug information has it; 0 if unknown.
    uint32_t line;     // 0 = unknown.
    uint32_t module;   // Module id.
    // String such as "Lua" for a named frame, which has no address; 0 = machine code.
    uint32_t language;
    bool inlined;      // True if the function is inlined into the next frame of the same location.
    bool local;    // Other source files may define other functions of this name (static in C).
    uint32_t home; // Id of module and file of a local function, maintained by profile.c; else 0.
};

struct profile_location {
    // Return address (exact is false) or program counter, in the recorded process.
    uint64_t address;
    uint32_t module; // Module id; 0 = no module covers it (JIT code).
    uint32_t first_frame; // Index into frames.
    uint32_t frame_count; // 0 = not symbolised yet.
    // Start, in the recorded process, of a function that is known only by its unwind entry; else 0.
    // SAME is the first location with the same function_start, or this location.
    uint64_t function_start;
    uint32_t same;
    bool at_start;        // Return address that no call pushed: a signal handler returns to it.
    bool exact;           // Address of the instruction itself; otherwise a return address.
    bool runtime; // Code of a runtime, which named frames in the same stack replace.
    bool of_site; // A frame of a site: blocks whose innermost frames are such are counted exactly.
};

enum profile_node_flags {
    // The frame was found without unwind information; all frames further out are uncertain.
    NODE_GUESSED = 1 << 0,
    // Outermost known frame of a stack that is deeper than the recorder follows.
    NODE_TRUNCATED = 1 << 1,
    NODE_BROKEN = 1 << 3, // Outermost frame that the walk found before it broke off.
    NODE_SHORTENED = 1 << 4, // With NODE_TRUNCATED: cut because the bounded tree was nearly full.
    NODE_OTHER = 1 << 2, // Represents stacks that did not fit into the bounded tree.
    NODE_CALLERLESS = 1 << 5, // Outermost frame of a short stack, whose callers were not recorded.
    NODE_NO_TABLE = 1 << 6, // With NODE_BROKEN: the frame's code has no unwind tables.
};

struct profile_node {
    uint32_t parent;   // Node of the caller; 0 = root. Always smaller than the node's own id.
    uint32_t location; // 0 for the node "other".
    uint32_t flags;    // enum profile_node_flags, of this node only.
};

/* Certainty of the type of a site's blocks. Stored in packed files. */
enum profile_verdict {
    VERDICT_UNKNOWN = 0,
    VERDICT_SAME_SIZE = 1, // It is only known that types of that size exist.
    VERDICT_LIKELY = 2,
    VERDICT_CERTAIN = 3,
};

/* A structure, union or class of the debug information. */
struct profile_type {
    uint64_t size;
    uint32_t name; // String, with scopes.
};

/* A site: one stack (node) in one size class, for blocks of one heap with one set of labels.
 * Analyses by stack sum the sites of a node. */
struct profile_site {
    uint32_t node;
    uint32_t heap;       // Index into heaps; 0 = malloc.
    uint32_t labels;     // Index into label_sets; 0 = none.
    uint32_t callers;    // Index into callers_periods; 0 = every block has its callers.
    uint16_t size_class; // 0 small <= 32, 1 medium <= 256, 2 large <= 2048, 3 extra large.
    bool by_language;    // fold_runtime removed the innermost frames: callers decide the rest.
    uint32_t id;         // Id in the file; 0 = in no file.
    uint32_t type;       // String: type of the blocks, "foo" or "foo[]"; 0 = unknown or several.
    uint32_t verdict;    // enum profile_verdict
    struct counters counters;
    // Cut profiles (time_slice.h): the whole run's values.
    int64_t whole_peak_bytes, whole_allocated_bytes;
    uint64_t whole_size_min, whole_size_max;
};

/* Return the smallest and the largest size of S's blocks in the whole run, even in a cut profile;
 * SIZE_MIN_NONE and 0 without allocations. */
static inline uint64_t
profile_site_size_min(const struct profile_site *s)
{
    return s->counters.partial ? s->whole_size_min : s->counters.size_min;
}

static inline uint64_t
profile_site_size_max(const struct profile_site *s)
{
    return s->counters.partial ? s->whole_size_max : s->counters.size_max;
}

/* Counters of one thread at one site. Threads of the same name may share a row, one after
 * another. */
struct profile_thread_site {
    uint32_t thread; // Index into threads.
    uint32_t site;   // Index into sites.
};

/* All heaps of one name; index 0 is malloc. */
struct profile_heap {
    const char *name;         // Interned; never empty.
    bool own;                 // A heap of the program, not malloc.
    uint64_t created_ns;      // Elapsed time when the first heap of that name was created.
    uint64_t made, destroyed; // Numbers of heaps created and destroyed.
    uint64_t resets;
    bool collected; // Objects end when a garbage collector finds them dead.
    // Number of collections, and the elapsed time of the latest; 0 = none yet.
    uint64_t collections, collected_ns;
    struct counters counters; // Sum over its sites.
    struct counters backing;  // Chunks that back its objects; in no total.
};

/* A stack whose blocks back a heap. */
struct profile_backing {
    uint32_t heap; // Index into heaps; not 0.
    uint32_t node;
    struct counters counters;
};

struct profile_label {
    const char *key, *value; // Interned.
};

/* Labels of blocks; index 0 is the empty set. */
struct profile_label_set {
    // Interned: "kind=get, tenant=acme". The known part if the set is incomplete.
    const char *text;
    struct profile_label *v; // By key.
    size_t count;
    struct counters counters; // Sum over the sites with this set.
};

struct profile_thread {
    const char *name; // Interned.
    uint32_t tid;     // Last thread that used this row.
    uint32_t uses;    // Number of threads that have used it.
    struct counters counters;
};

/* Blocks of one size (0 to 1024, size_min == size_max) or of one power-of-two range above. */
struct profile_bin {
    uint64_t size_min, size_max; // Inclusive.
    // Valid are only the numbers of allocations and frees, and their bytes.
    struct counters counters;
};

struct profile_time_point {
    uint64_t elapsed_ns; // Since recording started.
    int64_t live_bytes;
    uint64_t events; // Allocations and frees so far; accurate to a few hundred per thread.
};

/* Method of choosing blocks to record; same values as in the file (enum disk_mode). */
enum profile_mode { MODE_EXACT = 0, MODE_BYTES = 1, MODE_COUNT = 2, MODE_OFF = 3 };

/* A period with one recording mode. */
struct profile_recording_mode {
    uint32_t mode;       // enum profile_mode
    uint64_t period;     // Average number of bytes or calls per sample; 0 when exact or off.
    uint64_t elapsed_ns; // Elapsed time when it began.
    uint64_t callers_period; // One allocation in this number has its callers; 0 = all.
};

/* Reason for a snapshot; same values as in the file (enum disk_snapshot_kind). */
enum profile_snapshot_kind {
    SNAPSHOT_ASKED = 0, // Requested by a tool.
    SNAPSHOT_TIMED = 1, // Automatic, for the timeline; without a name.
    SNAPSHOT_PROGRAM = 2,
    SNAPSHOT_PHASE = 3, // Start of a phase of that name, which lasts until the next phase.
    SNAPSHOT_GROWTH = 4,
    SNAPSHOT_SIGNAL = 5,
    SNAPSHOT_PERIOD = 6,
    SNAPSHOT_KINDS,
};

/* A moment at which all counters are known. */
struct profile_snapshot {
    uint64_t elapsed_ns;
    const char *name;               // "" if it has none.
    uint32_t kind;                  // enum profile_snapshot_kind
    uint64_t collections;           // Garbage collections up to then.
    struct profile_amounts amounts; // Sums over all sites.
};

/* Change of one row of counters between two adjacent snapshots. INTERVAL is the number of snapshots
 * before it. The changes of a row sum to its final counters. */
struct profile_change {
    uint32_t thread_site; // Index into thread_sites.
    uint32_t interval;    // Number of snapshots before the change: 0 to snapshot_count.
    struct profile_amounts amounts;
};

/* A moment that the clock of a session has (struct profile_clock), as seen by one process. */
enum point_life {
    POINT_OF_LIFE = 0,
    POINT_BEFORE_START,
    POINT_AFTER_END, // The process has ended, and its blocks with it.
};

/* A moment at which counters are known: a snapshot, the peak, the start or the end. */
struct profile_point {
    // Number of snapshots up to and including this one; snapshot_count + 1 = the end.
    size_t snapshots;
    uint64_t elapsed_ns;
    const char *name; // Name of the snapshot, or ""; otherwise "start", "peak" or "end".
    bool is_peak;     // The peak, which is not a snapshot.
    enum point_life life;
    uint64_t unreached_ns; // Requested time, if it is after the end of the run; 0 = it is not.
};

/* The time of a session, which begins with its first process and ends with its last one. */
struct profile_clock {
    uint64_t start_unix_ns, end_unix_ns; // 0 = the process has its own clock.
};

/* Time that the counters cover. */
enum profile_extent {
    EXTENT_WHOLE = 0,
    EXTENT_AT,      // Counts until a moment.
    EXTENT_BETWEEN, // Counts between two moments.
    EXTENT_PEAK,    // Live amounts at the peak, as if just allocated.
};

/* Reason why a free ended no live block; same values as in the file (enum disk_free_kind). */
enum profile_free_kind {
    // The address was never seen: another allocator's block, or one from before recording.
    FREE_FOREIGN = 1,
    FREE_TWICE = 2,     // The latest event at the address is a free.
    FREE_INHERITED = 3, // The process was forked, and the block is its parent's.
};

/* Frees of one kind from one stack. */
struct profile_unknown_free {
    uint32_t kind;      // enum profile_free_kind
    uint32_t node;      // Stack of the free.
    uint32_t site_node; // FREE_TWICE: stack that had allocated the block; 0 if unknown.
    uint64_t count;
    uint64_t address; // The latest address.
};

/* Kind of an overwritten annotation, and the check that found it; same values as in the file (enum
 * disk_corruption_kind, _found). */
enum profile_corruption_kind {
    CORRUPTED_PAST_END = 1,
    CORRUPTED_BEFORE_START = 2,
    CORRUPTED_OVERWRITTEN = 3,
};
enum profile_corruption_found {
    CORRUPTION_BY_FREE = 1,
    CORRUPTION_BY_REALLOC = 2,
    CORRUPTION_BY_CHECK = 3,
};

enum { PROFILE_CORRUPTION_BYTES = 24 };

struct profile_corruption {
    uint32_t kind, found;
    uint32_t node;                  // Stack of the call that found it; 0 = none.
    // Stacks that allocated the block, and the block in front of it; 0 = not known.
    uint32_t site_node, front_node;
    uint32_t written_bytes;
    uint64_t address, size_bytes; // Size 0 = not known.
    uint64_t front_address, front_size_bytes;
    uint64_t at; // Lowest address known to have changed.
    // Elapsed times when the corruption was found, and when the block was last intact.
    uint64_t found_ns, whole_ns;
    uint8_t written[PROFILE_CORRUPTION_BYTES];
};

/* A program that has processes in a merged profile. */
struct profile_program {
    const char *executable; // Absolute path; "" if unknown.
    uint64_t processes;
};

/* Kind of a note; same values as in the file (enum disk_note_kind). A file may contain other
 * values. */
enum profile_note_kind {
    NOTE_UNSEEN = 1,   // The process has memory that did not come through malloc.
    NOTE_HOOK = 2,     // A function to record was never called.
    NOTE_SNAPSHOT = 3, // The profile was made from a process's memory: the live blocks of one
                       // moment.
    // The profile has blocks found in a copy of memory; everything else is unknown.
    NOTE_MEMORY = 4,
    NOTE_RUNTIME = 5, // The program is a runtime that manages its objects itself.
};

/* A tool's note on a fact about the recording that the recorder cannot know. No text is NULL. */
struct profile_note {
    uint32_t kind;       // enum profile_note_kind, not 0.
    uint64_t processes;  // Merged profiles: number of processes with the same note; else 0.
    const char *text;    // One sentence.
    const char *advice;  // Lines that advise the user; "" = none.
    const char *process; // Merged profiles: the process to which text belongs; else "".
    // NOTE_UNSEEN: anonymous memory of the process, and the part that was recorded.
    uint64_t anonymous_bytes, recorded_bytes;
};

/* How a process ended. Values as in enum disk_end (format.h). */
enum profile_end { END_UNKNOWN = 0, END_EXITED = 1, END_KILLED = 2, END_NO_MEMORY = 3 };

/* The recorded process. In merged profiles, pid and parent are 0, values that differ between
 * processes are "" or 0, and the time lasts from the first start to the last end. */
struct profile_process {
    uint32_t pid;           // Process id in the process's own pid namespace.
    uint32_t pid_here;      // Id in our pid namespace if the process is in another one; else 0.
    uint32_t parent_pid;
    const char *command;    // Arguments joined by blanks.
    const char *executable; // Absolute path.
    const char *kernel;     // "Linux 6.1.0".
    const char *heaptap;    // The recorder's version.
    const char *machine;    // "x86_64".
    uint64_t start_unix_ns; // Wall clock when recording started.
    // Duration from the start of recording to the end of the process, or to the time of loading.
    uint64_t elapsed_ns;
    // A lower bound: the process ended without exit handlers, at the last tick or later.
    bool elapsed_is_least;
    uint32_t cpu_count;
    uint32_t page_bytes;
    enum profile_end end_kind;
    uint32_t end_value; // Exit status, or number of the signal.
    bool ended;  // The process had ended when the profile was loaded or packed.
    bool unsure; // `ended` is uncertain: a hidden process may still write the file.
    bool forked; // The process was forked from a recorded one.
    bool attached; // Recording began while the process was running (heaptap attach).
    // Blocks in use before an attach, and their usable bytes; 0 = not known.
    uint64_t earlier_blocks, earlier_bytes;
    bool in_run; // `heaptap run` recorded the process, and adds notes when it has ended.
};

/* Numbers of events that the recorder recorded only in part, or lost. */
struct profile_losses {
    uint64_t events; // Lost allocations and frees: the sum of the next five members.
    uint64_t reentrant_events; // Events in a signal handler that interrupted the recorder.
    uint64_t no_memory_events; // Events for which the recorder could not get memory.
    uint64_t no_thread_events; // Events in threads without a row.
    uint64_t early_events;     // Events in other threads while the recorder started.
    uint64_t heap_events;      // Events in heaps of the program.
    // C libraries whose own malloc is called directly, past the recorder.
    uint64_t unseen_allocators;
    // Blocks without room in the ledger: their allocation is counted, their free is not.
    uint64_t ledger_events;
    uint64_t other_site_events; // Events charged to the site "other", because the tree was full.
    uint64_t label_sets;   // Times that a set of labels was replaced by "other labels".
    // Allocations whose stack has only its innermost frames, because the tree was filling.
    uint64_t shortened_stacks;
    // Allocations whose stack was deeper than the recorder follows. Excludes stacks that are
    // shorter because the user requested it.
    uint64_t truncated_stacks;
    uint64_t guessed_frames;        // Allocations with a frame found without unwind information.
    uint64_t frames_without_module; // Code addresses whose module could not be stored.
    uint64_t unwind_failures;       // Allocations whose stack walk broke off.
    uint64_t ends_without_table;    // Those whose walk broke off at code without unwind tables.
    // Frees of blocks that are not in the ledger: foreign, double or unrecorded.
    uint64_t unknown_frees;
    uint64_t double_frees;       // Unknown frees whose block had been freed before.
    uint64_t unrecorded_frees;   // Frees of blocks from a time when recording was sampled or off.
    uint64_t inherited_frees;    // Frees, in a forked process, of blocks of its parent.
    // Blocks returned by the allocator while their address was live in the ledger.
    uint64_t overwritten_blocks;
    uint64_t lost_sizes;         // Frees of blocks whose size the program had overwritten.
    uint64_t failed_calls;       // Allocation calls that returned no block.
    uint64_t history_records;    // Counter values at snapshots that found no room.
    uint64_t damaged_blocks;     // Annotated blocks with an overflow.
    // Bytes of the allocations with the site "other", with innermost frames only, with a stack
    // deeper than the recorder follows, and with a stack whose walk broke off.
    uint64_t other_site_bytes, shortened_bytes, truncated_bytes, broken_bytes;
    bool runtime_left_out; // Some stacks with named frames lack the runtime's frames (--native).
    bool file_failed; // The file could not grow: events after that are lost once the process ends.
    bool reserved;    // The recorder's memory was limited by --reserve.
};

/* Add L to SUM. */
void profile_losses_add(struct profile_losses *sum, const struct profile_losses *l);

/* Return the number of blocks in L that overflowed or were freed twice. If events were lost, a
 * second free may be valid; then frees are not counted. */
uint64_t profile_corruptions(const struct profile_losses *l);

/* Cost of the recording. */
struct profile_recorder {
    uint64_t memory_bytes; // Memory touched by the recorder, the whole file included.
    uint64_t file_bytes;
    uint64_t limit_bytes; // Limit on memory_bytes, the lowest of several processes; 0 = none.
    uint64_t frames_reused; // Frames of the thread's previous stack that were verified and reused.
    uint64_t frames_unwound;
    uint64_t full_unwinds;
    uint64_t events_timed; // Number of events whose cost was measured.
    uint64_t timed_ns;     // Total cost of the events whose cost was measured.
    // With --max-overhead: the limit in thousandths of a percent, 0 = none; and the processor time
    // of the recorder and of the program, as far as they were measured.
    uint64_t overhead_limit, overhead_ns, overhead_program_ns;
};

struct profile {
    struct arena arena;
    struct strtab strings;
    const char *path; // Path of the file; "pid 123" for a live process.
    // Directory of the process's root on this machine, for a container or another machine's files;
    // NULL = none. It is the prefix of all paths recorded in the process: modules, debug files,
    // sources, perf maps.
    const char *sysroot;
    struct profile_process process;
    uint32_t merged_processes; // Number of recordings in this sum; 0 = a single recording.
    uint32_t merged_damaged;   // Inputs of the merge that were readable only in part.
    uint32_t merged_left_out;  // Inputs of the merge that were not readable.
    struct profile_program *programs; // Merged profiles, most processes first.
    size_t program_count;
    struct profile_losses losses;
    struct profile_recorder recorder;
    struct counters totals;       // Sum over sites; peak_* is the sum of the sites' shares.
    uint64_t peak_elapsed_ns;     // Time when the peak was reached (coarse).
    // Maximum difference between the true peak and the recorded one; 0 = exact.
    int64_t peak_error_bytes;
    struct errors errors;         // Errors of the totals.
    uint64_t sample_period_bytes; // Period of the latest mode; 0 = exact, by calls, or off.
    // One allocation in this number has its callers recorded, 0 = all; the largest of all modes.
    uint64_t callers_period;
    uint64_t callers_periods[CALLERS_PERIODS_MAX]; // All values in sites; the first is 0.
    uint32_t callers_period_count;                 // Without the first.
    bool has_shares;         // Counts were distributed over callers: callers_spread.
    bool has_callerless;     // Some could not be: they belong to no caller.
    uint32_t frames_kept;         // Number of innermost frames kept of each stack, as requested; 0
                                  // = all.
    bool symbolised;              // Every location has frames.
    bool runtime_folded;          // fold_runtime was called.
    uint32_t language_only;       // String: the language that language_only kept; 0 = not called.
    bool sought;                  // symbol_resolve has searched for missing names.
    bool types_outdated; // Types were searched without debug information that exists now.

    struct profile_module *modules;
    size_t module_count;
    struct profile_location *locations;
    size_t location_count;
    struct profile_frame *frames;
    size_t frame_count;
    size_t frame_capacity;
    struct map homes; // Module and file of a local function to its frames' `home`.
    struct profile_node *nodes;
    size_t node_count;
    struct profile_site *sites;
    size_t site_count;
    // Error bounds of a prefix of the sites; NULL = none, as in exact profiles. Access them by
    // profile_site_errors. They are a separate array because they are as large as the rest of a
    // site.
    struct errors *site_errors;
    size_t site_error_capacity;
    struct profile_heap *heaps; // At least one.
    size_t heap_count;
    struct profile_label_set *label_sets; // At least one.
    size_t label_set_count;
    struct profile_backing *backings;
    size_t backing_count;
    struct profile_thread *threads;
    size_t thread_count;
    struct profile_thread_site *thread_sites;
    size_t thread_site_count;
    // Counters of each row. NULL = each site has one row, whose counters are the site's. Access
    // them by profile_row_counters.
    struct counters *row_counters;
    struct profile_bin *bins;
    size_t bin_count;
    struct profile_time_point *timeline;
    size_t time_point_count;
    // Modes by time. There is at least one, except in a sum of no profiles.
    struct profile_recording_mode *modes;
    size_t mode_count;
    // Longest periods of sampling by bytes and by calls; 0 = none.
    uint64_t longest_bytes, longest_calls;
    struct profile_snapshot *snapshots; // By time.
    size_t snapshot_count;
    bool has_history; // Counters at the snapshots are known, so time_slice.h can cut the profile.
    struct profile_change *changes; // Unordered; several counters of the file may share a row.
    size_t change_count;
    // If cut: counters are partial, bins and unknown frees are empty, and of the errors only
    // `unbounded` is set.
    enum profile_extent extent;
    struct profile_point from, to; // EXTENT_AT and EXTENT_PEAK use only `to`.
    struct profile_clock clock;    // Clock of the times that name moments.
    struct profile_type *types; // Types of the sizes that occur, by size, then most likely first.
    size_t type_count;
    bool typed; // types and the types of sites are filled in.
    struct profile_structure *structures; // Structures requested through type/structures.h.
    size_t structure_count;
    struct profile_accesses accesses; // For the whole run, even if the counters are cut.
    struct profile_unknown_free *unknown_frees; // By descending count, once loaded.
    size_t unknown_free_count;
    struct profile_corruption *corruptions; // Corruptions by the time at which they were found.
    size_t corruption_count;
    const char **notes;
    size_t note_count; // Reader's notes on skipped parts, one sentence each.
    // Reason why the numbers are unreliable, as a predicate for the file's name. NULL = the file is
    // whole, which includes files of killed processes.
    const char *damage;
    bool may_lag; // A copy of memory, which may lack the latest events.
    // Blocks carried annotations (in a sum, the blocks of all processes), so overflows were
    // detected.
    bool annotated;
    struct profile_note *run_notes; // Notes of tools from the time of recording.
    size_t run_note_count;
};

/* Free P, which may be NULL. Only its owner may call this. */
void profile_free(struct profile *p);

/* Return the damage (see struct profile) of a sum with DAMAGED damaged inputs and without LEFT_OUT
 * unreadable ones; NULL if there are none. From ARENA. */
const char *profile_parts_damage(struct arena *arena, uint32_t damaged, uint32_t left_out);

/* Return a description of P's source for people: the command, or "merged from 500 processes of 3
 * programs". From ARENA. */
const char *profile_title(const struct profile *p, struct arena *arena);

/* Return the id of P's process for people: "4711", or "4711 (2 in its namespace)". From ARENA. */
const char *profile_pid_text(const struct profile *p, struct arena *arena);

/* Return true if MODULE is the executable of P, or of a profile that was merged into P. */
bool profile_is_program(const struct profile *p, uint32_t module);

/* Return true if PATH names a library of the recorder: libheaptap.so, or an adapter such as
 * libheaptap_lua.so. */
bool profile_is_recorder(const char *path);

/* Return true if P had several threads, at once or one after another. */
bool profile_has_threads(const struct profile *p);

/* Set is_program of P's modules. Writers of a merged profile call this. */
void profile_mark_programs(struct profile *p);

/* Return the units (struct errors) for blocks with sizes in SIZES, if P has no sample of them. */
struct errors profile_missed(const struct profile *p, const struct counters *sizes);

/* Return the counters of row ROW of P's thread_sites. */
const struct counters *profile_row_counters(const struct profile *p, size_t row);

/* Add C to the counters of row ROW, of its thread and its site, and to the totals. */
void profile_count(struct profile *p, size_t row, const struct counters *c);

/* Return the error bounds of P's site with index SITE; all zero if unknown. */
const struct errors *profile_site_errors(const struct profile *p, size_t site);

/* Like profile_site_errors, but modifiable: created as zeros if missing. Valid until the call for
 * another site. */
struct errors *profile_change_site_errors(struct profile *p, size_t site);

/* Apply counters_clear_lifetimes to all counters in P except those by size, which have no
 * lifetimes. */
void profile_clear_lifetimes(struct profile *p);

/* Return the index of PERIOD in P's callers_periods, added if it is new; 0 if it is invalid, or if
 * there is no room. */
uint32_t profile_callers_index(struct profile *p, uint64_t period);

/* Recompute the sums of sites and backings by heap and by labels, after changes to them. */
void profile_sum_heaps(struct profile *p);

/* Sort P's corruptions in the order that struct profile specifies. */
void profile_sort_corruptions(struct profile *p);

/* Append FRAME to P's frames; for symbol and for the loader of packed profiles. */
void profile_add_frame(struct profile *p, const struct profile_frame *frame);

/* Change the file of the frame with index FRAME to FILE, a string of P. */
void profile_set_file(struct profile *p, uint32_t frame, uint32_t file);

/* Return true if blocks may be missing, because recording was sampled or off for some time. */
static inline bool
profile_is_estimate(const struct profile *p)
{
    for (size_t i = 0; i < p->mode_count; i++)
        if (p->modes[i].mode != MODE_EXACT)
            return true;
    return false;
}

/* Return false if recording was off for P's whole run, so that its zeros mean nothing. A sum was
 * recorded if one of its processes was. */
static inline bool
profile_was_recorded(const struct profile *p)
{
    size_t off = 0;

    while (off < p->mode_count && p->modes[off].mode == MODE_OFF)
        off++;
    return off < p->mode_count || p->mode_count == 0;
}

/* Return true if some numbers of P are estimates with known error bounds. */
static inline bool
profile_has_errors(const struct profile *p)
{
    return (profile_is_estimate(p) || p->has_shares) && p->extent == EXTENT_WHOLE;
}

/* Return true if some numbers of P are estimates whose error bounds are not known, which struct
 * errors marks as such. */
static inline bool
profile_has_unbounded(const struct profile *p)
{
    return p->has_shares && p->extent != EXTENT_WHOLE;
}

/* Return the pid of P's process in our namespace; it may have ended. */
static inline uint32_t
profile_pid_here(const struct profile *p)
{
    return p->process.pid_here != 0 ? p->process.pid_here : p->process.pid;
}

/* Return the language of the location L of P, as a string id; 0 for machine code. If it is not 0, L
 * is a named frame and its address is meaningless. */
static inline uint32_t
profile_language(const struct profile *p, const struct profile_location *l)
{
    return l->frame_count > 0 ? p->frames[l->first_frame].language : 0;
}

/* Return the string ID. Valid as long as P. */
static inline const char *
profile_string(const struct profile *p, uint32_t id)
{
    return strtab_get(&p->strings, id);
}

/* Return the scope within which a function's name is unique: its module. For scripts it is the
 * file, because several scripts may define functions of the same name. For local functions it is
 * module and file. */
static inline uint32_t
profile_function_home(const struct profile_frame *f)
{
    if (f->language != 0)
        return UINT32_C(1) << 31 | f->file;
    return f->home != 0 ? UINT32_C(1) << 30 | f->home : f->module;
}

/* Return true if functions of F's name in other files are other functions. */
static inline bool
profile_is_of_file(const struct profile_frame *f)
{
    return f->language != 0 || f->home != 0;
}

/* Return the origin of F's code: the path of the module, "" if unknown, or its language. */
static inline const char *
profile_code_of(const struct profile *p, const struct profile_frame *f)
{
    return f->language != 0 ? profile_string(p, f->language) : p->modules[f->module].path;
}

#endif
