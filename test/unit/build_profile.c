/* build_profile.c: build a profile one site at a time.
 *
 * struct profile stores no capacities, because a loader knows its counts in advance. Therefore
 * build_profile_append() grows an array whenever its count is zero or a power of two. Equal items
 * are found by linear search, since tests are small. */
#include "build_profile.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 4096, LABELS_MAX = 8, BASE_ADDRESS = 0x400000, MODULE_BYTES = 0x10000000 };

/* Make index COUNT of ITEMS valid and return the array, which may have moved. */
static void *
build_profile_append(struct profile *p, void *items, size_t count, size_t element_bytes)
{
    void *grown;

    if (count != 0 && (count & (count - 1)) != 0)
        return items;
    grown = arena_array(&p->arena, count ? count * 2 : 1, element_bytes);
    if (count)
        memcpy(grown, items, count * element_bytes);
    return grown;
}

static uint32_t
find_module(struct profile *p, const char *path)
{
    struct profile_module *m;

    for (uint32_t i = 1; i < p->module_count; i++)
        if (strcmp(p->modules[i].path, path) == 0)
            return i;
    p->modules = build_profile_append(p, p->modules, p->module_count, sizeof *p->modules);
    m = &p->modules[p->module_count];
    m->path = arena_strdup(&p->arena, path);
    m->bias = BASE_ADDRESS + p->module_count * MODULE_BYTES;
    m->start = m->bias;
    m->end = m->start + MODULE_BYTES;
    return (uint32_t)p->module_count++;
}

/* Parse "function@file:line!module", with or without a leading "+" or "-". */
static struct profile_frame
parse_frame(struct profile *p, const char *text)
{
    struct profile_frame f = {.inlined = *text == '+', .local = *text == '-'};
    char *s = arena_strdup(&p->arena, text + (f.inlined || f.local ? 1 : 0));
    char *at = strrchr(s, '@');
    char *bang = strrchr(at ? at : s, '!');
    char *colon = at ? strrchr(at, ':') : NULL;

    if (bang && bang[1] == '=')
        bang = NULL;
    if (bang)
        *bang++ = '\0';
    if (at)
        *at++ = '\0';
    if (colon && (bang == NULL || colon < bang)) {
        *colon++ = '\0';
        f.line = (uint32_t)strtoul(colon, NULL, 10);
    }
    f.function = strtab_id(&p->strings, s);
    f.linkage = f.function;
    f.file = strtab_id(&p->strings, at);
    f.module = find_module(p, bang ? bang : "/usr/bin/prog");
    return f;
}

static bool
build_profile_same_frame(const struct profile_frame *a, const struct profile_frame *b)
{
    return a->function == b->function && a->file == b->file && a->line == b->line &&
           a->module == b->module && a->inlined == b->inlined;
}

static bool
location_has(const struct profile *p, uint32_t location, const struct profile_frame *frames,
             uint32_t count)
{
    const struct profile_location *l = &p->locations[location];

    if (l->frame_count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!build_profile_same_frame(&p->frames[l->first_frame + i], &frames[i]))
            return false;
    return true;
}

static uint32_t
find_location(struct profile *p, const struct profile_frame *frames, uint32_t count)
{
    struct profile_location *l;

    for (uint32_t i = 1; i < p->location_count; i++)
        if (location_has(p, i, frames, count))
            return i;
    p->locations = build_profile_append(p, p->locations, p->location_count, sizeof *p->locations);
    l = &p->locations[p->location_count];
    l->module = frames[count - 1].module;
    l->address = p->modules[l->module].bias + 0x1000 + 16 * p->location_count;
    l->first_frame = (uint32_t)p->frame_count;
    l->frame_count = count;
    for (uint32_t i = 0; i < count; i++)
        profile_add_frame(p, &frames[i]);
    return (uint32_t)p->location_count++;
}

