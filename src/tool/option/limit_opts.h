/* limit_opts.h: limits on the command line.
 *
 *     peak=5%,leaks=0,allocations=10%,inuse=1M        each by its name
 *     leaks                                           the same as leaks=0
 *     5%                                              the default of RULES */
#ifndef OPTION_LIMIT_OPTS_H
#define OPTION_LIMIT_OPTS_H

#include "analyse/limit_check.h"

struct limit_rules {
    const char *option;  // Its name, for messages.
    uint32_t names;      // Bit 1 << enum limit_of of those that may be named.
    uint32_t unnamed;    // Quantities of a limit without a name; 0 = not allowed.
    bool percents;       // Percentages are allowed.
};

/* Parse TEXT into RET, replacing its contents; the later of two equal names wins. Returns 0, or
 * HEAPTAP_USAGE with ERR set. */
int limits_parse(const char *text, const struct limit_rules *rules, struct limits *ret,
                 struct err *err);

#endif
