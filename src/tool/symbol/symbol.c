/* symbol.c: gives every location of a profile its frames.
 *
 *     locations ── sorted by file, address ──► one file at a time: cache ──► ELF, DWARF ──► frames
 *                                                                    ▲            │
 *                                                                    └────────────┘
 *
 * Modules that are the same file (a library loaded twice) are one group, so each file is opened
 * once and each of its addresses looked up once; locations of one module with the same lookup
 * address share their frames. A file is opened only if the cache lacks an address, so a second
 * report opens none.
 *
 * What the cache holds is as good as what could be found when it was made, and only files that a
 * stranger cannot have written feed it (object_may_be_cached). One made without debug information
 * is thrown away when object_debug_exists sees some, or when a debuginfod server is set that was
 * not asked then (or a day ago).
 *
 * Hints tell what was missing, one sentence per file, the file with most locations first. They are
 * the same whether the frames came from the cache or not.
 *
 * Names are foreign: control characters become '?' before they enter the profile, for they end on
 * terminals.
 */
#include "symbol/symbol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profile/profile_valid.h"
#include "symbol/dwfl.h"
#include "symbol/perfmap.h"
#include "symbol/symcache.h"
#include "util/ensure.h"

enum {
    PROGRESS_STEP = 100,           // Locations between two calls of the progress function.
    SERVER_RETRY_S = 24 * 60 * 60, // A server that knew nothing is asked again after a day.
};

/* A location to be given frames. */
struct work {
    uint32_t group;    // The first module that is the same file; 0 = no file.
    uint32_t module;
    uint32_t location;
    uint64_t address;  // Of the instruction: in the ELF file, or as recorded for group 0.
};

struct hint {
    size_t locations;
    const char *text;
};

struct resolver {
    struct profile *p;
    const struct symbol_options *options;
    struct symbol_paths paths;
    struct arena scratch;
    struct work *work;
    size_t work_count;
    size_t done;
    struct hint *hints;
    size_t hint_count, hint_capacity;
};

static void collect_work(struct resolver *r);
static void resolve_jit(struct resolver *r, const struct work *w, size_t count);
static void resolve_file(struct resolver *r, const struct work *w, size_t count);
static void keep_hints(struct resolver *r);

int
symbol_resolve(struct profile *p, const struct symbol_options *options, struct err *err)
{
    static const struct symbol_options defaults;
    struct resolver r = { .p = p, .options = options != NULL ? options : &defaults };
    size_t next;

    (void)err;
    if (p->symbolised)
        return 0;
    r.paths = object_paths(p);
    object_tell_of_server(r.options->server, r.options->progress_arg);
    collect_work(&r);
    for (size_t i = 0; i < r.work_count; i = next) {
        for (next = i; next < r.work_count && r.work[next].group == r.work[i].group; next++)
            ;
        if (r.work[i].group == 0)
            resolve_jit(&r, r.work + i, next - i);
        else
            resolve_file(&r, r.work + i, next - i);
    }
    object_tell_of_server(NULL, NULL);
    keep_hints(&r);
    arena_release(&r.scratch);
    p->symbolised = true;
    ENSURE_VALID(profile_ids_are_valid(p));
    return 0;
}

size_t
symbol_hints(const struct profile *p, const char *const **ret_hints)
{
    *ret_hints = p->hints;
    return p->hint_count;
}

static bool
same_file(const struct profile_module *a, const struct profile_module *b)
{
    return strcmp(a->path, b->path) == 0 && a->build_id_bytes == b->build_id_bytes
           && memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
}

static int
compare_modules(const void *left, const void *right, void *arg)
{
    const struct profile *p = arg;
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    const struct profile_module *ma = &p->modules[a];
    const struct profile_module *mb = &p->modules[b];
    int order = strcmp(ma->path, mb->path);

    if (order == 0 && ma->build_id_bytes != mb->build_id_bytes)
        order = ma->build_id_bytes < mb->build_id_bytes ? -1 : 1;
    if (order == 0)
        order = memcmp(ma->build_id, mb->build_id, ma->build_id_bytes);
    if (order == 0)
        order = a < b ? -1 : a > b;
    return order;
}

/* For each module the id of the first that is the same file. */
static uint32_t *
group_modules(struct resolver *r)
{
    const struct profile *p = r->p;
    uint32_t *sorted = arena_array(&r->scratch, p->module_count, sizeof *sorted);
    uint32_t *group = arena_array(&r->scratch, p->module_count, sizeof *group);

    for (size_t i = 0; i < p->module_count; i++)
        sorted[i] = (uint32_t)i;
    // Module 0 is none and stays outside.
    if (p->module_count > 2)
        qsort_r(sorted + 1, p->module_count - 1, sizeof *sorted, compare_modules, r->p);
    for (size_t i = 1; i < p->module_count; i++) {
        bool same = i > 1 && same_file(&p->modules[sorted[i - 1]], &p->modules[sorted[i]]);

        group[sorted[i]] = same ? group[sorted[i - 1]] : sorted[i];
    }
    return group;
}

