/* json_tables.c: write each frame and stack of a document once.
 *
 *     "sites": {"live_bytes": [64, 32, …], "stack": [5, 3, …]}
 *                                               │
 *     "stacks": {"parent": [null, 0, 1, 1, 2, 4], "frame": [null, 0, 1, 2, 3, 4]}
 *                                                                          │
 *     "frames": {"function": [0, 1, …], "line": [9, 40, …], …}  ◄──────────┘
 *
 * Stacks of one program share their outer parts, so they form a tree. Each node is an entry with
 * its frame and its caller's entry, so a stack of a hundred frames adds only its unshared part. For
 * comparison: a compiler's profile of 2 MB takes 600 MB if every site lists its frames.
 *
 * Entries get their index at first use, callers before callees. So a parent is always smaller than
 * its child, and one pass from the end sums a tree. Stack 0 has no frames. The tables come last in
 * the document, when their contents are known; a site that is left out adds no entry. Until then,
 * each entry takes a few integers of memory.
 *
 * In a profile, an entry is looked up by its node, not frame by frame. Equal stacks with other
 * flags, heaps or labels end at other nodes, and the pairs of parent and frame merge them. A
 * comparison has no nodes, and its frames are texts. */
#include "json/json_tables.h"

#include "analyse/fold.h"
#include "util/ensure.h"

struct json_function {
    uint32_t name; // Id in names.
    uint32_t module;
    uint32_t file; // 0 = the module has only one function of the name, or the file is unknown.
};

struct json_module {
    const struct profile_module *of; // NULL: only its path is known.
    const char *path;
};

struct json_frame_row {
    uint32_t function, file, module;
    uint32_t line;
    bool inlined, exact;
    uint64_t address, offset; // Valid if the frame is of a profile.
    // Valid if the frame is of a profile; 0 if the function has a name or an unknown start.
    uint64_t function_offset;
    const char *language;     // NULL = machine code.
};

struct json_stack_row {
    uint32_t parent, frame;
};

void
json_tables_begin(struct json_tables *t, struct json *j, const struct profile *p,
                  struct arena *arena)
{
    *t = (struct json_tables){.j = j, .p = p, .arena = arena};
    if (json_is_nested(j))
        return;
    arena_grow(arena, &t->stacks, &t->stack_capacity, 0, sizeof *t->stacks);
    t->stack_count = 1; // Stack 0, without frames.
    if (p == NULL)
        return;
    user_code_init(&t->own, p, arena);
    t->frame_of = arena_array(arena, p->frame_count + 1, sizeof *t->frame_of);
    t->module_of = arena_array(arena, p->module_count + 1, sizeof *t->module_of);
    t->stack_of = arena_array(arena, p->node_count + 1, sizeof *t->stack_of);
    t->depth_of = arena_array(arena, p->node_count + 1, sizeof *t->depth_of);
    for (size_t i = 1; i < p->node_count; i++)
        t->depth_of[i] = t->depth_of[p->nodes[i].parent] +
                         p->locations[p->nodes[i].location].frame_count;
}

/* Return the id of TEXT in TEXTS; 0 if TEXT is empty or NULL. IDS caches it by address, so TEXT
 * must keep its address as long as IDS exists. */
static uint32_t
json_tables_text_id(struct strtab *texts, struct map *ids, const char *text)
{
    uint64_t *known;

    if (text == NULL || *text == '\0')
        return 0;
    known = map_put(ids, (uint64_t)(uintptr_t)text, NULL);
    if (*known == 0)
        *known = strtab_id(texts, text);
    return (uint32_t)*known;
}

static uint32_t
file_id(struct json_tables *t, const char *text)
{
    return json_tables_text_id(&t->files, &t->file_ids, text);
}

static uint32_t
json_tables_name_id(struct json_tables *t, const char *text)
{
    return json_tables_text_id(&t->names, &t->name_ids, text);
}

static uint32_t
json_tables_add_module(struct json_tables *t, const struct profile_module *of, const char *path)
{
    arena_grow(t->arena, &t->modules, &t->module_capacity, t->module_count, sizeof *t->modules);
    t->modules[t->module_count++] = (struct json_module){of, path};
    return (uint32_t)t->module_count;
}

