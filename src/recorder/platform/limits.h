/* limits.h: every limit of the recorder, and its reason. Beyond a limit, stacks are shortened, and
 * events are charged to "other" or counted as lost; nothing fails. */
#ifndef PLATFORM_LIMITS_H
#define PLATFORM_LIMITS_H

#include "base/base.h"
#include "format/format.h"

enum {
    /* Nodes of the call tree. cc1 and python make some 10^4, a compiler on a huge file 10^5, a
     * documentation generator 10^7. The memory limit (mem.h) is reached first, because a node takes
     * 32 bytes of file and some 50 of index. Then new stacks get only their innermost frames
     * (nodes.c). */
    LIMIT_NODES = 1 << 28,
    /* Sites. The ledger's entry has 22 bits for the site. */
    LIMIT_SITES = (1 << 22) - 1,
    /* Threads alive at once. Events of further threads are not recorded. */
    LIMIT_THREADS = 16384,
    /* Distinct modules over the life of the process. A frame has 16 bits for the module. */
    LIMIT_MODULES = 8192,
    /* Pieces of private memory that mem_measure includes. There are a few per thread, and one per
     * 16 MiB of heap. */
    LIMIT_REGIONS = 8192,
    /* Innermost frames recorded of one stack, at least; and the most frames in a memo, and in one
     * walk (stack.c). A variant stack has a few more than the memo. Readers refuse nodes below more
     * than 2048 others. */
    LIMIT_DEPTH = DISK_DEPTH_MAX,
    LIMIT_MEMO = 2 * LIMIT_DEPTH - 64,
    LIMIT_WALK = LIMIT_DEPTH * 3 / 2,
    /* Bytes of strings: paths and the command line. */
    LIMIT_STRINGS = 8 << 20,
    /* Stacks with unknown frees. Frees from further stacks are counted without their stack. */
    LIMIT_UNKNOWN_FREES = 8192,
    /* Corruptions of blocks that have a record. Further corruptions are only counted. */
    LIMIT_CORRUPTIONS = 512,
    /* Records of recording modes. The ledger has 9 bits for the mode. When no record is left, a
     * change of the mode uses an earlier record of the same kind again. */
    LIMIT_MODES = 511,
    /* Snapshots in all, and the number of them that the timeline leaves to other snapshots. Further
     * snapshots are refused. In a month the timeline makes some 3,000. */
    LIMIT_SNAPSHOTS = 8192,
    LIMIT_SNAPSHOTS_ASKED = 1024,
    /* Values of counters at snapshots. They take 40 MiB. */
    LIMIT_HISTORY = 1 << 20,
    /* Names of the program's own heaps, and sets of labels. All further names share one record, and
     * so do all further sets. */
    LIMIT_HEAPS = 1024,
    LIMIT_LABEL_SETS = 4096,
    /* Named frames, each a function and a line. They take 5 MiB of the file. A large script has
     * some 10^4 lines that allocate. */
    LIMIT_NAMED = 1 << 17,
    /* Points of the timeline. When the timeline is full, every second point is dropped and the
     * interval doubles. */
    LIMIT_TIME_POINTS = 1024,
    /* Maximum number of events of a thread between two readings of the clock and the control
     * words. */
    LIMIT_TICK_EVENTS = 256,
    /* Waits for another thread to grow a table, up to a second in all. After that the event is
     * charged to "other" or lost. */
    LIMIT_GROW_WAITS = 10000,
};

/* Address space that is reserved for the counters of all threads, without memory. */
#define LIMIT_COUNTER_BYTES ((uint64_t)8 << 30)

/* Largest error of live bytes in the timeline and in snapshots if there are several threads: this,
 * or 1/1024 of the peak if that is more. For the peak itself see peak.c. */
#define LIMIT_PEAK_ERROR_BYTES ((int64_t)64 << 10)

#endif
