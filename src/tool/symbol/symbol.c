/* symbol.c: resolve the frames of every location of a profile.
 *
 *     locations ── sorted by file, address ──► one file at a time: cache ──► ELF, DWARF ──► frames
 *                                                                    ▲            │
 *                                                                    └────────────┘
 *
 * Modules of the same file (a library loaded twice) form one group, so each file is opened once and
 * each address is resolved once. Locations of one module with the same address share their frames.
 * A file is opened only if the cache lacks an address, so a second report opens none.
 *
 * A cache entry is as good as the debug information at the time of the creation. Only files that no
 * other user can have written are cached (object_may_be_cached). An entry made without debug
 * information is renewed if the file can be read again, and one of these holds: object_debug_exists
 * finds debug information; a debuginfod server is set that was not queried then; the query was more
 * than a day ago.
 *
 * A packed profile has frames from the machine that packed it, and the source of each module's
 * symbols (enum profile_symbols). Therefore only the headers of files are read at first. If this
 * machine has more detail, the file is read as for any other profile, and a location gets the
 * better frames. Frames with function and file stay unchanged, because the build id proves them
 * right. Modules without a build id are not read again, because an equal name may be another file.
 * JIT maps are not read again either, because process ids are reused.
 *
 * An unsymbolized function is identified by its start (function_start.h), which its locations
 * share.
 *
 * Each module stores the result of the search for its file, and the source of the symbols.
 *
 * Names are untrusted: control characters become '?' before they enter the profile, because names
 * end up on terminals. */
#include "symbol/symbol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profile/profile_valid.h"
#include "symbol/dwfl.h"
#include "symbol/module_cache.h"
#include "symbol/perfmap.h"
#include "symbol/symcache.h"
#include "util/ensure.h"

enum {
    // Number of locations between two calls of the progress function.
    PROGRESS_STEP = 100,
    SERVER_RETRY_S = 24 * 60 * 60, // Time after which a server that had nothing is queried again.
};

/* A location to resolve. */
struct work {
    uint32_t group;    // First module of the same file; 0 = no file.
    uint32_t module;
    uint32_t location;
    uint64_t address;  // Address of the instruction: in the ELF file or, in group 0, as recorded.
};

struct resolver {
    struct profile *p;
    const struct symbol_options *options;
    struct symbol_paths paths;
    struct arena scratch;
    struct work *work;
    size_t work_count;
    size_t done;
};

/* The locations of one file. */
struct group {
    struct resolver *r;
    const struct profile_module *m; // The first module of the file.
    const struct work *work;
    size_t count;
    struct symcache cache;
    struct module_cache_entry *cached; // Source and destination of the cache; NULL = none.
    struct object *object; // NULL if not needed or missing; `failure` distinguishes these.
    struct object_failure failure;
};

static void collect_work(struct resolver *r);
static void resolve_jit(struct resolver *r, const struct work *w, size_t count);
static void resolve_file(struct resolver *r, const struct work *w, size_t count);
static void order_frames(struct resolver *r);
static void find_same(struct resolver *r);

int
symbol_resolve(struct profile *p, const struct symbol_options *options, struct err *err)
{
    static const struct symbol_options defaults;
    struct resolver r = { .p = p, .options = options != NULL ? options : &defaults };
    size_t next;

    (void)err;
    if (p->sought)
        return 0;
    r.paths = object_paths(p, r.options);
    object_report_server(r.options->server, r.options->progress_arg);
    collect_work(&r);
    for (size_t i = 0; i < r.work_count; i = next) {
        for (next = i; next < r.work_count && r.work[next].group == r.work[i].group; next++)
            ;
        if (r.work[i].group == 0)
            resolve_jit(&r, r.work + i, next - i);
        else
            resolve_file(&r, r.work + i, next - i);
    }
    object_report_server(NULL, NULL);
    order_frames(&r);
    find_same(&r);
    arena_release(&r.scratch);
    p->symbolised = p->sought = true;
    ENSURE_VALID(profile_ids_are_valid(p));
    return 0;
}

static bool
symbol_same_file(const struct profile_module *a, const struct profile_module *b)
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

