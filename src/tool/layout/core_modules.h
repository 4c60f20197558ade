/* core_modules.h: find the programs and libraries in a core. */
#ifndef LAYOUT_CORE_MODULES_H
#define LAYOUT_CORE_MODULES_H

#include "layout/annotated_profile.h"
#include "layout/memory_file.h"

/* Return the objects that CORE's process had mapped, if their headers are in PARTS of its memory or
 * in their files. An array from ARENA. */
struct annotated_module *core_modules(const struct memory_file *core,
                                      const struct memory_parts *parts, struct arena *arena,
                                      size_t *ret_count);

#endif
