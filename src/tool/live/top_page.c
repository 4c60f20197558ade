/* top_page.c: views of the other commands as pages, and requests to the recorder.
 *
 * Stacks, sources and trees are the text of `report`, `source` and `report --tree`, so a page and
 * the command show the same. A request to the process waits for its answer for a few seconds at
 * most: a process that does not allocate answers later. */
#include "live/top_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/source.h"
#include "load/load.h"
#include "open/symbolise.h"
#include "option/opts.h"
#include "profile/control.h"
#include "profile/origin.h"
#include "profile/pack.h"
#include "profile/time_slice.h"
#include "text/text.h"
#include "text/text_view.h"
#include "view/phrases.h"

#define WAIT_NS UINT64_C(5000000000)

enum { STACK_DEPTH = 1000, TREE_ROWS = 2000 };

static char *
top_page_copy(const char *text)
{
    return strcpy(xmalloc(strlen(text) + 1), text);
}

/* --- Pages ---------------------------------------------------------------------------------------
 */

static bool
read_source(void *sysroot, const char *path, struct arena *arena, struct strbuf *ret)
{
    uint64_t changed_ns;

    return source_read(NULL, sysroot, path, arena, ret, &changed_ns);
}

/* Write the file that has a frame of ROW. */
static void
page_put_source(struct text_view *v, const struct top_digest *d, const struct top_row *row)
{
    const struct profile *p = d->p;
    struct source source;
    struct source_text text = {
        .source = &source, .read = read_source, .read_arg = (void *)(uintptr_t)p->sysroot};
    const char *file = "";

    if (row != NULL && row->frame != GROUP_NO_FRAME)
        file = profile_string(p, p->frames[row->frame].file);
    else if (row != NULL && row->stack != UINT32_MAX && d->stacks.v[row->stack].depth > 0)
        file = profile_string(p, p->frames[d->stacks.v[row->stack].frames[0]].file);
    if (*file == '\0' || source_find(p, &d->stacks, file, v->base.arena, &source) != 0 ||
        !source.has_lines)
        text_line(v, ATTR_WARNING,
                  "This row has no source: the program has no debug information for it.");
    else
        text_source(v, &text);
}

static void
page_put_stack(struct text_view *v, const struct top_digest *d, const struct top_row *row)
{
    if (row == NULL || row->stack == UINT32_MAX) {
        text_line(v, ATTR_WARNING, "This row has no stack; --by function shows stacks.");
        return;
    }
    if (d->by != BY_SITE)
        text_line(v, ATTR_DIM,
                  arena_printf(v->base.arena, "The stack with most live bytes of %s:", row->name));
    text_site(v, &d->stacks.v[row->stack], METRIC_INUSE);
}

/* Write all about the process and its recording. */
static void
put_about(struct text_view *v)
{
    text_header(v);
    text_snapshots(v);
    text_losses(v, loss_field_count);
    text_recorder(v);
}

static void
make_page(void *arg)
{
    struct top_page *page = arg;
    const struct top_digest *d = page->reading->digest;
    struct arena arena = {0};
    struct text_view v = {.base = {.p = d->p, .stacks = &d->stacks, .arena = &arena},
                          .style = {.colour = false, .width = page->width},
                          .out = &page->text,
                          .depth = STACK_DEPTH};
    const struct top_row *row = top_digest_find(d, page->key);

    switch (page->kind) {
    case PAGE_STACK:
        page_put_stack(&v, d, row);
        break;
    case PAGE_SOURCE:
        page_put_source(&v, d, row);
        break;
    case PAGE_TREE:
    case PAGE_CALLERS:
        v.base.limit = TREE_ROWS;
        text_tree(&v, page->kind == PAGE_TREE ? TREE_TOP_DOWN : TREE_BOTTOM_UP, METRIC_INUSE, 0);
        break;
    case PAGE_ABOUT:
        put_about(&v);
        break;
    }
    arena_release(&arena);
    atomic_store_explicit(&page->done, true, memory_order_release);
}

struct top_page *
top_page_ask(struct watch *w, enum top_page_kind kind, struct reading *reading, uint64_t key,
             size_t width)
{
    struct top_page *page = xcalloc(1, sizeof *page);

    page->kind = kind;
    page->reading = reading_keep(reading);
    page->key = key;
    page->width = width;
    watch_do(w, make_page, page);
    return page;
}

void
top_page_free(struct top_page *page)
{
    reading_release(page->reading);
    strbuf_release(&page->text);
    free(page);
}

/* --- Requests ------------------------------------------------------------------------------------
 */

