/* symbol_frame.h: frames within the symboliser, before they become a profile's frames. */
#ifndef SYMBOL_SYMBOL_FRAME_H
#define SYMBOL_SYMBOL_FRAME_H

#include "base/base.h"

/* One frame from a source. NULL strings and line 0 mean unknown. The source owns the strings. */
struct symbol_frame {
    const char *function; // Demangled, complete.
    const char *linkage;  // The raw symbol name.
    const char *file;
    uint32_t line;
    // True if the function is inlined into the next frame of the same address.
    bool inlined;
    // True if other source files may define other functions of this name, as with static in C.
    bool local;
};

/* Maximum number of frames at one address, including the physical function. The deepest inlining
 * found in practice (Rust iterators at -O3) was below 40. Deeper chains lose their innermost
 * frames. */
enum { SYMBOL_FRAMES_MAX = 128 };

/* Level of detail of a module, in ascending order. Stored in cache files: never renumber. */
enum symbol_detail {
    DETAIL_NONE = 0,    // No symbols.
    DETAIL_EXPORTS = 1, // The file is stripped and has only the dynamic symbols.
    DETAIL_SYMBOLS = 2, // The full symbol table, without debug information.
    DETAIL_DEBUG = 3,   // Debug information.
};

#endif
