/* ecl_start.c: the adapter for Lisp on ECL, on top of the one for libgc.
 *
 * ECL's own list of frames has the interpreted functions. Each record is in the C frame of the
 * interpreter's function that executes it, so its address assigns it to a C frame.
 *
 *     C frames, innermost first          ECL's records          compiled code
 *     SI::MAKE-STRUCTURE (libecl)                               named by ecl_make_cfun
 *     ecl_interpret                      DEMO::MAKE-POINT
 *     ecl_interpret                      DEMO::WORK
 *     L1main (a compiled file)                                  DEMO::MAIN
 *
 * Compiled functions have a record only if they were compiled with (debug 3); the recorder then
 * merges record and C frame into one frame.
 *
 * The layout of ECL's objects comes from the headers at build time. If the version at run time
 * differs, the program is recorded as one that uses libgc directly. */
#include <dlfcn.h>
#include <ecl/ecl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "base/atomics.h"
#include "base/base.h"
#include "heaptap/language.h"
#include "language/adapter_message.h"
#include "language/ecl_adapter.h"
#include "language/gc_record.h"

#define STACK_BYTES_MAX ((uintptr_t)1 << 32)
#define FRAME_BYTES_MAX 4096 // Upper bound of the part of a Lisp function's frame that contains
                             // records.

enum { PAGE_BYTES = 4096, GAP_BYTES = 16 * PAGE_BYTES, RECORDS_MAX = 1 << 14 };

static cl_env_ptr (*env_of_thread)(void);

/* The part of the thread's stack that was proved readable. It is proved once, because pages of a
 * stack stay mapped. END is 0 while the other members are invalid. */
static __thread struct {
    uintptr_t first, end;
} readable;

static __attribute__((noinline)) bool
ask_readable(uintptr_t first, uintptr_t end)
{
    uintptr_t from = first, to = end;

    if (readable.end != 0 && first >= readable.end && first - readable.end < GAP_BYTES)
        from = readable.end;
    if (readable.end != 0 && end <= readable.first && readable.first - end < GAP_BYTES)
        to = readable.first;
    if (!heaptap_can_read((const void *)from, to - from)) {
        // The gap between the two parts may be unmapped.
        if (!heaptap_can_read((const void *)first, end - first))
            return false;
        from = first;
        to = end;
    }
    if (from == readable.end)
        from = readable.first;
    if (to == readable.first)
        to = readable.end;
    store_relaxed(&readable.end, (uintptr_t)0);
    signal_fence();
    readable.first = from;
    signal_fence();
    store_relaxed(&readable.end, to);
    return true;
}

/* Return true if a record at AT is readable. */
static inline bool
is_readable(uintptr_t at)
{
    uintptr_t first = at & ~(uintptr_t)(PAGE_BYTES - 1);
    uintptr_t end =
        (at + sizeof(struct ecl_ihs_frame) + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);

    return likely(readable.first <= at && end <= readable.end) || ask_readable(first, end);
}

static size_t
ecl_start_frames(struct heaptap_frame *to, size_t max)
{
    // ECL's key for thread data does not exist before ECL boots.
    cl_env_ptr env = ecl_code_begun() ? env_of_thread() : NULL;
    uintptr_t last = (uintptr_t)__builtin_frame_address(0), first = last;
    size_t n = 0, left = RECORDS_MAX;

    if (env == NULL)
        return 0;
    // Records have rising addresses, except in a single C frame, where a local function was
    // compiled into another one. Any other record belongs to another stack, or is damaged.
    for (struct ecl_ihs_frame *i = env->ihs_top; i != NULL && n < max && left > 0; i = i->next) {
        uintptr_t at = (uintptr_t)i;
        unsigned id;

        if (at <= first || at + FRAME_BYTES_MAX <= last || at - first > STACK_BYTES_MAX ||
            at % 8 != 0 || !is_readable(at))
            break;
        left--;
        last = at > last ? at : last;
        id = ecl_name_of_function(i->function);
        if (id != 0)
            to[n++] = (struct heaptap_frame){.at = at, .id = id};
    }
    return n;
}

static const struct heaptap_language lisp = {
    .size = sizeof lisp, .name = "Lisp", .frames = ecl_start_frames, .code = ecl_code_of};

static const struct gc_runtime runtime = {.kinds = ecl_type_names,
                                          .now = ecl_types_now,
                                          .collected = ecl_names_invalidate,
                                          .freed = ecl_names_invalidate_one};

/* --- Which ECL it is -------------------------------------------------------------------------- */

enum { HEADERS_MAJOR = ECL_VERSION_NUMBER / 10000, HEADERS_MINOR = ECL_VERSION_NUMBER / 100 % 100 };

static unsigned
number_at(const char **text)
{
    unsigned n = 0;

    while (**text >= '0' && **text <= '9')
        n = n * 10 + (unsigned)(*(*text)++ - '0');
    return n;
}

/* Examine a loaded object. At ECL's library, return 1 if its version equals the headers', else 2,
 * which stops the search. */
static int
ecl_start_look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
    static const char name[] = "/libecl.so.";
    const char *at = strstr(info->dlpi_name, name);
    unsigned major, minor;

    (void)size;
    (void)arg;
    if (at == NULL)
        return 0;
    at += sizeof name - 1;
    major = number_at(&at);
    at += *at == '.';
    minor = number_at(&at);
    return major == HEADERS_MAJOR && minor == HEADERS_MINOR ? 1 : 2;
}

/* A function of ECL, NULL in other programs, as gc_base_function is. */
extern __attribute__((weak)) const char env_function[] __asm__("ecl_process_env_unsafe");

__attribute__((constructor)) static void
ecl_start_begin(void)
{
    static const char other[] = "heaptap: the adapter for Lisp was built for another version of "
                                "ECL; stacks show C functions\n";
    int found = dl_iterate_phdr(ecl_start_look_at, NULL);
    const void *boot = env_function != NULL ? dlsym(RTLD_NEXT, "cl_boot") : NULL;

    if (found == 2)
        adapter_message(other, sizeof other - 1);
    *(const void **)&env_of_thread = env_function;
    if (found != 1 || boot == NULL || env_of_thread == NULL)
        return;
    gc_runtime = &runtime;
    gc_runtime_code(boot, NULL);
    heaptap_language_add(&lisp);
}
