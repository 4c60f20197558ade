/* attach_how.h: how to attach, and the cost for the process. */
#ifndef ATTACH_ATTACH_HOW_H
#define ATTACH_ATTACH_HOW_H

#include "base/base.h"

/* A function to be recorded like an allocator's. */
struct attach_hook {
    const char *symbol;
    uint32_t shape;     // enum hook_shape
    const char *preset; // Name of the preset that contains it; NULL: the user named the symbol.
};

/* How to record. */
struct attach_how {
    const char *library;     // Path of libheaptap_attach.so.
    const char *settings;    // For the recorder: "NAME=VALUE", NUL, and so on.
    size_t settings_bytes;   // Without the final empty one.
    int profile_fd;          // The empty profile, open for writing.
    const char *profile;     // Its absolute path.
    // Blocks that are in use before, and their usable bytes, from earlier_count; 0 = not known.
    uint64_t earlier_blocks, earlier_bytes;
    const struct attach_hook *hooks;
    size_t hook_count;
};

/* Effects of an attach or detach on the process. */
struct attach_cost {
    uint64_t stopped_ns;  // Duration of the stop of all threads.
    uint64_t borrowed_ns; // Duration of the stop of the borrowed thread.
    size_t threads;
    size_t moved;    // Threads that were moved out of overwritten instructions.
    size_t attempts; // Stops of all threads.
};

#endif
