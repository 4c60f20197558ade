/* exported.h: a profile in an export format, for tests of exports. */
#ifndef UNIT_EXPORTED_H
#define UNIT_EXPORTED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "command/exporters.h"
#include "export/exporter.h"

/* Memory of the exports of one test program. */
static struct arena arena;

/* Return P in the format NAME, showing METRIC, of the stacks that match FILTER. The caller releases
 * it. */
static inline struct strbuf
exported(const struct profile *p, const char *name, enum metric metric, const char *filter)
{
    const struct exporter *e = export_find(name);
    struct stacks_options stacks_options = {.filter = filter};
    struct export_options options = {.metric = metric};
    struct strbuf out = {0};
    struct stacks stacks;
    struct err err = {""};

    assert_non_null(e);
    assert_int_equal(stacks_build(p, &stacks_options, &arena, &stacks, &err), 0);
    assert_int_equal(e->write(p, &stacks, &options, &out, &err), 0);
    return out;
}

enum { XML_DEPTH_MAX = 32 };

/* Fail unless TEXT is one element with balanced tags, quoted attributes and only known entities.
 * Understands only the XML that heaptap writes. */
static inline void
assert_well_formed(const char *text)
{
    char open[XML_DEPTH_MAX][32];
    size_t depth = 0, elements = 0;

    for (const char *s = text; *s != '\0';) {
        if (strncmp(s, "<![CDATA[", 9) == 0) {
            s = strstr(s, "]]>");
            assert_non_null(s);
            s += 3;
        } else if (strncmp(s, "</", 2) == 0) {
            assert_true(depth > 0);
            depth--;
            assert_int_equal(strncmp(s + 2, open[depth], strlen(open[depth])), 0);
            assert_int_equal(s[2 + strlen(open[depth])], '>');
            s += 3 + strlen(open[depth]);
        } else if (*s == '<') {
            size_t length = strcspn(++s, " />\n");

            assert_true(depth < XML_DEPTH_MAX && length > 0 && length < sizeof open[0]);
            assert_true(depth > 0 || elements++ == 0);
            snprintf(open[depth++], sizeof open[0], "%.*s", (int)length, s);
            for (s += length; *s != '>' && *s != '/'; s++) {
                assert_true(*s != '\0' && *s != '<');
                if (*s == '"')
                    s += 1 + strcspn(s + 1, "\"<&");
                assert_true(*s != '<' && *s != '&');
            }
            if (*s == '/') {
                depth--;
                s++;
            }
            assert_int_equal(*s++, '>');
        } else if (*s == '&') {
            static const char *const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
            size_t k = 0;

            while (k < countof(known) && strncmp(s, known[k], strlen(known[k])) != 0)
                k++;
            assert_true(k < countof(known));
            s++;
        } else {
            assert_true((unsigned char)*s >= 0x20 || *s == '\n' || *s == '\t');
            s++;
        }
    }
    assert_int_equal(depth, 0);
    assert_int_equal(elements, 1);
}

/* Release the arena, after all tests. */
static inline int
release_exported(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

#endif