/* Return, by module, the first module of the same file. */
static uint32_t *
group_modules(struct resolver *r)
{
    const struct profile *p = r->p;
    uint32_t *sorted = arena_array(&r->scratch, p->module_count, sizeof *sorted);
    uint32_t *group = arena_array(&r->scratch, p->module_count, sizeof *group);

    for (size_t i = 0; i < p->module_count; i++)
        sorted[i] = (uint32_t)i;
    // Module 0 means none and is skipped.
    if (p->module_count > 2)
        qsort_r(sorted + 1, p->module_count - 1, sizeof *sorted, compare_modules, r->p);
    for (size_t i = 1; i < p->module_count; i++) {
        bool same = i > 1 && symbol_same_file(&p->modules[sorted[i - 1]], &p->modules[sorted[i]]);

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
    // Location 0 means none and has no frames.
    for (size_t i = 1; i < p->location_count; i++) {
        const struct profile_location *l = &p->locations[i];
        uint32_t module = l->module < p->module_count ? l->module : 0;
        uint64_t bias = module != 0 ? p->modules[module].bias : 0;

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

/* Level of detail of a location's frames. */
enum { GIVES_NOTHING_AT_ALL, GIVES_PLACE, GIVES_FUNCTION, GIVES_LINE };

static int
tells(const struct profile *p, const struct profile_location *l)
{
    const struct profile_frame *f;

    if (l->frame_count == 0)
        return GIVES_NOTHING_AT_ALL;
    f = &p->frames[l->first_frame + l->frame_count - 1];
    if (f->file != 0)
        return GIVES_LINE;
    return f->function != 0 ? GIVES_FUNCTION : GIVES_PLACE;
}

/* Return the level of detail of COUNT FRAMES. */
static int
would_resolve(const struct symbol_frame *frames, size_t count)
{
    const struct symbol_frame *f = &frames[count - 1];

    if (f->file != NULL)
        return GIVES_LINE;
    return f->function != NULL ? GIVES_FUNCTION : GIVES_PLACE;
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
            .function = strtab_clean_id(&r->p->strings, frames[i].function),
            .linkage = strtab_clean_id(&r->p->strings, frames[i].linkage),
            .file = strtab_clean_id(&r->p->strings, frames[i].file),
            .line = frames[i].line,
            .module = w->module,
            .inlined = i + 1 < count,
            .local = frames[i].local,
        };

        profile_add_frame(r->p, &f);
    }
}

/* Share the frames of the previous work with W, if it has the same address and W has no better
 * frames. Return false if not. */
static bool
share_frames(struct resolver *r, const struct work *first, const struct work *w)
{
    struct profile_location *to = &r->p->locations[w->location];
    const struct profile_location *from;

    if (w == first || w[-1].module != w->module || w[-1].address != w->address)
        return false;
    from = &r->p->locations[w[-1].location];
    // A named frame's location has a number instead of an address; a broken stack may have the same
    // small number as an address.
    if (from->frame_count == 0 || tells(r->p, from) < tells(r->p, to) ||
        profile_language(r->p, from) != 0)
        return false;
    to->first_frame = from->first_frame;
    to->frame_count = from->frame_count;
    to->function_start = from->function_start;
    return true;
}

static void
resolve_jit(struct resolver *r, const struct work *w, size_t count)
{
    struct perfmap map = {0};

    if (r->p->process.pid != 0 && !r->p->symbolised) {
        perfmap_load(&map, &r->p->process, r->paths.sysroot);
        jitdump_load(&map, &r->p->process, r->paths.sysroot);
    }
    for (size_t i = 0; i < count; i++) {
        struct symbol_frame f = {.function = perfmap_name(&map, w[i].address)};
        int now = tells(r->p, &r->p->locations[w[i].location]);

        f.linkage = f.function;
        if (now <= GIVES_PLACE && now <= would_resolve(&f, 1) && !share_frames(r, w, &w[i]))
            give_frames(r, &w[i], &f, 1);
        progress(r);
    }
    perfmap_release(&map);
}

static bool
server_is_set(void)
{
    const char *urls = getenv("DEBUGINFOD_URLS");

    return urls != NULL && urls[0] != '\0';
}

/* Return true if there is debug information for G's file. The search runs once per command. */
static bool
debug_exists(const struct group *g)
{
    // Another root may have other debug files.
    struct module_cache_entry *cached = g->r->paths.sysroot == NULL ? g->cached : NULL;
    bool exists = !(cached != NULL && cached->without_debug) &&
                  object_debug_exists(g->m, &g->r->paths);

    if (cached != NULL)
        cached->without_debug = !exists;
    return exists;
}

/* Return true if a new search could find more than G's cache has. */
static bool
is_outdated(const struct group *g)
{
    const struct symcache *c = &g->cache;

    if (c->detail == DETAIL_DEBUG || c->entry_count == 0)
        return false;
    if (debug_exists(g))
        return true;
    return server_is_set() && (!c->asked_server || time(NULL) - c->written_unix_s > SERVER_RETRY_S);
}

static const char *
hex_id(struct arena *a, const uint8_t *id, uint32_t bytes)
{
    char hex[2 * PROFILE_BUILD_ID_MAX + 1] = "";

    for (uint32_t i = 0; i < bytes && i < PROFILE_BUILD_ID_MAX; i++)
        snprintf(hex + 2 * (size_t)i, 3, "%02x", id[i]);
    return bytes != 0 ? arena_strdup(a, hex) : "none";
}

/* Open G's file if its cache lacks an address or is outdated. Then empty the cache, if the file can
 * be opened and the cache is outdated or has less detail than the file. */
static void
open_if_needed(struct group *g)
{
    bool outdated = is_outdated(g);
    size_t i = 0;

    while (!outdated && i < g->count && symcache_find(&g->cache, g->work[i].address) != NULL)
        i++;
    if (i == g->count)
        return;
    g->object = object_open(g->m, &g->r->paths, &g->failure);
    if (g->object == NULL)
        return;
    if (outdated || object_detail(g->object) > g->cache.detail)
        symcache_release(&g->cache);
    // The new detail is stored even if it is less than before, because a later run should then
    // retry the new entries.
    g->cache.detail = object_detail(g->object);
    g->cache.asked_server = server_is_set();
}

/* Return true if M has a file. Code of the kernel (the vdso) and unknown code have none. */
static bool
has_file(const struct profile_module *m)
{
    return m->path != NULL && m->path[0] == '/';
}

/* Return the offset of ADDRESS in its unsymbolized function, plus 1; 0 if unknown. */
static uint32_t
into_function(struct object *o, uint64_t address)
{
    uint64_t start = object_function_start(o, address);

    return start != 0 && address - start < UINT32_MAX ? (uint32_t)(address - start) + 1 : 0;
}

/* Return the frames of ADDRESS from the cache, which this fills from G's object; NULL if there are
 * none. */
static const struct symcache_entry *
symbol_find_entry(struct group *g, uint64_t address)
{
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    const struct symcache_entry *found = symcache_find(&g->cache, address);
    size_t count;

    if (found != NULL || g->object == NULL)
        return found;
    count = object_frames(g->object, address, frames);
    symcache_add(&g->cache, address, frames, count,
                 would_resolve(frames, count) == GIVES_PLACE ? into_function(g->object, address)
                                                             : 0);
    return symcache_find(&g->cache, address);
}

/* Set the frames of W in G, unless its present ones have more detail. */
static void
resolve_location(struct group *g, const struct work *w)
{
    static const struct symbol_frame unknown;
    struct profile *p = g->r->p;
    struct profile_location *l = &p->locations[w->location];
    const struct symcache_entry *e = symbol_find_entry(g, w->address);
    const struct symbol_frame *frames = e != NULL ? &g->cache.frames[e->first_frame] : &unknown;
    size_t count = e != NULL ? e->frame_count : 1;
    int now = tells(p, l), then = would_resolve(frames, count);

    if (now == GIVES_LINE || then < now || (e == NULL && now != GIVES_NOTHING_AT_ALL))
        return;
    give_frames(g->r, w, frames, count);
    l->function_start = e != NULL && e->into != 0
                            ? p->modules[w->module].bias + w->address - (e->into - 1)
                            : 0;
}

/* Return true if G has locations without frames. */
static bool
is_new(const struct group *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->r->p->locations[g->work[i].location].frame_count == 0)
            return true;
    return false;
}

