/* resident_words.c: uses of resident memory in words, and advice on it. */
#include "view/phrases.h"

#include "view/style.h"

// Advice is given from this share of the resident memory on, and from this many bytes on.
enum { ADVICE_SHARE = 20, ADVICE_BYTES = 1 << 20, ARENAS_MANY = 3 };

const char *
resident_part_name(enum resident_part part)
{
    static const char *const names[RESIDENT_PARTS] = {
        [RESIDENT_LIVE] = "live",
        [RESIDENT_BACKING] = "heaps",
        [RESIDENT_ROUNDING] = "rounding",
        [RESIDENT_HEADERS] = "headers",
        [RESIDENT_CACHED] = "cached",
        [RESIDENT_FASTBINS] = "fastbins",
        [RESIDENT_FREE] = "free",
        [RESIDENT_TOP] = "top",
        [RESIDENT_UNRECORDED] = "unrecorded",
        [RESIDENT_ALLOCATOR] = "allocator",
        [RESIDENT_STACKS] = "stacks",
        [RESIDENT_CODE] = "code",
        [RESIDENT_FILES] = "files",
        [RESIDENT_SHARED] = "shared",
        [RESIDENT_MAPPED] = "mapped",
        [RESIDENT_RECORDER] = "recorder",
        [RESIDENT_UNKNOWN] = "unknown",
    };

    return names[part];
}

const char *
resident_part_words(enum resident_part part)
{
    static const char *const words[RESIDENT_PARTS] = {
        [RESIDENT_LIVE] = "live blocks",
        [RESIDENT_BACKING] = "live blocks that back the program's heaps",
        [RESIDENT_ROUNDING] = "rounding of their sizes",
        [RESIDENT_HEADERS] = "glibc's words between blocks",
        [RESIDENT_CACHED] = "freed, in caches of threads",
        [RESIDENT_FASTBINS] = "freed, in fastbins: not merged with neighbours",
        [RESIDENT_FREE] = "freed, between blocks in use",
        [RESIDENT_TOP] = "freed, at the ends of arenas",
        [RESIDENT_UNRECORDED] = "in use, but not recorded",
        [RESIDENT_ALLOCATOR] = "the allocator's: free, or its own data",
        [RESIDENT_STACKS] = "stacks of threads",
        [RESIDENT_CODE] = "code and variables of the program and libraries",
        [RESIDENT_FILES] = "other mapped files",
        [RESIDENT_SHARED] = "memory shared with other processes",
        [RESIDENT_MAPPED] = "mapped by the program without malloc",
        [RESIDENT_RECORDER] = "heaptap's recorder and profile",
        [RESIDENT_UNKNOWN] = "not known: a heap could not be walked to its end",
    };

    return words[part];
}

/* Return true if BYTES of R's memory deserve advice. */
static bool
is_worthwhile(const struct resident *r, uint64_t bytes)
{
    return bytes >= ADVICE_BYTES && bytes >= r->rss_bytes / ADVICE_SHARE;
}

static uint64_t
free_in_other_arenas(const struct resident *r)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < r->heap_count; i++)
        sum += r->heaps[i].is_main ? 0 : r->heaps[i].free_bytes;
    return sum;
}

const char *
resident_advice(struct arena *arena, const struct resident *r)
{
    uint64_t others = free_in_other_arenas(r);

    if (is_worthwhile(r, r->trim_bytes))
        return arena_printf(arena,
                            "malloc_trim(0) would return %s to the system; a smaller "
                            "MALLOC_TRIM_THRESHOLD_ returns the end of the heap earlier.",
                            style_bytes(arena, (int64_t)r->trim_bytes));
    if (is_worthwhile(r, others) && r->heap_count >= ARENAS_MANY)
        return arena_printf(arena,
                            "%s are free in arenas of threads; MALLOC_ARENA_MAX=2 makes threads "
                            "share arenas.",
                            style_bytes(arena, (int64_t)others));
    if (r->pin_count > 0 && is_worthwhile(r, r->pins[0].returned_bytes))
        return "Freed memory lies between live blocks; the stacks below keep most of it. Allocate "
               "these blocks before the short-lived ones.";
    if (is_worthwhile(r, r->parts[RESIDENT_CACHED]))
        return "GLIBC_TUNABLES=glibc.malloc.tcache_count=0 starts the program without caches of "
               "threads.";
    return NULL;
}
