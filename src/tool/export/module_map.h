/* module_map.h: mappings of address ranges to file ranges, as in /proc/PID/maps. */
#ifndef EXPORT_MODULE_MAP_H
#define EXPORT_MODULE_MAP_H

#include "profile/profile.h"

struct module_segment {
    uint64_t start, end;  // Addresses in the recorded process; multiples of a page.
    uint64_t file_offset; // File offset of start.
};

enum { MODULE_SEGMENTS_MAX = 8 };

/* Store the executable segments of P's module M in RET, by address. Return their number, at least
 * one and at most MODULE_SEGMENTS_MAX. */
size_t module_code(const struct profile *p, const struct profile_module *m,
                   struct module_segment *ret);

/* Store the ids of P's modules (without 0) in RET, the program itself first, the others in P's
 * order. RET has room for P's module_count ids. Return their number. */
size_t module_order(const struct profile *p, uint32_t *ret);

#endif