static uint32_t
json_tables_function_id(struct json_tables *t, uint32_t name, uint32_t module, uint32_t file)
{
    uint64_t *known, home;

    if (name == 0)
        return 0;
    known = map_put(&t->function_homes, (uint64_t)file << 32 | module, NULL);
    if (*known == 0)
        *known = t->function_homes.count;
    home = *known;
    known = map_put(&t->function_ids, (uint64_t)name << 32 | home, NULL);
    if (*known == 0) {
        arena_grow(t->arena, &t->functions, &t->function_capacity, t->function_count,
                   sizeof *t->functions);
        t->functions[t->function_count++] = (struct json_function){name, module, file};
        *known = t->function_count;
    }
    return (uint32_t)*known;
}

static uint32_t
json_tables_add_frame(struct json_tables *t, const struct json_frame_row *row)
{
    arena_grow(t->arena, &t->frames, &t->frame_capacity, t->frame_count, sizeof *t->frames);
    t->frames[t->frame_count] = *row;
    return (uint32_t)t->frame_count++;
}

static uint32_t
child(struct json_tables *t, uint32_t parent, uint32_t frame)
{
    uint64_t *known = map_put(&t->children, (uint64_t)parent << 32 | frame, NULL);

    if (*known == 0) {
        arena_grow(t->arena, &t->stacks, &t->stack_capacity, t->stack_count, sizeof *t->stacks);
        t->stacks[t->stack_count] = (struct json_stack_row){parent, frame};
        *known = t->stack_count++;
    }
    return (uint32_t)*known;
}

static uint32_t
module_index(struct json_tables *t, uint32_t module)
{
    const struct profile_module *m = &t->p->modules[module];

    if (module == 0 && *m->path == '\0')
        return 0;
    if (t->module_of[module] == 0)
        t->module_of[module] = json_tables_add_module(t, m, m->path);
    return t->module_of[module];
}

uint32_t
json_tables_frame(struct json_tables *t, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &t->p->frames[frame];
    const struct profile_location *l = &t->p->locations[location];
    struct json_frame_row row = {
        .file = file_id(t, profile_string(t->p, f->file)),
        .line = f->line,
        .inlined = f->inlined,
        .exact = l->exact,
        .address = l->address,
        .offset = l->address - t->p->modules[l->module].bias,
        .language = f->language != 0 ? profile_string(t->p, f->language) : NULL,
    };

    if (t->frame_of[frame] != 0)
        return t->frame_of[frame] - 1;
    if (row.language != NULL) {
        row.address = row.offset = 0;
        t->has_languages = true;
    }
    if (f->function == 0 && l->function_start != 0)
        row.function_offset = l->function_start - t->p->modules[l->module].bias;
    row.module = module_index(t, f->module);
    row.function = json_tables_function_id(
        t, json_tables_name_id(t, profile_string(t->p, f->function)), row.module,
        profile_is_of_file(f) ? row.file : 0);
    t->frame_of[frame] = json_tables_add_frame(t, &row) + 1;
    return t->frame_of[frame] - 1;
}

/* Return the stack of PARENT with the frames of NODE added, without the innermost FOLDED ones. */
static uint32_t
below(struct json_tables *t, uint32_t parent, uint32_t node, uint32_t folded)
{
    uint32_t location = t->p->nodes[node].location;
    const struct profile_location *l = &t->p->locations[location];

    for (uint32_t i = l->frame_count; i-- > folded;)
        parent = child(t, parent, json_tables_frame(t, l->first_frame + i, location));
    return parent;
}

/* Return the index of the whole stack of NODE. */
static uint32_t
json_tables_whole(struct json_tables *t, uint32_t node)
{
    size_t count = 0;
    uint32_t stack;

    for (; node != 0 && t->stack_of[node] == 0; node = t->p->nodes[node].parent) {
        arena_grow(t->arena, &t->path, &t->path_capacity, count, sizeof *t->path);
        t->path[count++] = node;
    }
    stack = t->stack_of[node];
    while (count-- > 0) {
        stack = below(t, stack, t->path[count], 0);
        t->stack_of[t->path[count]] = stack;
    }
    return stack;
}

uint32_t
json_tables_stack(struct json_tables *t, const struct stack *s)
{
    uint32_t node = s->node, folded;

    if (s->depth == 0)
        return 0;
    if (s->recursion_folded) {
        uint32_t stack = 0;

        for (uint32_t i = s->depth; i-- > 0;)
            stack = child(t, stack, json_tables_frame(t, s->frames[i], s->locations[i]));
        return stack;
    }
    ENSURE(t->depth_of[node] >= s->depth);
    folded = t->depth_of[node] - s->depth;
    while (folded > 0) {
        uint32_t frames = t->p->locations[t->p->nodes[node].location].frame_count;

        if (folded < frames)
            return below(t, json_tables_whole(t, t->p->nodes[node].parent), node, folded);
        folded -= frames;
        node = t->p->nodes[node].parent;
    }
    return json_tables_whole(t, node);
}