/* Return true if any location of G could get more detail. */
static bool
symbol_is_incomplete(const struct group *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (tells(g->r->p, &g->r->p->locations[g->work[i].location]) != GIVES_LINE)
            return true;
    return false;
}

/* Return the lowest detail among the sources of the frames of G's locations. */
static enum profile_symbols
known_symbols(const struct group *g)
{
    enum profile_symbols least = SYMBOLS_DEBUG;

    for (size_t i = 0; i < g->count; i++) {
        enum profile_symbols s = g->r->p->modules[g->work[i].module].symbols;

        least = s < least ? s : least;
    }
    return least;
}

/* Read the cache of G's file, unless it was read before. */
static void
load_cache(struct group *g)
{
    const struct profile_module *m = g->m;

    if (g->r->options->no_cache || m->build_id_bytes == 0 || g->cache.entry_count > 0)
        return;
    g->cached =
        module_cache_find(g->r->options->module_cache, m->path, m->build_id, m->build_id_bytes);
    if (g->cached != NULL && g->cached->has_frames) {
        g->cache = g->cached->frames;
        g->cached->frames = (struct symcache){0};
        g->cached->has_frames = false;
        return;
    }
    symcache_load(&g->cache, m->path, m->build_id, m->build_id_bytes);
}

/* Return true if G's file or its cache could have better frames, given that all locations of G have
 * frames. */
