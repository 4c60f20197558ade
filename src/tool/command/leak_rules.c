/* leak_rules.c: read the suppressions and the limit of a command about leaks, and report that the
 * limit is exceeded. `leaks` and `core --leaks` judge different blocks by the same rules. */
#include "command/leak_rules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command/report_limits.h"
#include "option/shared_opts.h"
#include "util/path.h"
#include "view/messages.h"
#include "view/style.h"

static const struct limit_rules rules = {
    .option = "fail-over", .names = 1u << LIMIT_LEAKS, .unnamed = 1u << LIMIT_LEAKS};

static int
leak_rules_read_file(const char *path, struct strbuf *ret)
{
    FILE *f = fopen(path, "re");
    const char *why = f != NULL ? text_read(f, ret) : strerror(errno);

    if (f != NULL)
        fclose(f);
    if (why == NULL)
        return 0;
    message_error("%s: the suppressions cannot be read: %s", path, why);
    return EXIT_BAD_INPUT;
}

int
leak_rules_read(const char *path, struct suppressions *ret, struct arena *arena)
{
    struct strbuf text = {0};
    struct err err = {""};
    int rc = leak_rules_read_file(path, &text);

    if (rc == 0) {
        rc = suppress_parse(ret, strbuf_text(&text), text.length, path, arena, &err);
        if (rc != 0) {
            message_error("%s", err.text);
            rc = exit_code(rc);
        }
    }
    strbuf_release(&text);
    return rc;
}

int
leak_rules_limits(const char *text, struct limits *ret)
{
    struct err err = {""};
    int rc = text != NULL ? limits_parse(text, &rules, ret, &err) : 0;

    if (rc != 0)
        message_error("%s", err.text);
    return rc ? exit_code(rc) : 0;
}

const char *
leak_rules_offered(const char *name, size_t i)
{
    return strcmp(name, "fail-over") == 0 ? limits_offered(&rules, i) : NULL;
}

void
leak_rules_exceeded(const struct limit *l, const char *text, int64_t bytes)
{
    struct arena arena = {0};

    if (l->value == 0)
        message_error("%s, and --fail-over allows none", text);
    else
        message_error("%s, more than the %s that --fail-over allows", text,
                      style_bytes_beside(&arena, (int64_t)l->value, bytes));
    arena_release(&arena);
}
