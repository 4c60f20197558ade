/* examined.h: the data read from the memory of a recorded process, before any view of it. */
#ifndef IMAGE_EXAMINED_H
#define IMAGE_EXAMINED_H

#include "image/blocks.h"
#include "profile/raw.h"

/* The memory that a forked child has inherited from its parent. */
struct inherited {
    bool forked;  // The process is a forked child.
    bool silent;  // The child has recorded nothing: stacks and names are its parent's.
    bool unknown; // Some inherited memory cannot be separated into blocks.
    bool sampled;    // Inherited blocks are left out: they look like unsampled ones of its own.
    uint32_t parent; // Process id; 0 = not known.
    size_t count;    // Blocks.
    uint64_t bytes;
};

struct examined {
    struct memory memory;
    struct core_record record;
    struct blocks blocks;
    struct arena arena;  // For the blocks and the profile.
    struct raw_file raw; // The profile with the blocks' sites, read after the blocks.
    const char *profile; // Path of the profile; NULL = it is in the memory, or gone.
    bool live_only;      // The profile counts live blocks alone, and no objects of own heaps.
    bool stacks_carried; // The profile is gone: the stacks are from the annotated blocks.
    struct inherited inherited;
    uint64_t read_ns;    // When the reading of blocks began, by the clock of `raw`.
    size_t running; // Threads that should be stopped but keep running.
    size_t held;    // Threads that the kernel holds, so that their registers are not known.
    uint64_t stopped_ns; // For how long a live process was stopped; 0 = it was not.
};

#endif