static bool
may_resolve_more(struct group *g)
{
    enum profile_symbols known = known_symbols(g);
    enum profile_symbols here;

    if (g->m->build_id_bytes == 0 || known == SYMBOLS_DEBUG || !symbol_is_incomplete(g))
        return false;
    here = object_probe(g->m, &g->r->paths, &g->failure);
    if (here > known || (here != SYMBOLS_UNKNOWN && server_is_set()))
        return true;
    load_cache(g);
    return g->cache.entry_count > 0 && (unsigned)g->cache.detail + SYMBOLS_NONE > known;
}

/* Store in M, a module of G's file, the result of opening the file and, if KNOWN, the DETAIL of the
 * symbols. */
static void
note_module(const struct group *g, struct profile_module *m, bool known, enum symbol_detail detail)
{
    static const enum profile_file files[] = {
        [OBJECT_OPEN] = FILE_FOUND,
        [OBJECT_MISSING] = FILE_MISSING,
        [OBJECT_CHANGED] = FILE_CHANGED,
        [OBJECT_UNREADABLE] = FILE_UNREADABLE,
    };
    const struct object_failure *f = &g->failure;
    struct profile *p = g->r->p;
    enum profile_symbols symbols = (enum profile_symbols)detail + SYMBOLS_NONE;

    m->file = files[f->state];
    m->trouble = f->state == OBJECT_CHANGED ? hex_id(&p->arena, f->build_id, f->build_id_bytes)
                                            : f->reason;
    if (!known || symbols <= m->symbols)
        return;
    p->types_outdated |= p->typed && symbols == SYMBOLS_DEBUG;
    m->symbols = symbols;
}

static void
note_modules(const struct group *g)
{
    bool known = g->object != NULL || g->cache.entry_count > 0;
    uint32_t last = 0;

    for (size_t i = 0; i < g->count; i++) {
        if (g->work[i].module != last)
            note_module(g, &g->r->p->modules[g->work[i].module], known, g->cache.detail);
        last = g->work[i].module;
    }
}

/* Read G's file or its cache. */
static void
read_group(struct group *g)
{
    const struct profile_module *m = g->m;
    bool use_cache = !g->r->options->no_cache && m->build_id_bytes > 0;

    g->failure = (struct object_failure){0};
    load_cache(g);
    open_if_needed(g);
    for (size_t i = 0; i < g->count; i++) {
        if (!share_frames(g->r, g->work, &g->work[i]))
            resolve_location(g, &g->work[i]);
        progress(g->r);
    }
    if (use_cache && g->object != NULL && object_may_be_cached(g->object))
        symcache_store(&g->cache, m->path, m->build_id, m->build_id_bytes);
}

/* Return G's cache to the module cache, or release it if it has new entries: their names belong to
 * a closed object. */
static void
release_cache(struct group *g)
{
    if (g->cached != NULL && !g->cache.changed && g->cache.entry_count > 0) {
        g->cached->frames = g->cache;
        g->cached->has_frames = true;
    } else {
        symcache_release(&g->cache);
    }
}