static int
compare_work(const void *left, const void *right)
{
    const struct work *a = left;
    const struct work *b = right;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    return a->location < b->location ? -1 : a->location > b->location;
}

static void
collect_work(struct resolver *r)
{
    const struct profile *p = r->p;
    const uint32_t *group = group_modules(r);

    r->work = arena_array(&r->scratch, p->location_count, sizeof *r->work);
    // Location 0 is none and has no frames.
    for (size_t i = 1; i < p->location_count; i++) {
        const struct profile_location *l = &p->locations[i];
        uint32_t module = l->module < p->module_count ? l->module : 0;
        uint64_t bias = module != 0 ? p->modules[module].bias : 0;

        if (l->frame_count != 0)
            continue;
        r->work[r->work_count++] = (struct work){
            .group = module != 0 ? group[module] : 0,
            .module = module,
            .location = (uint32_t)i,
            .address = l->address - !(l->exact || l->at_start) - bias,
        };
    }
    if (r->work_count > 1)
        qsort(r->work, r->work_count, sizeof *r->work, compare_work);
}

static void
progress(struct resolver *r)
{
    r->done++;
    if (r->options->progress != NULL
        && (r->done % PROGRESS_STEP == 0 || r->done == r->work_count))
        r->options->progress(r->options->progress_arg, r->done, r->work_count);
}

static bool
is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* The id of S with control characters replaced. */
static uint32_t
intern(struct resolver *r, const char *s)
{
    const char *p = s;
    char *clean;

    if (s == NULL)
        return 0;
    while (*p != '\0' && !is_control(*p))
        p++;
    if (*p == '\0')
        return strtab_id(&r->p->strings, s);
    clean = arena_strdup(&r->scratch, s);
    for (char *q = clean; *q != '\0'; q++)
        if (is_control(*q))
            *q = '?';
    return strtab_id(&r->p->strings, clean);
}

static void
give_frames(struct resolver *r, const struct work *w, const struct symbol_frame *frames,
            size_t count)
{
    struct profile_location *l = &r->p->locations[w->location];

    l->first_frame = (uint32_t)r->p->frame_count;
    l->frame_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct profile_frame f = {
            .function = intern(r, frames[i].function),
            .linkage = intern(r, frames[i].linkage),
            .file = intern(r, frames[i].file),
            .line = frames[i].line,
            .module = w->module,
            .inlined = i + 1 < count,
        };

        profile_add_frame(r->p, &f);
    }
    progress(r);
}

/* Give W the frames of the work before it if that is the same place. */
static bool
share_frames(struct resolver *r, const struct work *first, const struct work *w)
{
    struct profile_location *l = r->p->locations;

    if (w == first || w[-1].module != w->module || w[-1].address != w->address)
        return false;
    l[w->location].first_frame = l[w[-1].location].first_frame;
    l[w->location].frame_count = l[w[-1].location].frame_count;
    progress(r);
    return true;
}

static void
resolve_jit(struct resolver *r, const struct work *w, size_t count)
{
    struct perfmap map = {0};

    if (r->p->process.pid != 0)
        perfmap_load(&map, &r->p->process, r->paths.sysroot);
    for (size_t i = 0; i < count; i++) {
        struct symbol_frame f = { .function = perfmap_name(&map, w[i].address) };

        f.linkage = f.function;
        if (!share_frames(r, w, &w[i]))
            give_frames(r, &w[i], &f, 1);
    }
    perfmap_release(&map);
}

static bool
server_is_set(void)
{
    const char *urls = getenv("DEBUGINFOD_URLS");

    return urls != NULL && urls[0] != '\0';
}

/* Whether asking again could give more than C has. */
static bool
is_outdated(const struct symcache *c, const struct profile_module *m,
            const struct symbol_paths *paths)
{
    if (c->detail == DETAIL_DEBUG || c->entry_count == 0)
        return false;
    if (object_debug_exists(m, paths))
        return true;
    return server_is_set() && (!c->asked_server || time(NULL) - c->written_unix_s > SERVER_RETRY_S);
}

static void
add_hint(struct resolver *r, size_t locations, const char *text)
{
    arena_grow(&r->scratch, &r->hints, &r->hint_capacity, r->hint_count, sizeof *r->hints);
    r->hints[r->hint_count++] = (struct hint){ .locations = locations, .text = text };
}

static const char *
hex_id(struct arena *a, const uint8_t *id, uint32_t bytes)
{
    char hex[2 * PROFILE_BUILD_ID_MAX + 1] = "";

    for (uint32_t i = 0; i < bytes && i < PROFILE_BUILD_ID_MAX; i++)
        snprintf(hex + 2 * (size_t)i, 3, "%02x", id[i]);
    return bytes != 0 ? arena_strdup(a, hex) : "none";
}