/* Set *RET to the way of recording in TEXT: "exact", "off", or the bytes of a sample. */
static bool
parse_mode(const char *text, struct profile_recording_mode *ret)
{
    *ret = (struct profile_recording_mode){.mode = MODE_EXACT};
    if (strcmp(text, "exact") == 0)
        return true;
    if (strcmp(text, "off") == 0) {
        ret->mode = MODE_OFF;
        return true;
    }
    ret->mode = MODE_BYTES;
    return opts_parse_size(text, &ret->period);
}

int
top_request_check(enum top_request_kind kind, const char *text, struct err *err)
{
    struct profile_recording_mode mode;

    if (*text == '\0')
        return err_set(err, HEAPTAP_USAGE, "nothing was entered, so nothing was done");
    if (kind == REQUEST_RECORDING && !parse_mode(text, &mode))
        return err_set(err, HEAPTAP_USAGE, "'%s' must be exact, off or a size", text);
    if (kind == REQUEST_RECORDING && mode.mode == MODE_BYTES)
        return sample_opts_check(mode.period, 0, err);
    if (kind == REQUEST_SNAPSHOT && strlen(text) > DISK_SNAPSHOT_NAME_BYTES)
        return err_set(err, HEAPTAP_USAGE, "the name of a snapshot has at most %d bytes",
                       DISK_SNAPSHOT_NAME_BYTES);
    if (kind == REQUEST_SNAPSHOT && time_slice_is_reserved(text))
        return err_set(err, HEAPTAP_USAGE, "'%s' cannot name a snapshot; choose another name",
                       text);
    if (kind == REQUEST_SAVE && access(text, F_OK) == 0)
        return err_set(err, HEAPTAP_USAGE, "%s exists; choose another name", text);
    return 0;
}

static int
ask_process(const struct top_request *r, struct err *err)
{
    struct profile_recording_mode mode;
    struct control c;
    int rc = control_open(r->what, &c, err);

    if (rc != 0)
        return rc;
    if (r->kind == REQUEST_SNAPSHOT)
        rc = control_request_snapshot(&c, r->text, WAIT_NS, err);
    else if (parse_mode(r->text, &mode))
        rc = control_request_mode(&c, (enum disk_mode)mode.mode, mode.period, WAIT_NS, err);
    if (rc == 0)
        rc = control_finish(&c, WAIT_NS, err);
    control_close(&c);
    return rc;
}

/* Save a packed copy, as `heaptap pack -o` does. */
static int
top_page_save(const struct top_request *r, struct err *err)
{
    struct symbol_choice symbols = *r->symbols;
    struct arena tables = {0};
    struct raw_file raw = {0};
    struct profile *p = NULL;
    int rc = profile_open_tables(r->what, &tables, &raw, &p, err);

    symbols.silent = true;
    if (rc == 0 && symbolise_quietly(p, &symbols) != 0)
        rc = err_set(err, HEAPTAP_BAD_INPUT, "the symbols of %s cannot be read", r->what);
    if (rc == 0) {
        symbolise_types(p, &symbols);
        rc = pack_tables(r->what, &raw, p, r->text, err);
    }
    profile_free(p);
    raw_release(&raw);
    arena_release(&tables);
    return rc;
}

static void
carry_out(void *arg)
{
    static const char *const answers[] = {[REQUEST_SNAPSHOT] = "took the snapshot '%s'",
                                          [REQUEST_RECORDING] = "now records: %s",
                                          [REQUEST_SAVE] = "saved as %s"};
    struct top_request *r = arg;
    int rc = r->kind == REQUEST_SAVE ? top_page_save(r, &r->answer) : ask_process(r, &r->answer);
    struct arena arena = {0};
    const char *answer = answers[r->kind];

    if (rc == 0)
        snprintf(r->answer.text, sizeof r->answer.text, "%.*s%s%s",
                 (int)(strstr(answer, "%s") - answer), answer, r->text, strstr(answer, "%s") + 2);
    arena_release(&arena);
    atomic_store_explicit(&r->done, true, memory_order_release);
}

struct top_request *
top_request_send(struct watch *w, enum top_request_kind kind, const char *what, const char *text,
                 const struct symbol_choice *symbols)
{
    struct top_request *r = xcalloc(1, sizeof *r);

    r->kind = kind;
    r->what = top_page_copy(what);
    r->text = top_page_copy(text);
    r->symbols = symbols;
    watch_do(w, carry_out, r);
    return r;
}

void
top_request_free(struct top_request *r)
{
    free(r->what);
    free(r->text);
    free(r);
}