static void
resolve_file(struct resolver *r, const struct work *w, size_t count)
{
    struct group g = {.r = r, .m = &r->p->modules[w->group], .work = w, .count = count};

    if (has_file(g.m) && (is_new(&g) || may_resolve_more(&g))) {
        read_group(&g);
    } else {
        for (size_t i = 0; i < count; i++) {
            if (r->p->locations[w[i].location].frame_count == 0 && !share_frames(r, w, &w[i]))
                resolve_location(&g, &w[i]);
            progress(r);
        }
    }
    if (has_file(g.m))
        note_modules(&g);
    object_close(g.object);
    release_cache(&g);
}

/* Return true if W's location shares the frames of the previous work. */
static bool
has_same_frames(const struct resolver *r, const struct work *w)
{
    const struct profile_location *l = &r->p->locations[w->location];
    const struct profile_location *last = &r->p->locations[w == r->work ? 0 : w[-1].location];

    return l->frame_count == last->frame_count && l->first_frame == last->first_frame;
}

static bool
are_in_order(const struct resolver *r)
{
    size_t next = 0;

    for (size_t i = 0; i < r->work_count; i++) {
        const struct profile_location *l = &r->p->locations[r->work[i].location];

        if (has_same_frames(r, &r->work[i]))
            continue;
        if (l->first_frame != next)
            return false;
        next += l->frame_count;
    }
    return next == r->p->frame_count;
}

/* Sort frames by location and remove unused ones. Views show things of equal rank in the order of
 * frames, which must not depend on the time of symbolising. The copy is freed at once, because
 * frames may be the largest part of a profile. */
static void
order_frames(struct resolver *r)
{
    struct profile *p = r->p;
    struct profile_frame *before;
    uint32_t last_first = 0, first;

    if (are_in_order(r))
        return;
    before = xmalloc(p->frame_count * sizeof *before + 1);
    if (p->frame_count > 0)
        memcpy(before, p->frames, p->frame_count * sizeof *before);
    p->frame_count = 0;
    for (size_t i = 0; i < r->work_count; i++, last_first = first) {
        struct profile_location *l = &p->locations[r->work[i].location];
        const struct profile_location *last = i > 0 ? &p->locations[r->work[i - 1].location] : NULL;

        first = l->first_frame;
        if (last != NULL && first == last_first && l->frame_count == last->frame_count) {
            l->first_frame = last->first_frame;
            continue;
        }
        l->first_frame = (uint32_t)p->frame_count;
        for (uint32_t k = 0; k < l->frame_count; k++)
            profile_add_frame(p, &before[first + k]);
    }
    free(before);
}

/* Set `same` of each location in an unsymbolized function to the first location of that
 * function. */
static void
find_same(struct resolver *r)
{
    struct profile *p = r->p;
    struct map first = {0};

    for (uint32_t i = 1; i < p->location_count; i++) {
        struct profile_location *l = &p->locations[i];
        uint64_t *known;
        bool is_first;

        if (l->function_start == 0 || l->module == 0 || tells(p, l) != GIVES_PLACE) {
            l->function_start = 0;
            continue;
        }
        known = map_put(&first, (uint64_t)l->module << 48 ^ l->function_start, &is_first);
        if (is_first)
            *known = i;
        l->same = (uint32_t)*known;
    }
    map_release(&first);
}

const char *
symbol_lack(const struct profile *p, uint32_t module, struct arena *arena)
{
    const struct profile_module *m = &p->modules[module];

    if (m->symbols == SYMBOLS_DEBUG)
        return NULL;
    switch (m->file) {
    case FILE_NOT_SOUGHT:
    case FILE_FOUND:
        break;
    case FILE_MISSING:
        return "is missing here";
    case FILE_CHANGED:
        if (m->build_id_bytes == 0)
            return "has changed since the recording";
        return arena_printf(arena, "has changed since the recording (build id %s, recorded %s)",
                            m->trouble, hex_id(arena, m->build_id, m->build_id_bytes));
    case FILE_UNREADABLE:
        return arena_printf(arena, "cannot be read (%s)", m->trouble);
    }
    switch (m->symbols) {
    case SYMBOLS_UNKNOWN:
    case SYMBOLS_DEBUG:
        return NULL;
    case SYMBOLS_TABLE:
        return "has no debug information";
    case SYMBOLS_EXPORTS:
    case SYMBOLS_NONE:
        return "is stripped";
    }
    return NULL;
}
