/* limit_opts.h: parse limits on the command line.
 *
 *     peak=5%,leaks=0,allocations=10%,inuse=1M        limits by name
 *     leaks                                           same as leaks=0
 *     5%                                              limit of the default quantities */
#ifndef OPTION_LIMIT_OPTS_H
#define OPTION_LIMIT_OPTS_H

#include "analyse/limit_check.h"

struct limit_rules {
    const char *option;  // Name of the option, for messages.
    uint32_t names;      // Permitted names, as bits 1 << enum limit_of.
    uint32_t unnamed;    // Quantities for a limit without a name; 0 = a name is required.
    bool percents;       // Percentages are allowed.
};

/* Parse TEXT into RET, replacing its contents; a later limit replaces an earlier one of the same
 * name. Returns 0, or HEAPTAP_USAGE with ERR set. */
int limits_parse(const char *text, const struct limit_rules *rules, struct limits *ret,
                 struct err *err);

#endif
