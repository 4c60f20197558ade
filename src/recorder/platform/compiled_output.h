/* compiled_output.h: where profiles go if the program was built with -fmemory-profile=DIR. Only
 * what counts accesses looks at that. */
#ifndef PLATFORM_COMPILED_OUTPUT_H
#define PLATFORM_COMPILED_OUTPUT_H

#include <string.h>

#include "base/base.h"

#ifdef HEAPTAP_ACCESS
/* The compiler's: "memprof.profraw", or that in DIR. NULL where nothing was built so. */
extern const char __memprof_profile_filename[] __attribute__((weak)); // NOLINT: its name
#endif

/* The length of DIR, which *RET_NAME begins with; 0 if there is none. */
static inline size_t
compiled_output_directory(const char **ret_name)
{
    const char *slash = NULL;

#ifdef HEAPTAP_ACCESS
    const char *name = __memprof_profile_filename;

    __asm__("" : "+r"(name)); // The compiler believes that no array has the address 0.
    *ret_name = name;
    slash = name != NULL ? strrchr(name, '/') : NULL;
#endif
    return slash != NULL ? (size_t)(slash - *ret_name) : 0;
}

#endif
