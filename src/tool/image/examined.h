/* examined.h: data read from the memory of a recorded process, for all views of it. */
#ifndef IMAGE_EXAMINED_H
#define IMAGE_EXAMINED_H

#include "image/blocks.h"
#include "profile/raw.h"

/* Memory that a forked child has inherited from its parent. */
struct inherited {
    bool forked;  // The process is a forked child.
    bool silent;  // The child has recorded nothing: stacks and names are its parent's.
    bool unknown; // Some inherited memory cannot be separated into blocks.
    bool sampled;    // Inherited blocks are left out, because the child sampled: its unsampled
                     // blocks look the same.
    uint32_t parent; // Process id; 0 = unknown.
    size_t count;    // Number of blocks.
    uint64_t bytes;
};

struct examined {
    struct memory memory;
    struct core_record record;
    struct blocks blocks;
    struct arena arena;  // Owns the blocks and the profile.
    struct raw_file raw; // Profile with the blocks' sites, read after the blocks.
    const char *profile; // Path of the profile; NULL = in the memory, or gone.
    bool live_only;      // The profile has only live blocks, and none of the program's heaps.
    bool stacks_carried; // The profile is gone: stacks are from the annotated blocks.
    struct inherited inherited;
    uint64_t read_ns;    // Time when reading blocks began, by the clock of `raw`.
    size_t running; // Number of threads that could not be stopped.
    size_t held;    // Number of threads held by the kernel, whose registers are unknown.
    uint64_t stopped_ns; // Duration of a live process's stop; 0 = not stopped.
};

#endif
