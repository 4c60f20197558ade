/* load_tree.c: modules, the call tree, its sites, and the symbols of a packed file.
 *
 * Equal nodes that two threads added at the same time are merged. The pseudo-nodes "truncated",
 * "shortened" and "broken" become flags of the frames below them. In the file, a parent comes
 * before its children, so one pass suffices; another order is damage. Tags do not become nodes:
 * they map to the frame above them, and their contents become part of their sites' keys:
 *
 *     key:  | node | size class 2 bits | tags 26 bits (loader.h) |
 *
 * A named frame becomes a location with one frame and no module; the file has its name.
 *
 * The header's flag for tags is ignored. It exists for readers without support for tags, and a live
 * process may set it between the copies of the header and of the nodes.
 *
 * Repeated references are limited by the size of the file: one string in many names by loader.c,
 * one frame in many locations by this file, deep stacks of many sites and many frames of many
 * locations by load_fit.c. Damaged records are skipped and counted. load_counters.c loads the
 * sites' counters. */
#include "load/loader.h"

#include <string.h>

#include "base/hash.h"

enum {
    SITE_ID_MAX = 1 << 22,
    NODE_DEPTH_MAX = 2048,       // Twice the recorder's limit.
    // Maximum number of frames of one location; inlined calls add frames.
    LOCATION_FRAMES_MAX = 256,
    SHARED_FRAMES_MAX = 1 << 20, // Limit of the frames that several locations share.
    SAME_NAME_MAX = 64,          // Limit of the average number of types with the same name.
};

void
load_modules(struct loader *l)
{
    size_t count = raw_count(l->raw, DISK_MODULES);
    struct profile *p = l->p;

    p->module_count = count > 1 ? count : 1;
    if (p->module_count > DISK_NAMED_FRAME)
        p->module_count = DISK_NAMED_FRAME;
    p->modules = arena_array(&p->arena, p->module_count, sizeof *p->modules);
    p->modules[0].path = "";
    for (size_t i = 1; i < p->module_count; i++) {
        const struct disk_module *d = raw_record(l->raw, DISK_MODULES, i);
        struct profile_module *m = &p->modules[i];

        m->path = "";
        if (d->id != i || d->start >= d->end)
            continue;
        m->start = d->start;
        m->end = d->end;
        m->bias = d->bias;
        m->path = strtab_get(&p->strings, loader_string(l, d->path));
        m->unloaded = d->unloaded != 0;
        m->symbols = d->symbols <= DISK_SYMBOLS_DEBUG ? (enum profile_symbols)d->symbols : 0;
        m->build_id_bytes = d->build_id_bytes <= PROFILE_BUILD_ID_MAX ? d->build_id_bytes : 0;
        memcpy(m->build_id, d->build_id, m->build_id_bytes);
    }
    while (p->module_count > 1 && p->modules[p->module_count - 1].end == 0)
        p->module_count--;
}

static uint32_t
load_tree_add_location(struct loader *l, uint64_t frame, bool exact)
{
    struct profile *p = l->p;
    uint32_t module = (uint32_t)(frame >> DISK_ADDRESS_BITS);
    uint64_t key = frame ^ (uint64_t)exact << 63, *known;
    struct loader_recent *recent = &l->recent[hash_u64(key) % countof(l->recent)];
    bool new;

    // Fast path: a tree has about a hundred nodes for each code location.
    if (recent->key == key && key != 0)
        return recent->location;
    known = map_put(&l->known_locations, key, &new);
    if (new)
        *known = p->location_count;
    *recent = (struct loader_recent){key, (uint32_t)*known};
    if (!new)
        return recent->location;
    arena_grow(&p->arena, &p->locations, &l->location_capacity, p->location_count,
               sizeof *p->locations);
    p->locations[p->location_count] = (struct profile_location){
        .address = frame & DISK_ADDRESS_MASK,
        .module = module < p->module_count ? module : 0,
        .exact = exact,
    };
    return (uint32_t)p->location_count++;
}

static uint64_t
load_tree_site_key(uint32_t node, uint32_t size_class, uint32_t tags)
{
    return ((uint64_t)node * DISK_SIZE_CLASSES + size_class) << TAGS_BITS | tags;
}

static uint32_t
key_node(uint64_t key)
{
    return (uint32_t)((key >> TAGS_BITS) / DISK_SIZE_CLASSES);
}