static void
hint_failure(struct resolver *r, const struct profile_module *m, const struct object_failure *f,
             size_t locations)
{
    struct arena *a = &r->p->arena;
    const char *text = "";

    switch (f->state) {
    case OBJECT_OPEN:
        return;
    case OBJECT_MISSING:
        text = arena_printf(a, "%s is missing", m->path);
        break;
    case OBJECT_CHANGED:
        text = arena_printf(a, "%s has changed since the recording (build id %s, recorded %s)",
                            m->path, hex_id(&r->scratch, f->build_id, f->build_id_bytes),
                            hex_id(&r->scratch, m->build_id, m->build_id_bytes));
        break;
    case OBJECT_UNREADABLE:
        text = arena_printf(a, "%s cannot be read (%s)", m->path, f->reason);
        break;
    }
    add_hint(r, locations, arena_printf(a, "%s, so its functions have no names", text));
}

static void
hint_detail(struct resolver *r, const struct profile_module *m, enum symbol_detail detail,
            size_t locations)
{
    struct arena *a = &r->p->arena;

    switch (detail) {
    case DETAIL_DEBUG:
        return;
    case DETAIL_SYMBOLS:
        add_hint(r, locations,
                 arena_printf(a, "%s has no debug information, so files and lines are missing; "
                                 "compile it with -g", m->path));
        return;
    case DETAIL_EXPORTS:
    case DETAIL_NONE:
        add_hint(r, locations,
                 arena_printf(a, "%s is stripped, so lines and %s function names are missing; "
                                 "install its debug package (-dbg, -dbgsym, -debuginfo) or set "
                                 "DEBUGINFOD_URLS",
                              m->path, detail == DETAIL_NONE ? "all" : "most"));
        return;
    }
}

/* Open the file if C lacks an address; a cache that knew less than the file now has is emptied.
 * NULL if it is not needed or not there: *RET_FAILURE tells. */
static struct object *
open_if_needed(struct resolver *r, struct symcache *c, const struct work *w, size_t count,
               struct object_failure *ret_failure)
{
    const struct profile_module *m = &r->p->modules[w->group];
    struct object *o;
    size_t ignored;
    size_t i = 0;

    *ret_failure = (struct object_failure){0};
    while (i < count && symcache_find(c, w[i].address, &ignored) != NULL)
        i++;
    if (i == count)
        return NULL;
    o = object_open(m, &r->paths, ret_failure);
    if (o == NULL)
        return NULL;
    if (object_detail(o) > c->detail)
        symcache_release(c);
    // Also when it is less than before: what is added now should be tried again one day.
    c->detail = object_detail(o);
    c->asked_server = server_is_set();
    return o;
}

/* Files that exist in the kernel only, or of which nothing is known. */
static bool
has_file(const struct profile_module *m)
{
    return m->path != NULL && m->path[0] == '/';
}

static const struct symbol_frame *
find_frames(struct symcache *c, struct object *o, uint64_t address, size_t *ret_count)
{
    static const struct symbol_frame unknown;
    const struct symbol_frame *found = symcache_find(c, address, ret_count);

    if (found == NULL && o != NULL) {
        struct symbol_frame frames[SYMBOL_FRAMES_MAX];

        symcache_add(c, address, frames, object_frames(o, address, frames));
        found = symcache_find(c, address, ret_count);
    }
    if (found != NULL)
        return found;
    *ret_count = 1;
    return &unknown;
}

static void
resolve_file(struct resolver *r, const struct work *w, size_t count)
{
    const struct profile_module *m = &r->p->modules[w->group];
    bool use_cache = !r->options->no_cache && m->build_id_bytes > 0;
    struct symcache cache = {0};
    struct object_failure failure = {0};
    struct object *o = NULL;

    if (has_file(m)) {
        if (use_cache)
            symcache_load(&cache, m->path, m->build_id, m->build_id_bytes);
        if (is_outdated(&cache, m, &r->paths))
            symcache_release(&cache);
        o = open_if_needed(r, &cache, w, count, &failure);
    }
    for (size_t i = 0; i < count; i++) {
        const struct symbol_frame *frames;
        size_t frame_count;

        if (share_frames(r, w, &w[i]))
            continue;
        frames = find_frames(&cache, o, w[i].address, &frame_count);
        give_frames(r, &w[i], frames, frame_count);
    }
    hint_failure(r, m, &failure, count);
    if (has_file(m) && failure.state == OBJECT_OPEN)
        hint_detail(r, m, cache.detail, count);
    if (use_cache && o != NULL && object_may_be_cached(o))
        symcache_store(&cache, m->path, m->build_id, m->build_id_bytes);
    object_close(o);
    symcache_release(&cache);
}

static int
compare_hints(const void *left, const void *right)
{
    const struct hint *a = left;
    const struct hint *b = right;

    if (a->locations != b->locations)
        return a->locations > b->locations ? -1 : 1;
    return strcmp(a->text, b->text);
}

static void
keep_hints(struct resolver *r)
{
    struct profile *p = r->p;

    if (r->hint_count == 0)
        return;
    qsort(r->hints, r->hint_count, sizeof *r->hints, compare_hints);
    p->hints = arena_array(&p->arena, r->hint_count, sizeof(const char *));
    for (size_t i = 0; i < r->hint_count; i++)
        p->hints[i] = r->hints[i].text;
    p->hint_count = r->hint_count;
}
