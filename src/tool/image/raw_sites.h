/* raw_sites.h: add sites with named frames to a profile. */
#ifndef IMAGE_RAW_SITES_H
#define IMAGE_RAW_SITES_H

#include "profile/raw.h"

/* Add COUNT stacks to copies of RAW's tables. Stack I has one frame, with name I of NAMES. Return
 * the site for the smallest blocks of the first stack; 0 if there is no room. The sites of a stack
 * are consecutive, by size class (disk_size_class), and the next stack has the next sites. */
uint32_t raw_sites_add(struct raw_file *raw, const char *const *names, size_t count);

#endif