static uint32_t
key_heap(uint64_t key)
{
    return (uint32_t)(key >> TAGS_HEAP_SHIFT) % LOADER_HEAPS_MAX;
}

/* Return the frame of record INDEX of the named frames, or a substitute if the file lacks the
 * record. */
static struct profile_frame
load_tree_named_frame(struct loader *l, uint64_t index)
{
    struct profile *p = l->p;
    struct profile_frame f = {0};
    const struct disk_named *d =
        index < raw_count(l->raw, DISK_NAMED) ? raw_record(l->raw, DISK_NAMED, index) : NULL;

    if (d != NULL && d->id == index) {
        f.function = loader_string(l, d->function);
        f.file = loader_string(l, d->file);
        f.language = loader_string(l, d->language);
        f.line = d->line;
    }
    if (f.function == 0)
        f.function = strtab_id(&p->strings, "(unknown function)");
    if (f.language == 0)
        f.language = strtab_id(&p->strings, "other language");
    return f;
}

/* Return the location of FRAME, a named frame. */
static uint32_t
load_tree_add_named(struct loader *l, uint64_t frame)
{
    struct profile *p = l->p;
    size_t count = p->location_count;
    uint32_t id = load_tree_add_location(l, frame, false);
    struct profile_frame f;

    if (p->location_count == count)
        return id;
    f = load_tree_named_frame(l, frame & DISK_ADDRESS_MASK);
    p->locations[id].module = 0;
    p->locations[id].first_frame = (uint32_t)p->frame_count;
    p->locations[id].frame_count = 1;
    profile_add_frame(p, &f);
    l->named_count++;
    return id;
}

/* Append a node and return its id. */
static uint32_t
append_node(struct loader *l, uint32_t parent, uint32_t location, uint32_t flags)
{
    struct profile *p = l->p;

    l->depth[p->node_count] = (uint16_t)(l->depth[parent] + 1);
    if (l->depth[p->node_count] > l->deepest)
        l->deepest = l->depth[p->node_count];
    p->nodes[p->node_count] = (struct profile_node){parent, location, flags};
    return (uint32_t)p->node_count++;
}

/* Return the node for LOCATION under PARENT, added if new. */
static uint32_t
load_tree_add_node(struct loader *l, uint32_t parent, uint32_t location, uint32_t flags)
{
    uint64_t key = (uint64_t)parent << 32 | location;
    bool new;
    uint64_t *known;

    if (l->one_thread)
        return append_node(l, parent, location, flags);
    // The outermost frame of a truncated stack and the same frame of a whole stack are two nodes. A
    // guessed frame and the same frame found for certain are two nodes as well.
    if (flags != 0)
        key ^= hash_u64(flags);
    known = map_put(&l->known_nodes, key, &new);
    if (new)
        *known = append_node(l, parent, location, flags);
    return (uint32_t)*known;
}

/* Return true if only one thread ever added nodes, so that no node occurs twice. The map of nodes
 * is then not needed. With hundreds of thousands of nodes it exceeds the caches, and the lookups
 * would take longer than the rest of loading. If a forged file has duplicate nodes, a tree view
 * shows them twice. */
static bool
had_one_thread(const struct raw_file *raw)
{
    size_t rows = 0;

    for (size_t i = 1; i < raw_count(raw, DISK_THREADS); i++) {
        const struct disk_thread *d = raw_record(raw, DISK_THREADS, i);

        if (d->id == 0)
            continue;
        if (d->uses > 1 || rows++ > 0)
            return false;
    }
    return rows == 1;
}

/* Return true if D is the node above shortened stacks. Two threads may have added it at the same
 * time, so there may be two. */
static bool
is_shortened_root(const struct disk_node *d)
{
    return d->parent == DISK_NODE_TRUNCATED && d->frame == DISK_SHORTENED;
}

/* Return true if D is the node above short stacks. There may be two, as for shortened stacks. */
static bool
is_short_root(const struct disk_node *d)
{
    return d->parent == DISK_NODE_TRUNCATED && d->frame == DISK_CALLERS_UNRECORDED;
}

/* Return the flags of a frame whose parent in the file is PARENT, a node without a place in the
 * tree; 0 if that is no root. */
