/* json_heapsnapshot.c: the graph of blocks as a heap snapshot, which the Memory panel of Chromium's
 * DevTools opens (V8's format, with the fields that DevTools reads).
 *
 *     {"snapshot": {"meta": {…}, "node_count": 3, "edge_count": 2, "trace_function_count": 0},
 *      "nodes": [9,1,1,0,1,0,0, …],      type, name, id, size, edges, trace node, detachedness
 *      "edges": [1,0,7, …],              type, index, position of the target in "nodes"
 *      …, "strings": ["", "(roots)", …]}
 *
 * The first node is the root. The edges of the nodes follow each other in the order of the nodes.
 * DevTools computes sizes and dominators itself. Its classes are the types of blocks, or the
 * functions that allocate them. */
#include "json/json.h"

#include "retain/retain.h"
#include "util/map.h"
#include "view/retain_view.h"

enum { NODE_FIELDS = 7, OBJECT = 3, SYNTHETIC = 9, ELEMENT = 1 };

struct snapshot_writer {
    struct json *j;
    const struct view *v;
    const struct retain_view *r;
    const struct block_graph *g;
    uint32_t blocks;
    struct strtab strings;
    struct map by_site; // Id of a site to its string.
};

static void
put_names(struct json *j, const char *key, const char *const *names)
{
    json_array_filled(j, key);
    for (size_t i = 0; names[i] != NULL; i++)
        json_string(j, NULL, names[i]);
    json_end(j);
}

/* Write the lists KEY_fields and KEY_types. TYPES, the names of the first field's values, are
 * followed by COUNT kinds of the other fields. */
static void
put_types(struct json *j, const char *key, const char *const *types, const char *const *others)
{
    json_array_filled(j, key);
    put_names(j, NULL, types);
    for (size_t i = 0; others[i] != NULL; i++)
        json_string(j, NULL, others[i]);
    json_end(j);
}

static void
put_meta(struct json *j)
{
    static const char *const node_fields[] = {"type", "name", "id", "self_size", "edge_count",
                                              "trace_node_id", "detachedness", NULL};
    static const char *const node_types[] = {
        "hidden", "array", "string", "object", "code", "closure", "regexp", "number", "native",
        "synthetic", "concatenated string", "sliced string", "symbol", "bigint", "object shape",
        NULL};
    static const char *const node_others[] = {"string", "number", "number", "number", "number",
                                              "number", NULL};
    static const char *const edge_fields[] = {"type", "name_or_index", "to_node", NULL};
    static const char *const edge_types[] = {"context", "element", "property", "internal",
                                             "hidden", "shortcut", "weak", NULL};
    static const char *const edge_others[] = {"string_or_number", "node", NULL};
    static const char *const functions[] = {"function_id", "name", "script_name", "script_id",
                                            "line", "column", NULL};
    static const char *const traces[] = {"id", "function_info_index", "count", "size", "children",
                                         NULL};
    static const char *const samples[] = {"timestamp_us", "last_assigned_id", NULL};
    static const char *const locations[] = {"object_index", "script_id", "line", "column", NULL};

    json_object(j, "meta");
    put_names(j, "node_fields", node_fields);
    put_types(j, "node_types", node_types, node_others);
    put_names(j, "edge_fields", edge_fields);
    put_types(j, "edge_types", edge_types, edge_others);
    put_names(j, "trace_function_info_fields", functions);
    put_names(j, "trace_node_fields", traces);
    put_names(j, "sample_fields", samples);
    put_names(j, "location_fields", locations);
    json_end(j);
}

/* Return the node at INDEX of the snapshot. The root comes first. */
static uint32_t
node_at(const struct snapshot_writer *w, uint32_t index)
{
    return index == 0 ? w->r->top : index <= w->r->top ? index - 1 : index;
}

static uint64_t
index_of(const struct snapshot_writer *w, uint32_t node)
{
    return node == w->r->top ? 0 : node < w->r->top ? node + 1 : node;
}

