/* cmd_access.c: `heaptap access`: show how a program used its blocks, if it was built to count
 * accesses.
 *
 * A profile without counts is refused before the slow steps, with the remedy. In a session,
 * processes without counts are left out, unless no process has counts: a recorded make includes
 * compilers that were not built to count. */
#include "analyse/access_sites.h"
#include "analyse/fields.h"
#include "command/runner.h"
#include "command/sink.h"
#include "json/json.h"
#include "open/symbolise.h"
#include "svg/svg.h"
#include "text/text.h"

enum { PICTURE_STRUCTURES = 20 };

struct access_options {
    struct view_options view;
    bool hot, cold, never, fields;
    const char *svg;
};
static const struct access_options defaults;

static enum access_pick
pick_of(const struct access_options *o)
{
    return o->hot     ? ACCESS_PICK_HOT
           : o->cold  ? ACCESS_PICK_COLD
           : o->never ? ACCESS_PICK_NEVER
                      : ACCESS_PICK_ALL;
}

static int
cmd_access_check(struct shown *s)
{
    const struct access_options *o = s->runner->own;

    if (s->p->accesses.granule_bytes == 0)
        return HEAPTAP_NOT_FOUND;
    if (o->svg == NULL)
        return 0;
    if (s->set->count > 1) {
        message_error("--svg draws one process; choose it with --only PID");
        return EXIT_USAGE;
    }
    return sink_check(o->svg, s->set);
}

/* Find the structures of the blocks whose accesses were counted. */
static void
find_structures(struct shown *s)
{
    const struct access_options *o = s->runner->own;
    struct profile *p = s->p;
    uint32_t *names = arena_array(s->text.base.arena, p->accesses.count, sizeof *names);
    size_t count = 0;

    for (size_t i = 0; i < p->accesses.count; i++) {
        uint32_t name = fields_type_name(p, &p->sites[p->accesses.v[i].site]);

        if (name != 0)
            names[count++] = name;
    }
    symbolise_structures(p, &o->view.symbols, names, count);
}

static int
show_fields(struct shown *s)
{
    const struct access_options *o = s->runner->own;
    struct sink svg = {.path = o->svg, .set = s->set};
    struct strbuf out;
    struct fields f;

    find_structures(s);
    fields_build(s->p, &s->stacks, s->text.base.arena, &f);
    if (o->svg != NULL) {
        out = sink_begin(&svg);
        fields_svg(s->p, &f, o->view.limit ? o->view.limit : PICTURE_STRUCTURES, &out);
        return sink_end(&out);
    }
    if (o->view.json)
        json_fields(s->j, &s->text.base, &f, o->view.limit ? o->view.limit : SIZE_MAX);
    else
        text_fields(&s->text, &f);
    return 0;
}

static int
cmd_access_show(struct shown *s)
{
    const struct access_options *o = s->runner->own;
    struct access_table t;

    symbolise_types(s->p, &o->view.symbols);
    if (o->fields || o->svg != NULL)
        return show_fields(s);
    access_build(s->p, &s->stacks, s->text.base.arena, &t);
    if (o->view.json)
        json_access(s->j, &s->text.base, &t, pick_of(o),
                    o->view.limit ? o->view.limit : SIZE_MAX);
    else
        text_access(&s->text, &t, pick_of(o));
    return 0;
}

static int
run_access(const void *given, int count, char **arguments)
{
    const struct access_options *o = given;
    const char *what = count > 0 ? arguments[0] : NULL;
    const struct runner r = {.options = &o->view,
                             .own = o,
                             .stacks = STACKS_FOLDED_IN_TEXT,
                             .numbered = true,
                             .check = cmd_access_check,
                             .show = cmd_access_show};
    int rc;

    if (o->hot + o->cold + o->never + (o->fields || o->svg != NULL) > 1) {
        message_error("--hot, --cold, --never and --fields are different views; choose one");
        return EXIT_USAGE;
    }
    rc = runner_run(&r, what);
    if (rc != HEAPTAP_NOT_FOUND)
        return rc;
    message_error("%s: no accesses were counted, because the program was not built for that",
                  what ? what : "the newest profile");
    message_hint("build it with CC=\"heaptap cc\" (or CXX=\"heaptap c++\") and record it again; "
                 "docs/guide/access.md");
    return EXIT_BAD_INPUT;
}

static const struct opt options[] = {
    {OPT_FLAG, 0, "hot", &defaults.hot, NULL,
     "Show hot sites: those that together have 90 % of all accesses, each at or above the average "
     "per byte and second.",
     NULL},
    {OPT_FLAG, 0, "cold", &defaults.cold, NULL,
     "Show cold sites: those with less than a hundredth of the average accesses per byte and "
     "second, the largest first.",
     NULL},
    {OPT_FLAG, 0, "never", &defaults.never, NULL,
     "Show sites with blocks that were never read, written or not, most bytes first.", NULL},
    {OPT_FLAG, 0, "fields", &defaults.fields, NULL,
     "Show structures instead of sites: a picture of the cache lines of each, with the accesses of "
     "each field and possible changes. Needs debug information, and a program built with "
     "--granule=8.",
     NULL},
    {OPT_STRING, 0, "svg", &defaults.svg, "FILE",
     "Write the picture of the structures to FILE as a heat map for any browser.", NULL},
    {OPT_COUNT, 'n', "limit", &defaults.view.limit, "N",
     "Show at most N sites. The default is 5 of each kind, 10 of one, and all in JSON. Of "
     "structures it is 5, 20 in a picture, and all in JSON.",
     NULL},
    {OPT_COUNT, 0, "depth", &defaults.view.depth, "N",
     "Show at most N frames of a stack. The default is 12.", NULL},
    VIEW_FOLD_OPTIONS(defaults.view),
    VIEW_SHOW_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_access = {
    .name = "access",
    .arguments = "[PROFILE|PID|DIRECTORY]",
    .summary = "show how memory is used: hot, cold, never read",
    .description =
        "For a program built with `heaptap cc`, shows how often the blocks of each site were read "
        "and written, how much of each was touched, how long they lived, and whether they ended on "
        "another cpu than they began on.\n\n"
        "A site's verdict is the first of these that is true: never read or written; written, "
        "never read; touched once; most of each block unused; hot (and small: up to 256 bytes); "
        "cold (and long-lived: half of the run or longer); used. Hot and cold compare accesses per "
        "byte and second with the program's average. Where code may use blocks without counting, "
        "\"never\" becomes \"not seen\".",
    .examples = "heaptap access app.heaptap\thot, cold and unread memory\n"
                "heaptap access --cold --limit 20 app.heaptap\tmemory that is hardly used\n"
                "heaptap access --fields app.heaptap\twhich fields of structures are used\n"
                "heaptap access --svg fields.svg app.heaptap\tthe same as a picture\n"
                "heaptap access --json app.heaptap\tall numbers\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_access,
};
