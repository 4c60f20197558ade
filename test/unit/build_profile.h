/* build_profile.h: build profiles for tests. A stack is an argument list of frames:
 *
 *     struct profile *p = build_profile_new();
 *     build_site(p, build_counters(3, 300, 1, 100), "+make@a.c:3", "work@a.c:10",
 * "main@a.c:20!prog", NULL);
 *
 * A frame is "function", "function@file:line" or "function@file:line!module", innermost first. A
 * leading "+" means inlined into the next frame, a leading "-" that other files may define other
 * functions of the name; an empty function ("@a.c:3", "!libx.so") is an
 * unknown one. Frames without a module belong to "/usr/bin/prog". Equal frames get equal locations,
 * equal stacks one node. */
#ifndef TEST_UNIT_BUILD_PROFILE_H
#define TEST_UNIT_BUILD_PROFILE_H

#include "profile/profile.h"

/* Return an empty symbolised profile of an ended process "prog --test". Free it with
 * profile_free. */
struct profile *build_profile_new(void);

/* Return the counters of ALLOCATIONS allocations of equal size and of FREES frees. The peak
 * equals the live bytes at the end. */
struct counters build_counters(int64_t allocations, int64_t allocated_bytes, int64_t frees,
                               int64_t freed_bytes);

/* Add a site with the stack that follows, ended by NULL. A stack without frames is the site
 * "other". The totals include the site, and its size class follows from size_max. Return the index
 * of the site. */
uint32_t build_site(struct profile *p, struct counters counters, ...) __attribute__((sentinel));

/* Return a profile for exporters, with three stacks and the site "other": make is inlined into
 * work. 200 + 50 + 7 + 5 bytes are live. */
struct profile *build_profile_small(void);

/* Like build_site, with the stack in an array of COUNT frames. */
uint32_t build_site_frames(struct profile *p, struct counters counters, const char *const *frames,
                           size_t count);

/* Add a heap of the program; return its index. */
uint32_t build_heap(struct profile *p, const char *name);

/* Add a set of labels, given as keys and values in turn up to NULL, sorted by key. Return its
 * index. */
uint32_t build_labels(struct profile *p, const char *first_key, ...) __attribute__((sentinel));

/* Set the heap and the labels of SITE's blocks. */
void build_tags(struct profile *p, uint32_t site, uint32_t heap, uint32_t labels);

/* Add a thread; return its index. */
uint32_t build_thread(struct profile *p, const char *name);

/* Add COUNTERS to THREAD's row at SITE. The totals do not change, because build_site has counted
 * them. */
void build_thread_site(struct profile *p, uint32_t thread, uint32_t site, struct counters counters);

/* Add a size bin. */
void build_bin(struct profile *p, uint64_t size_min, uint64_t size_max, struct counters counters);

#endif