/* Return the type of the blocks of SITE, an id of the file, or the function that allocates them. */
static const char *
class_of_site(const struct snapshot_writer *w, uint32_t site)
{
    const struct profile *p = w->v->p;
    struct stack stack;

    for (size_t i = 0; i < p->site_count; i++)
        if (p->sites[i].id == site && p->sites[i].verdict >= VERDICT_LIKELY &&
            p->sites[i].type != 0)
            return profile_string(p, p->sites[i].type);
    return memory_view_stack(w->v, w->r->retain->e, site, &stack)
               ? memory_view_function(w->v, &stack)
               : "unknown";
}

static uint32_t
name_of_block(struct snapshot_writer *w, const struct block *b)
{
    bool is_new;
    uint64_t *name = map_put(&w->by_site, b->site, &is_new);

    if (is_new)
        *name = strtab_clean_id(&w->strings, class_of_site(w, b->site));
    return (uint32_t)*name;
}

static uint32_t
name_of_root(struct snapshot_writer *w, uint32_t node)
{
    const struct retain_view *r = w->r;
    const char *name = r->groups.owners[node >= r->first_owner && node < r->top
                                            ? node - r->first_owner
                                            : 0].name;

    if (node == r->top)
        name = "(roots)";
    else if (node == r->lost_node)
        name = "(lost)";
    else if (node < r->first_owner)
        name = r->groups.v[node - r->first_group].name;
    else if (name == NULL)
        name = "(mapped memory)";
    return strtab_clean_id(&w->strings, name);
}

static void
json_heapsnapshot_put_node(struct snapshot_writer *w, uint32_t index)
{
    uint32_t node = node_at(w, index);
    bool is_block = node < w->blocks;
    const struct block *b = is_block ? &w->r->retain->e->blocks.v[node] : NULL;

    json_uint(w->j, NULL, is_block ? OBJECT : SYNTHETIC);
    json_uint(w->j, NULL, is_block ? name_of_block(w, b) : name_of_root(w, node));
    json_uint(w->j, NULL, 2 * (uint64_t)index + 1);
    json_uint(w->j, NULL, is_block ? b->size_bytes : 0);
    json_uint(w->j, NULL, w->g->first[node + 1] - w->g->first[node]);
    json_uint(w->j, NULL, 0);
    json_uint(w->j, NULL, 0);
    strbuf_pause(w->j->out);
}

static void
json_heapsnapshot_put_edges(struct snapshot_writer *w, uint32_t index)
{
    uint32_t node = node_at(w, index);

    for (uint64_t i = w->g->first[node]; i < w->g->first[node + 1]; i++) {
        json_uint(w->j, NULL, ELEMENT);
        json_uint(w->j, NULL, i - w->g->first[node]);
        json_uint(w->j, NULL, index_of(w, w->g->to[i]) * NODE_FIELDS);
    }
    strbuf_pause(w->j->out);
}

static void
put_strings(struct snapshot_writer *w)
{
    json_array_filled(w->j, "strings");
    json_string(w->j, NULL, "");
    for (uint32_t i = 1; i < w->strings.count; i++)
        json_string(w->j, NULL, strtab_get(&w->strings, i));
    json_end(w->j);
}

void
json_heapsnapshot(struct json *j, const struct view *v, const struct retain_view *r)
{
    static const char *const unused[] = {"trace_function_infos", "trace_tree", "samples",
                                         "locations"};
    struct snapshot_writer w = {.j = j, .v = v, .r = r, .g = &r->retain->graph,
                                .blocks = (uint32_t)r->retain->e->blocks.count};

    json_object(j, NULL);
    json_object(j, "snapshot");
    put_meta(j);
    json_uint(j, "node_count", w.g->count);
    json_uint(j, "edge_count", w.g->first[w.g->count]);
    json_uint(j, "trace_function_count", 0);
    json_end(j);
    json_array_filled(j, "nodes");
    for (uint32_t i = 0; i < w.g->count; i++)
        json_heapsnapshot_put_node(&w, i);
    json_end(j);
    json_array_filled(j, "edges");
    for (uint32_t i = 0; i < w.g->count; i++)
        json_heapsnapshot_put_edges(&w, i);
    json_end(j);
    for (size_t i = 0; i < countof(unused); i++)
        put_names(j, unused[i], (const char *const[]){NULL});
    put_strings(&w);
    json_end(j);
    strtab_release(&w.strings);
    map_release(&w.by_site);
}
