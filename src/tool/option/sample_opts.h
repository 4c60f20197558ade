/* sample_opts.h: --sample and --sample-count, for `run` and `record`. */
#ifndef OPTION_SAMPLE_OPTS_H
#define OPTION_SAMPLE_OPTS_H

#include "util/err.h"

/* Check that the recorder accepts BYTES of --sample and COUNT of --sample-count (0 = not given).
 * Returns 0, or HEAPTAP_USAGE with ERR set. */
int sample_opts_check(uint64_t bytes, uint64_t count, struct err *err);

#endif