static uint32_t
root_flags(struct loader *l, uint32_t parent)
{
    const struct disk_node *d = raw_record(l->raw, DISK_NODES, parent);

    if (is_shortened_root(d))
        return NODE_TRUNCATED | NODE_SHORTENED;
    return is_short_root(d) ? (uint32_t)NODE_CALLERLESS : 0;
}

/* Add node I of the file, a frame, to the tree. Return false if it has no place in the tree. */
static bool
load_frame(struct loader *l, size_t i, const struct disk_node *d)
{
    struct profile *p = l->p;
    uint32_t flags = d->flags & DISK_NODE_GUESSED ? NODE_GUESSED : 0;
    uint32_t parent, location, root;

    if (is_shortened_root(d) || is_short_root(d))
        return true;
    if (d->parent == DISK_NODE_TRUNCATED) {
        flags |= NODE_TRUNCATED;
        parent = 1;
    } else if (d->parent == DISK_NODE_BROKEN) {
        // The guess from this frame has found no caller.
        flags = NODE_BROKEN | (flags & NODE_GUESSED ? NODE_NO_TABLE : 0);
        parent = 1;
    } else if (d->parent < i && l->node_of[d->parent] == 0 &&
               (root = root_flags(l, d->parent)) != 0) {
        flags |= root;
        parent = 1;
    } else {
        parent = d->parent < i && l->tags_of[d->parent] == 0 ? l->node_of[d->parent] : 0;
    }
    if (parent == 0 || l->depth[parent - 1] >= NODE_DEPTH_MAX)
        return false;
    location = d->frame >> DISK_ADDRESS_BITS == DISK_NAMED_FRAME
                   ? load_tree_add_named(l, d->frame)
                   : load_tree_add_location(l, d->frame, d->flags & DISK_NODE_EXACT);
    p->locations[location].runtime |= (d->flags & DISK_NODE_RUNTIME) != 0;
    // The callee of an interrupted function is the trampoline to which its signal handler returns.
    if (p->locations[p->nodes[parent - 1].location].exact)
        p->locations[location].at_start = true;
    l->node_of[i] = 1 + load_tree_add_node(l, parent - 1, location, flags);
    return true;
}

/* Map node I of the file, a tag, to the node above it. Return false if a tag is invalid there. */
static bool
load_tag(struct loader *l, size_t i, const struct disk_node *d)
{
    if (d->parent >= i || d->parent == DISK_NODE_ROOT || l->node_of[d->parent] == 0)
        return false;
    l->tags_of[i] = loader_add_tag(l, d, l->tags_of[d->parent]);
    if (l->tags_of[i] != 0)
        l->node_of[i] = l->node_of[d->parent];
    return l->tags_of[i] != 0;
}

/* Return true if D has no site, like most nodes. */
static bool
is_siteless(const struct disk_node *d)
{
    uint64_t sites[2];

    static_assert(sizeof sites == sizeof d->site, "all of them");
    memcpy(sites, d->site, sizeof sites);
    return (sites[0] | sites[1]) == 0;
}

/* Record the possible sites of D, node I of the file, which must be in the tree. */
static void
note_sites(struct loader *l, size_t i, const struct disk_node *d)
{
    if (is_siteless(d))
        return;
    for (uint32_t c = 0; c < DISK_SIZE_CLASSES; c++) {
        uint32_t id = d->site[c];

        if (id == 0)
            continue;
        if (id < SITE_ID_MAX && id >= l->site_id_end) {
            arena_grow(&l->scratch, &l->site_of, &l->site_id_capacity, id, sizeof *l->site_of);
            l->site_id_end = (uint64_t)id + 1;
        }
        if (id >= SITE_ID_MAX || l->node_of[i] == 0)
            l->bad_sites++;
        else
            l->site_of[id] = 1 + load_tree_site_key(l->node_of[i] - 1, c, l->tags_of[i]);
    }
}

