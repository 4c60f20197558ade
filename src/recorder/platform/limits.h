/* limits.h: every limit of the recorder, and its reason. Beyond a limit, stacks are shortened, and
 * events are charged to "other" or counted as lost; nothing fails. */
#ifndef PLATFORM_LIMITS_H
#define PLATFORM_LIMITS_H

#include "base/base.h"
#include "format/format.h"

enum {
    /* cc1 and python make some 10^4 nodes, a compiler on a huge file 10^5, a documentation
     * generator 10^7. The bound on memory ends the tree before this does (mem.h): a node takes 32
     * bytes of file and some 50 of index. Then the tree keeps the innermost frames (nodes.c). */
    LIMIT_NODES = 1 << 28,
    /* The ledger entry has 22 bits for the site. */
    LIMIT_SITES = (1 << 22) - 1,
    /* Threads alive at once. More are not recorded. */
    LIMIT_THREADS = 16384,
    /* Distinct modules over the life of the process; the frame has 16 bits for the module. */
    LIMIT_MODULES = 8192,
    /* Pieces of private memory whose use is reported: a few per thread, one per 16 MiB of heap. */
    LIMIT_REGIONS = 8192,
    /* Frames kept of one stack, from the innermost out. */
    LIMIT_DEPTH = DISK_DEPTH_MAX,
    /* Bytes of strings: paths and the command line. */
    LIMIT_STRINGS = 8 << 20,
    /* Stacks with unknown frees; more are counted without their stack. */
    LIMIT_UNKNOWN_FREES = 8192,
    /* Corruptions of blocks with a record; more are only counted. */
    LIMIT_CORRUPTIONS = 512,
    /* Changes of the recording mode; the ledger has 9 bits for them. When they have run out, an
     * earlier mode of the same kind is reused. */
    LIMIT_MODES = 511,
    /* Snapshots, including the timeline's, and how many of them are reserved for others. More are
     * refused. In a month the timeline takes some 3,000. */
    LIMIT_SNAPSHOTS = 8192,
    LIMIT_SNAPSHOTS_ASKED = 1024,
    /* Counter values at snapshots: 40 MiB. */
    LIMIT_HISTORY = 1 << 20,
    /* Names of the program's own heaps, and sets of labels. Further ones share one record. */
    LIMIT_HEAPS = 1024,
    LIMIT_LABEL_SETS = 4096,
    /* Frames with names, each a function and a line: 5 MiB of the file. A large script has some
     * 10^4 lines that allocate. */
    LIMIT_NAMED = 1 << 17,
    /* Points of the timeline; when it is full, every second one is dropped and the interval
     * doubles. */
    LIMIT_TIME_POINTS = 1024,
    /* Maximum number of events of a thread between two readings of the clock and the control
     * words. */
    LIMIT_TICK_EVENTS = 256,
    /* Attempts to wait until another thread has grown a table, up to a second in all, before the
     * event goes to "other" or is lost. */
    LIMIT_GROW_WAITS = 10000,
};

/* Address space for the counters of all threads. Reserved, not prefaulted. */
#define LIMIT_COUNTER_BYTES ((uint64_t)8 << 30)

/* With threads, live bytes in the timeline and in snapshots may be wrong by this much or 1/1024 of
 * the peak, whichever is more. For the peak itself see peak.c. */
#define LIMIT_PEAK_ERROR_BYTES ((int64_t)64 << 10)

#endif
