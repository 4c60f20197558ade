/* sample_opts.c: check the values of the options that choose a recording mode. */
#include "option/shared_opts.h"

#include "format/format.h"

int
sample_opts_check(uint64_t bytes, uint64_t count, struct err *err)
{
    if (bytes != 0 && count != 0)
        return err_set(err, HEAPTAP_USAGE,
                       "options '--sample' and '--sample-count' exclude each other");
    if (bytes != 0 && (bytes < DISK_SAMPLE_BYTES_MIN || bytes > DISK_SAMPLE_PERIOD_MAX))
        return err_set(err, HEAPTAP_USAGE,
                       "option '--sample': the size must be from 1K to 1T; below that, exact "
                       "recording is as fast");
    if (count == 1 || count > DISK_SAMPLE_PERIOD_MAX)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--sample-count': the number must be from 2 to 2^40; one in 1 is "
                       "exact recording");
    return 0;
}