static uint32_t
find_node(struct profile *p, uint32_t parent, uint32_t location)
{
    for (uint32_t i = 1; i < p->node_count; i++)
        if (p->nodes[i].parent == parent && p->nodes[i].location == location)
            return i;
    p->nodes = build_profile_append(p, p->nodes, p->node_count, sizeof *p->nodes);
    p->nodes[p->node_count] = (struct profile_node){.parent = parent, .location = location};
    if (location == 0)
        p->nodes[p->node_count].flags = NODE_OTHER;
    return (uint32_t)p->node_count++;
}

/* Return the node of a stack. Frames are added from the outermost inwards; inlined frames join the
 * location of the frame that contains them. */
static uint32_t
build_stack(struct profile *p, const char *const *texts, size_t count)
{
    struct profile_frame *frames = arena_array(&p->arena, count + 1, sizeof *frames);
    uint32_t node = 0;
    size_t end = count;

    for (size_t i = 0; i < count; i++)
        frames[i] = parse_frame(p, texts[i]);
    if (count == 0)
        return find_node(p, 0, 0);
    while (end > 0) {
        size_t first = end - 1;

        while (first > 0 && frames[first - 1].inlined)
            first--;
        node = find_node(p, node, find_location(p, &frames[first], (uint32_t)(end - first)));
        end = first;
    }
    return node;
}

struct profile *
build_profile_new(void)
{
    struct profile *p = xmalloc(sizeof *p);

    *p = (struct profile){.path = "prog.heaptap", .symbolised = true, .totals = COUNTERS_ZERO};
    p->process = (struct profile_process){
        .pid = 4242,
        .parent_pid = 4200,
        .command = "prog --test",
        .executable = "/usr/bin/prog",
        .kernel = "Linux 6.1.0",
        .heaptap = "0.1",
        .machine = "x86_64",
        .start_unix_ns = 1700000000000000000,
        .elapsed_ns = 2500000000,
        .cpu_count = 2,
        .page_bytes = 4096,
        .ended = true,
    };
    p->modules = build_profile_append(p, NULL, 0, sizeof *p->modules);
    p->modules[0].path = "";
    p->locations = build_profile_append(p, NULL, 0, sizeof *p->locations);
    p->nodes = build_profile_append(p, NULL, 0, sizeof *p->nodes);
    p->module_count = p->location_count = p->node_count = 1;
    strtab_id(&p->strings, "");
    build_heap(p, "malloc");
    build_labels(p, NULL, NULL);
    return p;
}

struct counters
build_counters(int64_t allocations, int64_t allocated_bytes, int64_t frees, int64_t freed_bytes)
{
    struct counters c = COUNTERS_ZERO;

    c.allocations = allocations;
    c.allocated_bytes = allocated_bytes;
    c.frees = frees;
    c.freed_bytes = freed_bytes;
    c.peak_blocks = allocations - frees;
    c.peak_bytes = allocated_bytes - freed_bytes;
    if (allocations > 0)
        c.size_min = c.size_max = (uint64_t)(allocated_bytes / allocations);
    return c;
}

uint32_t
build_site_frames(struct profile *p, struct counters counters, const char *const *frames,
                  size_t count)
{
    uint64_t size = counters.size_max;
    uint16_t size_class = size <= 32 ? 0 : size <= 256 ? 1 : size <= 2048 ? 2 : 3;
    uint32_t node = build_stack(p, frames, count);

    p->sites = build_profile_append(p, p->sites, p->site_count, sizeof *p->sites);
    p->sites[p->site_count] = (struct profile_site){
        .node = node, .size_class = size_class, .counters = counters};
    counters_add(&p->totals, &counters);
    counters_add(&p->heaps[0].counters, &counters);
    counters_add(&p->label_sets[0].counters, &counters);
    return (uint32_t)p->site_count++;
}

uint32_t
build_heap(struct profile *p, const char *name)
{
    uint32_t i = (uint32_t)p->heap_count;

    p->heaps = build_profile_append(p, p->heaps, i, sizeof *p->heaps);
    p->heaps[i] =
        (struct profile_heap){.name = strtab_get(&p->strings, strtab_id(&p->strings, name)),
                              .own = i > 0,
                              .made = i > 0,
                              .counters = COUNTERS_ZERO,
                              .backing = COUNTERS_ZERO};
    p->heap_count++;
    return i;
}