void
load_nodes(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_NODES);

    load_tree_add_location(l, 0, false);
    l->disk_node_count = count;
    l->node_of = arena_array(&l->scratch, count + 1, sizeof *l->node_of);
    l->tags_of = arena_array(&l->scratch, count + 1, sizeof *l->tags_of);
    l->depth = arena_array(&l->scratch, count + 2, sizeof *l->depth);
    p->nodes = arena_array(&p->arena, count + 2, sizeof *p->nodes);
    p->nodes[0] = (struct profile_node){0};
    p->nodes[1] = (struct profile_node){.flags = NODE_OTHER};
    p->node_count = 2;
    l->one_thread = had_one_thread(l->raw);
    if (!l->one_thread)
        map_reserve(&l->known_nodes, count);
    l->node_of[0] = 1;
    // Packing removes empty records from the end of a tree without stacks.
    if (count > DISK_NODE_OTHER)
        l->node_of[DISK_NODE_OTHER] = 2;
    for (size_t i = 1; i < count && i < DISK_NODE_FIRST; i++)
        note_sites(l, i, raw_record(l->raw, DISK_NODES, i));
    for (size_t i = DISK_NODE_FIRST; i < count; i++) {
        const struct disk_node *d = raw_record(l->raw, DISK_NODES, i);

        if (d->frame == 0) // The record is unused, and so are its sites.
            ;
        else if (d->flags & DISK_NODE_TAG)
            l->bad_tags += !load_tag(l, i, d);
        else
            l->bad_nodes += !load_frame(l, i, d);
        note_sites(l, i, d);
    }
}

void
loader_expect_sites(struct loader *l, size_t count)
{
    struct profile *p = l->p;

    arena_grow(&p->arena, &p->sites, &l->site_capacity, count, sizeof *p->sites);
    if (!l->one_thread)
        map_reserve(&l->known_sites, count);
}

/* Return true if no other id of the file maps to the site with KEY. Such sites are not in the map,
 * which for a hundred thousand sites would exceed the caches. Nodes below tags may map to the same
 * site (heaps of one name), and "other" represents all sites without a node. */
static bool
is_sole(const struct loader *l, uint64_t key)
{
    return l->one_thread && key % (1 << TAGS_BITS) == 0 && key_node(key) > 1;
}

/* Return the index of the site with KEY, added if new. */
static uint32_t
load_tree_add_site(struct loader *l, uint64_t key)
{
    struct profile *p = l->p;
    uint64_t sole = 0, *known = &sole;
    bool new = true;

    if (!is_sole(l, key))
        known = map_put(&l->known_sites, key, &new);
    if (new) {
        arena_grow(&p->arena, &p->sites, &l->site_capacity, p->site_count, sizeof *p->sites);
        p->sites[p->site_count] = (struct profile_site){
            .node = key_node(key),
            .size_class = (uint32_t)(key >> TAGS_BITS) % DISK_SIZE_CLASSES,
            .heap = key_heap(key),
            .labels = (uint32_t)(key >> TAGS_LABELS_SHIFT) % LOADER_LABEL_SETS_MAX,
            .callers = (uint32_t)(key >> TAGS_CALLERS_SHIFT) % CALLERS_PERIODS_MAX,
            .counters = COUNTERS_ZERO,
        };
        *known = p->site_count++;
    }
    return (uint32_t)*known;
}

void
load_sites(struct loader *l)
{
    l->index_of_site = arena_array(&l->scratch, l->site_id_end, sizeof *l->index_of_site);
}

uint32_t
loader_site_at(struct loader *l, uint64_t id, size_t *orphaned)
{
    uint32_t site;

    if (id >= l->site_id_end || l->site_of[id] == 0) {
        ++*orphaned;
        return load_tree_add_site(l, load_tree_site_key(1, 0, 0));
    }
    if (l->index_of_site[id] == 0)
        l->index_of_site[id] = 1 + load_tree_add_site(l, l->site_of[id] - 1);
    site = l->index_of_site[id] - 1;
    l->p->sites[site].id = (uint32_t)id;
    return site;
}

/* Return the model's site for the file's id ID; NULL if it has no counters. */
static struct profile_site *
counted_site(const struct loader *l, uint64_t id)
{
    const uint64_t *known;

    if (id >= l->site_id_end || l->site_of[id] == 0)
        return NULL;
    if (l->index_of_site[id] != 0)
        return &l->p->sites[l->index_of_site[id] - 1];
    known = map_get(&l->known_sites, l->site_of[id] - 1); // Another id may have created the site.
    return known != NULL ? &l->p->sites[*known] : NULL;
}

