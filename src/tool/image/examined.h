/* examined.h: all that is read out of the memory of a recorded process, before any view of it. */
#ifndef IMAGE_EXAMINED_H
#define IMAGE_EXAMINED_H

#include "image/blocks.h"
#include "profile/raw.h"

/* What a forked child has of the process that it comes from. */
struct inherited {
    bool forked;  // The process is such a child.
    bool silent;  // It has recorded nothing: stacks and names are those of its parent.
    bool unknown; // Some inherited memory cannot be separated into blocks.
    uint32_t parent; // Process id, as far as it is known.
    size_t count;    // Blocks.
    uint64_t bytes;
};

struct examined {
    struct memory memory;
    struct core_record record;
    struct blocks blocks;
    struct arena arena;  // Of the blocks and the profile.
    struct raw_file raw; // The profile that the sites are of, read after the blocks.
    const char *profile; // Where stacks and names are from: a path; NULL = the memory itself.
    bool stacks_carried; // The profile is gone: stacks are those that annotated blocks carry.
    struct inherited inherited;
    uint64_t read_ns;    // By the clock that `raw` counts from: before the blocks were.
    size_t running; // Threads of a process that was to be stopped that went on.
    size_t held;    // Those of which the kernel did not tell the registers.
    uint64_t stopped_ns; // How long a living process was stopped; 0 = it was not.
};

#endif
