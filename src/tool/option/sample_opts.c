/* sample_opts.c: check the values of the options that choose a recording mode. */
#include "option/shared_opts.h"

#include <stdlib.h>
#include <string.h>

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

int
sample_opts_overhead(const char *text, uint64_t *ret_limit, struct err *err)
{
    char *end = NULL;
    double percent;

    if (text == NULL)
        return 0;
    percent = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
    if (!(percent >= 0.1) || percent > 1000 || strcmp(end, "%") != 0)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--max-overhead': '%.60s' is no percentage; write 5%%, or another "
                       "number from 0.1 to 1000 before '%%'",
                       text);
    *ret_limit = (uint64_t)(percent * 1000 + 0.5);
    return 0;
}

int
sample_opts_callers(const char *text, uint64_t *ret_period, struct err *err)
{
    char *end = NULL;
    uint64_t n;

    if (text == NULL)
        return 0;
    n = strncmp(text, "1/", 2) == 0 && text[2] >= '0' && text[2] <= '9'
            ? strtoull(text + 2, &end, 10)
            : 0;
    if (n == 0 || *end != '\0' || n > DISK_CALLERS_PERIOD_MAX)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--callers': '%.60s' is no share of the allocations; write 1/64, or "
                       "another number from 1 to 2^20 after '1/'",
                       text);
    *ret_period = n == 1 ? 0 : n;
    return 0;
}
