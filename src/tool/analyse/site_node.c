/* site_node.c: find the node of the model for a site's id, through the file's call tree.
 *
 * The model has all nodes of the file's tree, but only those sites that counted something. So the
 * site's node is looked up in the file, and its frames are followed in the model from the root. */
#include "analyse/stacks.h"

/* Return the nearest node of RAW that is not a tag, from I towards the root; 0 = none. */
static uint32_t
untagged(const struct raw_file *raw, uint32_t i)
{
    while (i >= DISK_NODE_FIRST && i < raw_count(raw, DISK_NODES)) {
        const struct disk_node *d = raw_record(raw, DISK_NODES, i);

        if (!(d->flags & DISK_NODE_TAG))
            return i;
        if (d->parent >= i)
            return 0;
        i = d->parent;
    }
    return 0;
}

static uint32_t
find_disk_node(const struct raw_file *raw, uint32_t site)
{
    size_t count = raw_count(raw, DISK_NODES);

    for (size_t i = DISK_NODE_FIRST; i < count; i++) {
        const struct disk_node *d = raw_record(raw, DISK_NODES, i);

        for (uint32_t c = 0; c < DISK_SIZE_CLASSES; c++)
            if (d->site[c] == site)
                return untagged(raw, (uint32_t)i);
    }
    return 0;
}

/* Return the child of PARENT in P that has the frame of D; 0 = none. */
static uint32_t
site_node_find_child(const struct profile *p, uint32_t parent, const struct disk_node *d)
{
    uint32_t module = (uint32_t)(d->frame >> DISK_ADDRESS_BITS);

    for (size_t i = parent + 1; i < p->node_count; i++) {
        const struct profile_location *l = &p->locations[p->nodes[i].location];

        if (p->nodes[i].parent == parent && l->address == (d->frame & DISK_ADDRESS_MASK) &&
            l->module == (module < p->module_count ? module : 0) &&
            l->exact == ((d->flags & DISK_NODE_EXACT) != 0))
            return (uint32_t)i;
    }
    return 0;
}

uint32_t
site_node(const struct raw_file *raw, const struct profile *p, uint32_t site)
{
    const struct disk_node *chain[DISK_DEPTH_MAX + 1];
    uint32_t node = 0, disk = site != 0 ? find_disk_node(raw, site) : 0;
    size_t depth = 0;

    while (disk >= DISK_NODE_FIRST && depth < countof(chain)) {
        const struct disk_node *d = raw_record(raw, DISK_NODES, disk);

        chain[depth++] = d;
        if (d->parent >= disk)
            return 0;
        disk = d->parent;
    }
    for (size_t i = depth; i-- > 0;) {
        node = site_node_find_child(p, node, chain[i]);
        if (node == 0)
            return 0;
    }
    return node;
}