struct profile_backing *
loader_backing_at(struct loader *l, uint64_t id)
{
    uint64_t key = id < l->site_id_end && l->site_of[id] != 0 ? l->site_of[id] - 1 : 0;
    struct profile *p = l->p;
    bool new;
    uint64_t *known;

    if ((key & TAGS_BACKING) == 0)
        return NULL;
    known = map_put(&l->known_backings, (uint64_t)key_node(key) << 32 | key_heap(key), &new);
    if (new) {
        arena_grow(&p->arena, &p->backings, &l->backing_capacity, p->backing_count,
                   sizeof *p->backings);
        p->backings[p->backing_count] = (struct profile_backing){
            .heap = key_heap(key), .node = key_node(key), .counters = COUNTERS_ZERO};
        *known = p->backing_count++;
    }
    return &p->backings[*known];
}

uint32_t
loader_node_at(const struct loader *l, uint64_t id)
{
    return id < l->site_id_end && l->site_of[id] != 0 ? key_node(l->site_of[id] - 1) : 0;
}

void
load_symbols(struct loader *l)
{
    struct profile *p = l->p;
    size_t frame_count = raw_count(l->raw, DISK_FRAMES);
    // In a packed file, each location has separate frames.
    uint64_t left = frame_count + SHARED_FRAMES_MAX;
    size_t found = 0;
    bool has_local = l->raw->tables[DISK_FRAMES].record_bytes >= sizeof(struct disk_frame);

    for (size_t i = 0; i < raw_count(l->raw, DISK_LOCATIONS); i++) {
        const struct disk_location *d = raw_record(l->raw, DISK_LOCATIONS, i);
        uint64_t key = d->frame ^ (uint64_t)((d->flags & DISK_NODE_EXACT) != 0) << 63;
        const uint64_t *known = map_get(&l->known_locations, key);
        struct profile_location *location = known && *known != 0 ? &p->locations[*known] : NULL;

        if (location == NULL || location->frame_count != 0 || d->frame_count == 0 ||
            d->frame_count > LOCATION_FRAMES_MAX || d->first_frame > frame_count ||
            d->frame_count > frame_count - d->first_frame)
            continue;
        if (d->frame_count > left) {
            raw_damage(l->raw, "its places say the same frames over and over; some are left out");
            break;
        }
        left -= d->frame_count;
        location->first_frame = (uint32_t)p->frame_count;
        location->frame_count = d->frame_count;
        if (d->into != 0 && d->into <= location->address)
            location->function_start = location->address - !location->exact - (d->into - 1);
        for (uint32_t f = 0; f < d->frame_count; f++) {
            const struct disk_frame *from = raw_record(l->raw, DISK_FRAMES, d->first_frame + f);

            profile_add_frame(
                p, &(struct profile_frame){
                       .function = loader_string(l, from->function),
                       .linkage = loader_string(l, from->linkage),
                       .file = loader_string(l, from->file),
                       .line = from->line,
                       .module = location->module,
                       .inlined = from->inlined != 0,
                       .local = has_local && from->local != 0,
                   });
        }
        found++;
    }
    p->symbolised = p->location_count > 0 && found + l->named_count + 1 == p->location_count;
}

void
load_types(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_TYPES);
    size_t site_count = raw_count(l->raw, DISK_SITE_TYPES);
    // Limit for damaged files: in others, a type has a new name or shares it with a few types of
    // other sizes.
    uint64_t left = l->raw->tables[DISK_STRINGS].size_bytes * SAME_NAME_MAX;

    p->types = arena_array(&p->arena, count, sizeof *p->types);
    for (size_t i = 0; i < count; i++) {
        const struct disk_type *d = raw_record(l->raw, DISK_TYPES, i);
        uint64_t last = p->type_count > 0 ? p->types[p->type_count - 1].size : 0;

        // A binary search would miss entries out of order.
        if (d->size < last || d->name.bytes == 0)
            continue;
        if (d->name.bytes > left) {
            raw_damage(l->raw, "its types say the same names over and over; some are left out");
            break;
        }
        left -= d->name.bytes;
        p->types[p->type_count++] = (struct profile_type){d->size, loader_string(l, d->name)};
    }
    for (size_t i = 0; i < site_count; i++) {
        const struct disk_site_type *d = raw_record(l->raw, DISK_SITE_TYPES, i);
        struct profile_site *site = counted_site(l, d->site);

        if (site == NULL || d->verdict > VERDICT_CERTAIN)
            continue;
        site->verdict = d->verdict;
        site->type = loader_string(l, d->type);
    }
    p->typed = count + site_count > 0;
}