uint32_t
build_labels(struct profile *p, const char *first_key, ...)
{
    uint32_t i = (uint32_t)p->label_set_count;
    struct profile_label_set set = {.v = arena_array(&p->arena, LABELS_MAX, sizeof *set.v),
                                    .counters = COUNTERS_ZERO};
    const char *text = "";
    va_list ap;

    va_start(ap, first_key);
    for (const char *key = first_key; key != NULL && set.count < LABELS_MAX;
         key = va_arg(ap, const char *)) {
        const char *value = va_arg(ap, const char *);

        set.v[set.count++] = (struct profile_label){
            strtab_get(&p->strings, strtab_id(&p->strings, key)),
            strtab_get(&p->strings, strtab_id(&p->strings, value)),
        };
        text = arena_printf(&p->arena, "%s%s%s=%s", text, set.count > 1 ? ", " : "", key, value);
    }
    va_end(ap);
    set.text = strtab_get(&p->strings, strtab_id(&p->strings, text));
    p->label_sets = build_profile_append(p, p->label_sets, i, sizeof *p->label_sets);
    p->label_sets[i] = set;
    p->label_set_count++;
    return i;
}

void
build_tags(struct profile *p, uint32_t site, uint32_t heap, uint32_t labels)
{
    p->sites[site].heap = heap;
    p->sites[site].labels = labels;
    profile_sum_heaps(p);
}

uint32_t
build_site(struct profile *p, struct counters counters, ...)
{
    const char *frames[FRAMES_MAX];
    size_t count = 0;
    va_list ap;

    va_start(ap, counters);
    while (count < FRAMES_MAX && (frames[count] = va_arg(ap, const char *)) != NULL)
        count++;
    va_end(ap);
    return build_site_frames(p, counters, frames, count);
}

uint32_t
build_thread(struct profile *p, const char *name)
{
    uint32_t i = (uint32_t)p->thread_count;

    p->threads = build_profile_append(p, p->threads, i, sizeof *p->threads);
    p->threads[i] = (struct profile_thread){
        .name = arena_strdup(&p->arena, name),
        .tid = p->process.pid + i,
        .uses = 1,
        .counters = COUNTERS_ZERO,
    };
    p->thread_count++;
    return i;
}

void
build_thread_site(struct profile *p, uint32_t thread, uint32_t site, struct counters counters)
{
    p->thread_sites =
        build_profile_append(p, p->thread_sites, p->thread_site_count, sizeof *p->thread_sites);
    p->row_counters =
        build_profile_append(p, p->row_counters, p->thread_site_count, sizeof *p->row_counters);
    p->row_counters[p->thread_site_count] = counters;
    p->thread_sites[p->thread_site_count++] = (struct profile_thread_site){thread, site};
    counters_add(&p->threads[thread].counters, &counters);
}

void
build_bin(struct profile *p, uint64_t size_min, uint64_t size_max, struct counters counters)
{
    p->bins = build_profile_append(p, p->bins, p->bin_count, sizeof *p->bins);
    p->bins[p->bin_count++] = (struct profile_bin){size_min, size_max, counters};
}

struct profile *
build_profile_small(void)
{
    struct profile *p = build_profile_new();

    build_site(p, build_counters(3, 300, 1, 100), "+make@src/a.c:3", "work@src/a.c:10",
               "main@src/a.c:20", NULL);
    build_site(p, build_counters(5, 50, 0, 0), "work@src/a.c:11", "main@src/a.c:21", NULL);
    build_site(p, build_counters(9, 63, 8, 56), "open_it@lib/x.c:4!/usr/lib/libx.so",
               "main@src/a.c:22", NULL);
    build_site(p, build_counters(1, 5, 0, 0), NULL);
    return p;
}
