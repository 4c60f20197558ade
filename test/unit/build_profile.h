/* build_profile.h: profiles by construction, for tests. A stack is written as people read one:
 *
 *     struct profile *p = build_profile_new();
 *     build_site(p, build_counters(3, 300, 1, 100), "+make@a.c:3", "work@a.c:10",
 * "main@a.c:20!prog", NULL);
 *
 * A frame is "function", "function@file:line" or "function@file:line!module", innermost first. A
 * leading "+" means inlined into the next frame; an empty function ("@a.c:3", "!libx.so") is an
 * unknown one. Frames without a module belong to "/usr/bin/prog". Equal frames get equal locations,
 * equal stacks one node. */
#ifndef TEST_UNIT_BUILD_PROFILE_H
#define TEST_UNIT_BUILD_PROFILE_H

#include "profile/profile.h"

/* An empty symbolised profile of an ended process "prog --test". Owned: profile_free. */
struct profile *build_profile_new(void);

/* Counters of ALLOCATIONS calls of equal size, FREES of them freed. The peak equals the live bytes
 * at the end. */
struct counters build_counters(int64_t allocations, int64_t allocated_bytes, int64_t frees,
                               int64_t freed_bytes);

/* Add a site with the stack that follows, ended by NULL; without any frame it is the site "other".
 * The totals follow, and so does the size class, from size_max. Returns the index of the site. */
uint32_t build_site(struct profile *p, struct counters counters, ...) __attribute__((sentinel));

/* A profile of three stacks and the site "other", for exporters: make is inlined into work. Live
 * are 200 + 50 + 7 + 5 bytes. */
struct profile *build_profile_small(void);

/* As build_site, with the stack in an array of COUNT frames. */
uint32_t build_site_frames(struct profile *p, struct counters counters, const char *const *frames,
                           size_t count);

/* Add a heap of the program's own; returns its index. */
uint32_t build_heap(struct profile *p, const char *name);

/* Add a set of labels, key and value in turn up to NULL, by key; returns its index. */
uint32_t build_labels(struct profile *p, const char *first_key, ...) __attribute__((sentinel));

/* Set the heap and the labels of SITE's blocks. */
void build_tags(struct profile *p, uint32_t site, uint32_t heap, uint32_t labels);

/* Add a thread; returns its index. */
uint32_t build_thread(struct profile *p, const char *name);

/* Add COUNTERS to THREAD's row at SITE. The totals do not change: build_site has counted them. */
void build_thread_site(struct profile *p, uint32_t thread, uint32_t site, struct counters counters);

/* Add a size bin. */
void build_bin(struct profile *p, uint64_t size_min, uint64_t size_max, struct counters counters);

#endif
