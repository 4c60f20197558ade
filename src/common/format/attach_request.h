/* attach_request.h: the contract between `heaptap attach` and libheaptap_attach.so.
 *
 * The tool maps the library into a running process by hand: no loader runs there, so the library
 * has no constructor, no environment and no link order. Before the first call the tool writes this
 * struct, which the library exports as heaptap_attach_request. Addresses are addresses in the
 * process.
 *
 *     tool: map, relocate, write the request -> heaptap_attach_begin -> write the jumps
 *     tool: write the original bytes back -> wait until no thread is inside
 *           -> heaptap_attach_end -> unmap
 *
 * The tool writes a jump at the beginning of each real function, to the library's function
 * heaptap_attached_NAME. The real function's first instructions are in a trampoline, which
 * continues behind them; `functions` has the trampolines.
 *
 * Functions of other names and of other kinds are hooked. The jump of hook number I leads to a stub
 * that the tool has written. It loads the address of `hooks[I]` into the sixth argument register
 * and jumps to the entry heaptap_attached_hooks[SHAPE] of the library. */
#ifndef FORMAT_ATTACH_REQUEST_H
#define FORMAT_ATTACH_REQUEST_H

#include "base/base.h"
#include "base/hook_slot.h"

#define ATTACH_MAGIC UINT64_C(0x4843415454414548) // "HEATTACH"

enum { ATTACH_VERSION = 2, ATTACH_SETTINGS_BYTES = 8192, ATTACH_HOOKS_MAX = 256 };

/* The functions of an allocator that are replaced by jumps, and dlclose. */
#define ATTACH_FUNCTIONS(X)                                                                        \
    X(malloc)                                                                                      \
    X(calloc)                                                                                      \
    X(realloc)                                                                                     \
    X(reallocarray)                                                                                \
    X(free)                                                                                        \
    X(posix_memalign)                                                                              \
    X(aligned_alloc)                                                                               \
    X(memalign)                                                                                    \
    X(valloc)                                                                                      \
    X(pvalloc)                                                                                     \
    X(dlclose)

/* C++'s operators, by their mangled names. They are replaced only if the allocator defines them.
 * The C++ library's operators call malloc and free. */
#define ATTACH_OPERATORS(X)                                                                        \
    X(_Znwm)                                                                                       \
    X(_Znam)                                                                                       \
    X(_ZnwmRKSt9nothrow_t)                                                                         \
    X(_ZnamRKSt9nothrow_t)                                                                         \
    X(_ZnwmSt11align_val_t)                                                                        \
    X(_ZnamSt11align_val_t)                                                                        \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t)                                                          \
    X(_ZnamSt11align_val_tRKSt9nothrow_t)                                                          \
    X(_ZdlPv)                                                                                      \
    X(_ZdaPv)                                                                                      \
    X(_ZdlPvm)                                                                                     \
    X(_ZdaPvm)                                                                                     \
    X(_ZdlPvRKSt9nothrow_t)                                                                        \
    X(_ZdaPvRKSt9nothrow_t)                                                                        \
    X(_ZdlPvSt11align_val_t)                                                                       \
    X(_ZdaPvSt11align_val_t)                                                                       \
    X(_ZdlPvmSt11align_val_t)                                                                      \
    X(_ZdaPvmSt11align_val_t)                                                                      \
    X(_ZdlPvSt11align_val_tRKSt9nothrow_t)                                                         \
    X(_ZdaPvSt11align_val_tRKSt9nothrow_t)

/* The search for the object at an address. It is replaced because an exception of operator new
 * passes frames of the library, which the dynamic linker does not know. */
#define ATTACH_FINDER(X) X(_dl_find_object)

/* The owner of a thread's memory of the recorder, at heaptap_attach_owner in that memory. */
#define ATTACH_OWNER_MAGIC 0x52454e57u
struct attach_owner {
    uint32_t tid, magic;
};

#define ATTACH_FUNCTION_ID(name) ATTACH_##name,
enum attach_function {
    ATTACH_FUNCTIONS(ATTACH_FUNCTION_ID)
    ATTACH_FINDER(ATTACH_FUNCTION_ID)
    ATTACH_OPERATORS_FROM,
    ATTACH_OPERATORS_BEFORE = ATTACH_OPERATORS_FROM - 1, // Lets the first operator have that index.
    ATTACH_OPERATORS(ATTACH_FUNCTION_ID)
    ATTACH_FUNCTION_COUNT
};

struct attach_request {
    uint64_t magic;
    uint32_t version;
    uint32_t tid_off; // Offset of the thread's id from its thread pointer.
    uint64_t functions[ATTACH_FUNCTION_COUNT]; // 0 = the function does not exist.
    uint64_t usable_size; // malloc_usable_size of the same allocator; 0 = none.
    uint32_t is_glibc;    // 1 = all functions are glibc's.
    uint32_t is_quiet;    // 1 = make no system call after the start.
    int32_t profile_fd;   // Descriptor of the profile, which is empty and open for writing.
    // Code of the library that defines malloc, if its functions are not the program's or libc's.
    uint64_t allocator_start, allocator_bytes;
    struct hook_slot hooks[ATTACH_HOOKS_MAX]; // Only `function` is used: the trampoline.
    char settings[ATTACH_SETTINGS_BYTES]; // "NAME=VALUE", NUL, and so on; ends with an empty one.
};

#endif
