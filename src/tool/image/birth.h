/* birth.h: when a block was allocated, and by whom, as far as anything tells. See birth.c. */
#ifndef IMAGE_BIRTH_H
#define IMAGE_BIRTH_H

#include "image/examined.h"

enum { BIRTH_THREADS = 4 };

/* A thread that may have allocated the block. */
struct birth_thread {
    uint32_t tid;     // 0 = not known: one of those that have used the row.
    uint32_t uses;    // How many threads have.
    const char *name; // "" = not known.
};

struct birth {
    // Those that may have allocated it, at most BIRTH_THREADS of thread_count. 0 = not known.
    struct birth_thread threads[BIRTH_THREADS];
    uint32_t thread_count;
    bool annotated;    // The block itself says when and who.
    bool has_time;     // It was allocated from from_ns to to_ns, elapsed, as in the profile.
    uint64_t from_ns, to_ns; // The latter UINT64_MAX: until the memory was read.
    bool has_later;       // It is one of the latest of its thread:
    uint32_t later_count; // so many that this one allocated came later.
};

/* Find out for block B of E into *RET; what is in it is from ARENA. */
void birth_find(const struct examined *e, const struct block *b, struct arena *arena,
                struct birth *ret);

/* The elapsed time that the memory of E is of: of a dump, when a clock was last looked at. 0 = not
 * known. */
uint64_t birth_now(const struct examined *e);

#endif
