/* symbol_frame.h: what the parts of the symboliser hand to each other before it becomes a profile's
 * frames. */
#ifndef SYMBOL_SYMBOL_FRAME_H
#define SYMBOL_SYMBOL_FRAME_H

#include "base/base.h"

/* One frame as the source sees it. NULL strings and line 0 mean unknown. The strings belong to
 * whoever made it. */
struct symbol_frame {
    const char *function; // Demangled, complete.
    const char *linkage;  // The raw symbol name.
    const char *file;
    uint32_t line;
    bool inlined;         // Inlined into the next frame of the same address.
};

/* How deep inlining is followed, the physical function included. The deepest chain met in practice
 * (Rust iterators at -O3) was below 40; what is deeper loses its innermost frames. */
enum { SYMBOL_FRAMES_MAX = 128 };

/* What a module had to offer, in rising order. Stored in cache files: never renumber. */
enum symbol_detail {
    DETAIL_NONE = 0,    // No symbol at all.
    DETAIL_EXPORTS = 1, // Only the dynamic symbols: stripped.
    DETAIL_SYMBOLS = 2, // The full symbol table, but no debug information.
    DETAIL_DEBUG = 3,   // Debug information.
};

#endif
