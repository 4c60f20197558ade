/* hook_slot.h: the interface between the recorder and the library of stubs that `heaptap run
 * --hook` writes.
 *
 * The library (launch/hook_stub.c) defines the requested names. Each is a stub with a slot and a
 * shape. It loads the address of the slot into the sixth argument register and jumps to the
 * recorder's entry for the shape, whose number is the index into HOOK_TABLE. So the recorder needs
 * no list of names, and passes on unread the arguments that a shape does not mention.
 *
 * One resolver per stub follows the stubs. Resolvers jump to the entry HOOK_BIND in the same way.
 *
 * The last page of the library's file is not loaded. In it the recorder marks the functions that
 * were called, one byte each. The tool reads the marks after the run. */
#ifndef BASE_HOOK_SLOT_H
#define BASE_HOOK_SLOT_H

#include "base/base.h"

/* The recorder's table of entries, a dynamic symbol of libheaptap.so. */
#define HOOK_TABLE "heaptap_hooks"

/* Shapes of functions. A shape gives the positions of the arguments that the recorder reads. Its
 * number is the index into HOOK_TABLE. */
enum hook_shape {
    HOOK_MALLOC = 0,         // (size)
    HOOK_CALLOC = 1,         // (count, size)
    HOOK_MEMALIGN = 2,       // (anything, size)
    HOOK_POSIX_MEMALIGN = 3, // (where to, anything, size); returns 0 on success
    HOOK_REALLOC = 4,        // (block, size)
    HOOK_REALLOCARRAY = 5,   // (block, count, size)
    HOOK_RUST_REALLOC = 6,   // (block, old size, alignment, size)
    HOOK_HEAP_CALLOC = 7,    // (heap, count, size)
    HOOK_HEAP_REALLOC = 8,   // (heap, block, size)
    HOOK_STRDUP = 9,         // (string)
    HOOK_STRNDUP = 10,       // (string, length)
    HOOK_FREE = 11,          // (block)
    HOOK_HEAP_FREE = 12,     // (heap, block)
    HOOK_SHAPES,
    // No shape, but the entry that the library calls once before all constructors, with the address
    // of the first stub, the number of stubs, and the address of the first slot.
    HOOK_BEGIN = HOOK_SHAPES,
    // No shape, but the entry that resolvers jump to: binds a symbol that had no definition at the
    // start. (STT_GNU_IFUNC).
    HOOK_BIND,
    HOOK_ENTRIES
};

struct hook_slot {
    int64_t name_off;   // Offset from the slot to the NUL-terminated name.
    int64_t symbol_off; // Offset from the slot to the stub's symbol, which is writable.
    uint64_t function;  // Atomic: address of the next definition of the name; 0 until the first
                        // call.
    uint64_t found;     // Atomic: address of the next definition found at the start; 0 = none.
    uint64_t variable;  // Address of the variable of that name found at the start; 0 = none.
    uint64_t mark_off;  // Offset of the function's mark in the file.
    uint64_t wanted;    // Not 0: a library loaded later may define the name, so the stub stays in
                        // place without a definition.
};

enum { HOOK_STUB_BYTES = 32 };

/* The marks occupy a separate page. */
enum { HOOK_MARK_PAGE_BYTES = 4096, HOOKS_MAX = 512 };

#endif