static uint32_t
json_tables_pick(struct json_tables *t, struct json_picks *picks, uint32_t index, size_t count)
{
    if (picks->entry_of == NULL)
        picks->entry_of = arena_array(t->arena, count, sizeof *picks->entry_of);
    if (picks->entry_of[index] == 0) {
        arena_grow(t->arena, &picks->v, &picks->capacity, picks->count, sizeof *picks->v);
        picks->v[picks->count++] = index;
        picks->entry_of[index] = (uint32_t)picks->count;
    }
    return picks->entry_of[index] - 1;
}

uint32_t
json_tables_heap(struct json_tables *t, uint32_t heap)
{
    return json_tables_pick(t, &t->heaps, heap, t->p->heap_count);
}

uint32_t
json_tables_labels(struct json_tables *t, uint32_t labels)
{
    return json_tables_pick(t, &t->labels, labels, t->p->label_set_count);
}

uint32_t
json_tables_type(struct json_tables *t, const char *name)
{
    return json_tables_text_id(&t->types, &t->type_ids, name) - 1;
}

/* Return the index plus 1 of the module with PATH, which is interned among the names; 0 if
 * unknown. */
static uint32_t
module_of_text(struct json_tables *t, const char *path)
{
    uint32_t name = json_tables_name_id(t, path);
    uint64_t *known;

    if (name == 0)
        return 0;
    known = map_put(&t->function_ids, (uint64_t)name << 32 | UINT32_MAX, NULL);
    if (*known == 0)
        *known = json_tables_add_module(t, NULL, path);
    return (uint32_t)*known;
}

uint32_t
json_tables_of_texts(struct json_tables *t, uint32_t parent, const struct json_frame_texts *f)
{
    struct json_frame_row row = {.file = file_id(t, f->file),
                                 .module = module_of_text(t, f->module),
                                 .line = f->line,
                                 .inlined = f->inlined};
    uint64_t *known, place;

    // As in the rows of a comparison, the file always decides (diff.c).
    row.function =
        json_tables_function_id(t, json_tables_name_id(t, f->function), row.module, row.file);
    // The second key has its highest bit set, so it differs from all first keys.
    known = map_put(&t->line_ids, (uint64_t)row.function << 32 | row.file << 1 | row.inlined, NULL);
    if (*known == 0)
        *known = t->line_ids.count;
    place = *known;
    known = map_put(&t->line_ids, UINT64_C(1) << 63 | place << 32 | row.line, NULL);
    if (*known == 0)
        *known = (uint64_t)json_tables_add_frame(t, &row) + 1;
    return child(t, parent, (uint32_t)*known - 1);
}

/* Write the index of a table's row, or null for 0. */
static void
put_index(struct json *j, uint32_t index_plus_1)
{
    if (index_plus_1 == 0)
        json_string(j, NULL, NULL);
    else
        json_uint(j, NULL, index_plus_1 - 1);
}

static void
put_texts(struct json *j, const char *key, const struct strtab *texts)
{
    json_array(j, key);
    for (size_t i = 1; i < texts->count; i++)
        json_string(j, NULL, strtab_get(texts, (uint32_t)i));
    json_end(j);
}

/* Return the role of FUNCTION, by its name: "startup", "wrapper" or NULL. */
static const char *
role_of(const char *function)
{
    if (stack_function_is_start_up(function))
        return "startup";
    return fold_is_wrapper(function) ? "wrapper" : NULL;
}

static void
put_functions(const struct json_tables *t, struct json *j)
{
    json_object(j, "functions");
    json_array(j, "name");
    for (size_t i = 0; i < t->function_count; i++)
        json_string(j, NULL, strtab_get(&t->names, t->functions[i].name));
    json_end(j);
    json_array_filled(j, "module");
    for (size_t i = 0; i < t->function_count; i++)
        put_index(j, t->functions[i].module);
    json_end(j);
    json_array_filled(j, "file");
    for (size_t i = 0; i < t->function_count; i++)
        put_index(j, t->functions[i].file);
    json_end(j);
    json_array_filled(j, "role");
    for (size_t i = 0; i < t->function_count; i++)
        json_string(j, NULL, role_of(strtab_get(&t->names, t->functions[i].name)));
    json_end(j);
    json_end(j);
}

