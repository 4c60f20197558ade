/* birth.h: time and thread of a block's allocation, as far as they can be determined. See
 * birth.c. */
#ifndef IMAGE_BIRTH_H
#define IMAGE_BIRTH_H

#include "image/examined.h"

enum { BIRTH_THREADS = 4 };

/* A thread that may have allocated the block. */
struct birth_thread {
    uint32_t tid;     // 0 = unknown: any thread that used the row.
    uint32_t uses;    // Number of threads that used the row.
    const char *name; // "" = unknown.
};

struct birth {
    // Threads that may have allocated the block: the first BIRTH_THREADS of thread_count.
    // thread_count 0: unknown.
    struct birth_thread threads[BIRTH_THREADS];
    uint32_t thread_count;
    bool annotated;    // Time or thread is from the block's annotation.
    bool has_time;     // Allocated between from_ns and to_ns; elapsed times as in the profile.
    uint64_t from_ns, to_ns; // to_ns is UINT64_MAX if only the time of reading bounds it.
    bool has_later;       // The block is among the latest of its thread.
    uint32_t later_count; // Number of later allocations of that thread.
};

/* Find time and thread of the allocation of block B of E and store them in *RET. Strings are from
 * ARENA. */
void birth_find(const struct examined *e, const struct block *b, struct arena *arena,
                struct birth *ret);

/* Return the elapsed time at which E's memory was read; for a dump, when the recorder last read a
 * clock. 0 = unknown. */
uint64_t birth_now(const struct examined *e);

#endif
