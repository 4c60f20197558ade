/* fold_runtime.c: remove the interpreter from a script's stacks.
 *
 *     recorded:  main ◄ lua_pcallk ◄ luaV_execute ◄ fill fill.lua:19 ◄ luaH_resize
 *                       ----------   ------------                      -----------
 *     shown:     main ◄ fill fill.lua:19
 *
 * The runtime's C frames repeat the named frame with less detail. Therefore they are removed from
 * stacks with named frames, inside and outside of these. Their allocations are then charged to the
 * script's function. A stack without named frames is unchanged, because it has only the runtime.
 * Frames of heaptap's adapters are removed from all stacks.
 *
 * The tree itself is changed, so views need no special case. Sites of a removed node below a named
 * frame move to the nearest remaining node further out. The parent of a named frame becomes the
 * nearest remaining node. Unreferenced nodes stay in the tree, without sites. */
#include "profile/time_slice.h"

#include <stdlib.h>
#include <string.h>

#include "util/path.h"

enum { END_FLAGS = NODE_GUESSED | NODE_TRUNCATED | NODE_SHORTENED | NODE_BROKEN |
                 NODE_CALLERLESS | NODE_NO_TABLE };

static bool
is_runtime(const struct profile *p, uint32_t node)
{
    return p->locations[p->nodes[node].location].runtime;
}

/* Return the nearest remaining node from NODE outwards. Add the flags of removed nodes to
 * *FLAGS. */
static uint32_t
outer(const struct profile *p, uint32_t node, uint32_t *flags)
{
    while (node != 0 && is_runtime(p, node)) {
        *flags |= p->nodes[node].flags & END_FLAGS;
        node = p->nodes[node].parent;
    }
    return node;
}

/* Replace *NODE by the node that it was moved to. */
static void
fold_runtime_follow(uint32_t *node, const uint32_t *to)
{
    if (to[*node] != 0)
        *node = to[*node];
}

/* Move sites and other references to nodes, as TO says by node; 0 = the node stays. */
static void
follow_all(struct profile *p, const uint32_t *to)
{
    for (size_t i = 0; i < p->site_count; i++)
        fold_runtime_follow(&p->sites[i].node, to);
    for (size_t i = 0; i < p->backing_count; i++)
        fold_runtime_follow(&p->backings[i].node, to);
    for (size_t i = 0; i < p->unknown_free_count; i++) {
        fold_runtime_follow(&p->unknown_frees[i].node, to);
        fold_runtime_follow(&p->unknown_frees[i].site_node, to);
    }
    for (size_t i = 0; i < p->corruption_count; i++) {
        fold_runtime_follow(&p->corruptions[i].node, to);
        fold_runtime_follow(&p->corruptions[i].site_node, to);
        fold_runtime_follow(&p->corruptions[i].front_node, to);
    }
}

/* Remove the frames of heaptap's adapters, which the runtime calls instead of its allocator. The
 * frame that called the adapter has their allocations. */
static void
remove_adapters(struct profile *p)
{
    static const char adapter[] = "libheaptap_";
    bool *own = xcalloc(p->module_count, sizeof *own);
    uint32_t *to = xcalloc(p->node_count, sizeof *to); // By node of an adapter: its caller.
    bool any = false;

    for (size_t i = 1; i < p->module_count; i++) {
        own[i] = strncmp(path_basename(p->modules[i].path), adapter, sizeof adapter - 1) == 0;
        any = any || own[i];
    }
    // Parents have smaller numbers, so their entries are complete.
    for (uint32_t i = 1; any && i < p->node_count; i++) {
        struct profile_node *n = &p->nodes[i];

        fold_runtime_follow(&n->parent, to);
        if (own[p->locations[n->location].module])
            to[i] = n->parent;
    }
    if (any)
        follow_all(p, to);
    free(own);
    free(to);
}

void
fold_runtime(struct profile *p)
{
    // By node: the node that replaces it, for a named frame and for a node below one; otherwise 0.
    uint32_t *to;

    p->runtime_folded = true;
    remove_adapters(p);
    for (size_t i = 0; i < p->location_count; i++) {
        if (p->locations[i].runtime)
            break;
        if (i + 1 == p->location_count)
            return;
    }
    for (size_t i = 0; i < p->location_count; i++)
        p->modules[p->locations[i].module].runtime |= p->locations[i].runtime;
    to = xcalloc(p->node_count, sizeof *to);
    // Parents have smaller numbers, so their entries are complete.
    for (uint32_t i = 1; i < p->node_count; i++) {
        struct profile_node *n = &p->nodes[i];
        bool named = profile_language(p, &p->locations[n->location]) != 0;

        if (to[n->parent] != 0) {
            n->parent = to[n->parent];
            to[i] = is_runtime(p, i) ? n->parent : i;
        } else if (named) {
            n->parent = outer(p, n->parent, &n->flags);
            to[i] = i;
        }
    }
    for (size_t i = 0; i < p->site_count; i++)
        p->sites[i].by_language =
            to[p->sites[i].node] != 0 && to[p->sites[i].node] != p->sites[i].node;
    follow_all(p, to);
    free(to);
}
