/* module_map.h: mappings of addresses to parts of files, in the kernel's terms. */
#ifndef EXPORT_MODULE_MAP_H
#define EXPORT_MODULE_MAP_H

#include "profile/profile.h"

struct module_segment {
    uint64_t start, end;  // In the recorded process, whole pages.
    uint64_t file_offset; // File offset of start.
};

enum { MODULE_SEGMENTS_MAX = 8 };

/* Fill RET with the executable segments of P's module M, by address; returns how many: at least
 * one, at most MODULE_SEGMENTS_MAX. */
size_t module_code(const struct profile *p, const struct profile_module *m,
                   struct module_segment *ret);

/* Fill RET with the ids of P's modules (not 0), the program itself first, the others in P's order.
 * RET has room for P's module_count; returns how many there are. */
size_t module_order(const struct profile *p, uint32_t *ret);

#endif
