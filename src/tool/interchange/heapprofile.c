/* heapprofile.c: write the sampling heap profile of V8, a file NAME.heapprofile, which the Memory
 * panel of Chromium's DevTools opens.
 *
 *     {"title": "bytes in use", "heaptap": "prog --test (pid 4711)", "head":
 *     {"callFrame": {"functionName": "(root)", "scriptId": "0", "url": "",
 *      "lineNumber": -1, "columnNumber": -1}
 *     ,"selfSize":0,"id":1,"children":[
 *     {"callFrame": {"functionName": "main", "scriptId": "1", "url": "src/a.c",
 *      "lineNumber": 19, "columnNumber": -1}
 *     ,"selfSize":250,"id":2,"children":[]}
 *     ]},
 *     "samples": [
 *     {"size":250,"nodeId":2,"ordinal":1}
 *     ]}
 *
 * The format is a tree of calls from the root. A node has its self bytes; the reader adds its
 * callees'. Lines count from 0, and -1 is unknown. The reader merges functions with equal name,
 * script, line and column, so lines come from frame_table.c. A script is a source file; its id is a
 * string.
 *
 * The reader counts the bytes of a recursive function once per occurrence on the stack, so
 * recursion is folded here as in flame graphs (struct exporter, picture).
 *
 * There is one value, shown as bytes, so counts are refused. It cannot be negative. "title" and
 * "heaptap", which readers ignore, describe the file's contents. Samples would give the order of
 * allocations; here each node with bytes has one sample.
 *
 * The tree may be thousands of calls deep. So it is written without recursion, one line per node,
 * without indentation. */
#include "interchange/interchange.h"

#include <inttypes.h>
#include <stdio.h>

#include "export/exporter.h"
#include "export/frame_table.h"
#include "util/json_out.h"

/* A node of the tree. Index 0 is the root; as a child or a sibling it means none. */
struct node {
    uint32_t row; // Row of the frame table; unused in the root.
    uint32_t parent, first_child, last_child, next_sibling;
    int64_t self;
};

struct writer {
    struct arena *arena;
    struct frame_table frames;
    struct strtab scripts;
    struct map children; // parent << 32 | row to node.
    struct node *nodes;
    size_t node_count, node_capacity;
    struct strbuf *out;
    struct json j; // Writes single values.
};

static uint32_t
heapprofile_child_of(struct writer *w, uint32_t parent, uint32_t row)
{
    bool new;
    uint64_t *slot = map_put(&w->children, (uint64_t)parent << 32 | row, &new);
    uint32_t child;

    if (!new)
        return (uint32_t)*slot;
    *slot = child = (uint32_t)w->node_count++;
    arena_grow(w->arena, &w->nodes, &w->node_capacity, child, sizeof *w->nodes);
    w->nodes[child] = (struct node){.row = row, .parent = parent};
    if (w->nodes[parent].last_child != 0)
        w->nodes[w->nodes[parent].last_child].next_sibling = child;
    else
        w->nodes[parent].first_child = child;
    w->nodes[parent].last_child = child;
    return child;
}

/* Build the tree of STACKS by METRIC. Returns the sum of the negative values, which are left
 * out. */
static int64_t
heapprofile_build_tree(struct writer *w, const struct stacks *stacks, enum metric metric)
{
    int64_t below = 0;

    arena_grow(w->arena, &w->nodes, &w->node_capacity, 0, sizeof *w->nodes);
    w->node_count = 1;
    for (size_t i = 0; i < stacks->count; i++) {
        int64_t value = metric_value(&stacks->v[i].counters, metric);
        const uint32_t *rows;
        uint32_t node = 0;
        size_t count;

        if (value <= 0) {
            below = counters_sum(below, value);
            continue;
        }
        rows = frame_table_stack(&w->frames, &stacks->v[i], &count);
        for (size_t k = 0; k < count; k++)
            node = heapprofile_child_of(w, node, rows[k]);
        w->nodes[node].self = counters_sum(w->nodes[node].self, value);
    }
    return below;
}

static void
begin_node(struct writer *w, uint32_t node)
{
    static const struct frame_row root = {"(root)", "", 0};
    const struct frame_row *row = node == 0 ? &root : &w->frames.v[w->nodes[node].row];
    char script[16];

    snprintf(script, sizeof script, "%" PRIu32, strtab_id(&w->scripts, row->file));
    strbuf_str(w->out, "{\"callFrame\": ");
    json_object_line(&w->j, NULL);
    json_string(&w->j, "functionName", row->name);
    json_string(&w->j, "scriptId", script);
    json_string(&w->j, "url", row->file);
    json_int(&w->j, "lineNumber", (int64_t)row->line - 1);
    json_int(&w->j, "columnNumber", -1);
    json_end(&w->j);
    strbuf_fmt(w->out, ",\"selfSize\":%" PRId64 ",\"id\":%" PRIu32 ",\"children\":[",
               w->nodes[node].self, node + 1);
    strbuf_pause(w->out);
}

static void
heapprofile_write_tree(struct writer *w)
{
    uint32_t node = 0;

    begin_node(w, 0);
    for (;;) {
        const struct node *n = &w->nodes[node];

        if (n->first_child != 0) {
            node = n->first_child;
            strbuf_char(w->out, '\n');
            begin_node(w, node);
            continue;
        }
        strbuf_str(w->out, "]}");
        while (node != 0 && w->nodes[node].next_sibling == 0) {
            node = w->nodes[node].parent;
            strbuf_str(w->out, "]}");
            strbuf_pause(w->out);
        }
        if (node == 0)
            return;
        node = w->nodes[node].next_sibling;
        strbuf_str(w->out, ",\n");
        begin_node(w, node);
    }
}

static void
heapprofile_write_samples(struct writer *w)
{
    size_t ordinal = 0;

    strbuf_str(w->out, ",\n\"samples\": [");
    for (size_t i = 0; i < w->node_count; i++) {
        if (w->nodes[i].self == 0)
            continue;
        strbuf_fmt(w->out, "%s\n{\"size\":%" PRId64 ",\"nodeId\":%zu,\"ordinal\":%zu}",
                   ordinal > 0 ? "," : "", w->nodes[i].self, i + 1, ordinal + 1);
        ordinal++;
        strbuf_pause(w->out);
    }
    strbuf_str(w->out, "\n]}\n");
}

int
export_heapprofile(const struct profile *p, const struct stacks *stacks,
                   const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct writer w = {.arena = &arena, .out = out};
    int64_t below;

    if (!metric_is_bytes(options->metric))
        return err_set(err, HEAPTAP_USAGE,
                       "DevTools show all values as bytes, and the metric '%s' is a count",
                       metric_name(options->metric));
    frame_table_init(&w.frames, p, stacks, &options->roots, &arena);
    json_begin(&w.j, out, JSON_VERSION_TABLES);
    below = heapprofile_build_tree(&w, stacks, options->metric);
    strbuf_str(out, "{\"title\": ");
    json_string(&w.j, NULL, title_metric(p, options->metric, below, &arena));
    strbuf_str(out, ", \"heaptap\": ");
    json_string(&w.j, NULL, title_profile(p, stacks, &arena));
    strbuf_str(out, ", \"head\":\n");
    heapprofile_write_tree(&w);
    heapprofile_write_samples(&w);
    strtab_release(&w.scripts);
    map_release(&w.children);
    frame_table_release(&w.frames);
    arena_release(&arena);
    return 0;
}