static void
put_modules(const struct json_tables *t, struct json *j)
{
    json_array(j, "modules");
    for (size_t i = 0; i < t->module_count; i++)
        json_module(j, t->modules[i].of, t->modules[i].path, &t->own);
    json_end(j);
}

/* Write the column KEY: the uint64_t at OFFSET of each row, in hexadecimal. Write null for rows
 * without an address, and if WITHOUT_ZERO for 0. */
static void
put_addresses(const struct json_tables *t, struct json *j, const char *key, size_t offset,
              bool without_zero)
{
    json_array_filled(j, key);
    for (size_t i = 0; i < t->frame_count; i++) {
        uint64_t value = *(const uint64_t *)((const char *)&t->frames[i] + offset);

        if ((without_zero && value == 0) || t->frames[i].language != NULL)
            json_string(j, NULL, NULL);
        else
            json_address(j, NULL, value);
    }
    json_end(j);
}

static void
put_languages(const struct json_tables *t, struct json *j)
{
    json_array_filled(j, "language");
    for (size_t i = 0; i < t->frame_count; i++)
        json_string(j, NULL, t->frames[i].language);
    json_end(j);
}

static void
put_frames(const struct json_tables *t, struct json *j)
{
    const struct json_frame_row *v = t->frames;
    size_t count = t->frame_count;

    json_object(j, "frames");
    json_array_filled(j, "function");
    for (size_t i = 0; i < count; i++)
        put_index(j, v[i].function);
    json_end(j);
    json_array_filled(j, "file");
    for (size_t i = 0; i < count; i++)
        put_index(j, v[i].file);
    json_end(j);
    json_array_filled(j, "line");
    for (size_t i = 0; i < count; i++)
        if (v[i].line == 0)
            json_string(j, NULL, NULL);
        else
            json_uint(j, NULL, v[i].line);
    json_end(j);
    json_array_filled(j, "module");
    for (size_t i = 0; i < count; i++)
        put_index(j, v[i].module);
    json_end(j);
    json_array_filled(j, "inlined");
    for (size_t i = 0; i < count; i++)
        json_bool(j, NULL, v[i].inlined);
    json_end(j);
    if (t->p != NULL) {
        put_addresses(t, j, "address", offsetof(struct json_frame_row, address), false);
        put_addresses(t, j, "offset", offsetof(struct json_frame_row, offset), false);
        put_addresses(t, j, "function_offset", offsetof(struct json_frame_row, function_offset),
                      true);
        json_array_filled(j, "exact");
        for (size_t i = 0; i < count; i++)
            json_bool(j, NULL, v[i].exact);
        json_end(j);
    }
    if (t->has_languages)
        put_languages(t, j);
    json_end(j);
}

static void
put_stacks(const struct json_tables *t, struct json *j)
{
    json_object(j, "stacks");
    json_array_filled(j, "parent");
    json_string(j, NULL, NULL);
    for (size_t i = 1; i < t->stack_count; i++)
        json_uint(j, NULL, t->stacks[i].parent);
    json_end(j);
    json_array_filled(j, "frame");
    json_string(j, NULL, NULL);
    for (size_t i = 1; i < t->stack_count; i++)
        json_uint(j, NULL, t->stacks[i].frame);
    json_end(j);
    json_end(j);
}

/* Write the tables of heaps, labels and types, which sites refer to. */
static void
json_tables_put_tags(const struct json_tables *t, struct json *j)
{
    if (!t->has_sites)
        return;
    json_array(j, "heaps");
    for (size_t i = 0; i < t->heaps.count; i++)
        json_string(j, NULL, t->p->heaps[t->heaps.v[i]].name);
    json_end(j);
    json_array(j, "labels");
    for (size_t i = 0; i < t->labels.count; i++)
        json_label_set(j, NULL, &t->p->label_sets[t->labels.v[i]]);
    json_end(j);
    if (t->has_types)
        put_texts(j, "types", &t->types);
}

void
json_tables_end(struct json_tables *t)
{
    struct json *j = t->j;

    if (!json_is_nested(j)) {
        json_object(j, "tables");
        put_modules(t, j);
        put_texts(j, "files", &t->files);
        put_functions(t, j);
        put_frames(t, j);
        put_stacks(t, j);
        json_tables_put_tags(t, j);
        json_end(j);
    }
    strtab_release(&t->files);
    strtab_release(&t->names);
    strtab_release(&t->types);
    map_release(&t->file_ids);
    map_release(&t->name_ids);
    map_release(&t->type_ids);
    map_release(&t->function_homes);
    map_release(&t->function_ids);
    map_release(&t->line_ids);
    map_release(&t->children);
}
