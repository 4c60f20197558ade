/* compiled_output.h: the directory of profiles that the build set with -fmemory-profile=DIR. Only
 * the recorder that counts accesses uses it. */
#ifndef PLATFORM_COMPILED_OUTPUT_H
#define PLATFORM_COMPILED_OUTPUT_H

#include <string.h>

#include "base/base.h"

#ifdef HEAPTAP_ACCESS
/* Name of the profile, which the compiler defines: "memprof.profraw", preceded by DIR if the option
 * had one. Other programs lack this variable, so its address is NULL. */
extern const char __memprof_profile_filename[] __attribute__((weak)); // NOLINT: its name
#endif

/* Return the length of DIR, the first characters of *RET_NAME; 0 if there is none. */
static inline size_t
compiled_output_directory(const char **ret_name)
{
    const char *slash = NULL;

#ifdef HEAPTAP_ACCESS
    const char *name = __memprof_profile_filename;

    __asm__("" : "+r"(name)); // The compiler assumes that no array has the address 0.
    *ret_name = name;
    slash = name != NULL ? strrchr(name, '/') : NULL;
#endif
    return slash != NULL ? (size_t)(slash - *ret_name) : 0;
}

#endif
