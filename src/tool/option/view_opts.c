/* view_opts.c: --json[=LAYOUT], the only shared option with named values. */
#include "option/shared_opts.h"

#include "util/json_out.h"

const char *const view_json_layouts[] = {"tables", "nested", NULL};

uint32_t
view_json_version(const struct view_options *options)
{
    enum { NESTED = 2 };

    return options->json == NESTED ? JSON_VERSION_NESTED : JSON_VERSION_TABLES;
}
