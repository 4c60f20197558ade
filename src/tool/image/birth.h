/* birth.h: the time and the thread of a block's allocation, as far as they can be found. See
 * birth.c. */
#ifndef IMAGE_BIRTH_H
#define IMAGE_BIRTH_H

#include "image/examined.h"

enum { BIRTH_THREADS = 4 };

/* A thread that may have allocated the block. */
struct birth_thread {
    uint32_t tid;     // 0 = not known: any thread that has used the row.
    uint32_t uses;    // Number of threads that have used the row.
    const char *name; // "" = not known.
};

struct birth {
    // Threads that may have allocated the block: the first BIRTH_THREADS of thread_count. 0 = not
    // known.
    struct birth_thread threads[BIRTH_THREADS];
    uint32_t thread_count;
    bool annotated;    // The block's annotation names the time or the thread.
    bool has_time;     // Allocated between from_ns and to_ns, elapsed as in the profile.
    uint64_t from_ns, to_ns; // to_ns is UINT64_MAX if the reading of the memory is the bound.
    bool has_later;       // The block is among the latest of its thread, which
    uint32_t later_count; // has made this many later allocations.
};

/* Find time and thread of block B of E and store them in *RET. Strings are from ARENA. */
void birth_find(const struct examined *e, const struct block *b, struct arena *arena,
                struct birth *ret);

/* Return the elapsed time of the memory of E: for a dump, when the recorder last read a clock. 0 =
 * not known. */
uint64_t birth_now(const struct examined *e);

#endif
