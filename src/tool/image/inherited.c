/* inherited.c: find blocks that were allocated before a forked child began to record.
 *
 * The recorder's memory is wiped at a fork, so the child's ledger lists only blocks that the child
 * has allocated. Keeping the parent's ledger would add page tables to the cost of every fork, and
 * cost the parent a fault for each page of the ledger that it writes to afterwards. The blocks can
 * still be found in the child's memory:
 *
 *     annotated blocks    the recorder's map of them is inherited
 *     glibc               its heaps are walked (glibc_heap.c), unless the child sampled: the walk
 *                         would list its unsampled blocks as inherited ones
 *     other allocators    unknown: their whole memory is searched for pointers, so that no
 *                         block that an inherited one points to seems lost
 *
 * Their stacks are unknown. One site with one named frame represents them all. It is added to
 * copies of the profile's tables, so that every view and every written profile has it. */
#include "image/examined.h"

#include <string.h>

#include "image/glibc_heap.h"
#include "layout/annotation.h"

// Record of NAMED that represents all other functions. Record 0 is reserved.
enum { NAMED_OTHER = 1 };

/* --- The site --------------------------------------------------------------------------------- */

/* Replace the table KIND of RAW by a copy, cut or padded with zeros to COUNT records, and append
 * ADDED records. Each has RECORD_BYTES, unless the table's records have another size. Return the
 * appended records. */
static unsigned char *
inherited_extend(struct raw_file *raw, enum disk_kind kind, size_t count, size_t record_bytes,
                 size_t added)
{
    struct raw_table *t = &raw->tables[kind];
    size_t old = raw_count(raw, kind), stride = t->record_bytes ? t->record_bytes : record_bytes;
    unsigned char *bytes = arena_alloc(raw->arena, (count + added) * stride);

    if (old > 0)
        memcpy(bytes, t->bytes, (old < count ? old : count) * stride);
    t->bytes = bytes;
    t->size_bytes = (count + added) * stride;
    t->record_bytes = (uint32_t)stride;
    t->in_place = false;
    return bytes + count * stride;
}

static struct disk_string
add_string(struct raw_file *raw, const char *text)
{
    size_t off = raw->tables[DISK_STRINGS].size_bytes, length = strlen(text);

    memcpy(inherited_extend(raw, DISK_STRINGS, off, 1, length), text, length);
    return (struct disk_string){.off = (uint32_t)off, .bytes = (uint32_t)length};
}

static uint32_t
largest_site(const struct raw_file *raw)
{
    uint32_t largest = DISK_SITE_FIRST - 1;

    for (size_t i = 0; i < raw_count(raw, DISK_NODES); i++) {
        const struct disk_node *d = raw_record(raw, DISK_NODES, i);

        for (uint32_t c = 0; c < DISK_SIZE_CLASSES; c++)
            if (d->site[c] > largest)
                largest = d->site[c];
    }
    return largest;
}

/* Add the frame and its sites to RAW. Return the site of the smallest blocks; 0 if there is no
 * room. */
static uint32_t
inherited_add_site(struct raw_file *raw)
{
    size_t named = raw_count(raw, DISK_NAMED), nodes = raw_count(raw, DISK_NODES);
    struct disk_node node = {.parent = DISK_NODE_ROOT};
    struct disk_named frame = {0};
    uint32_t site = largest_site(raw) + 1;

    if (site + DISK_SIZE_CLASSES > CORE_SITE_MASK)
        return 0;
    if (named <= NAMED_OTHER)
        named = NAMED_OTHER + 1;
    if (nodes < DISK_NODE_FIRST)
        nodes = DISK_NODE_FIRST;
    frame.id = (uint32_t)named;
    frame.function = add_string(raw, INHERITED_FRAME);
    frame.language = add_string(raw, "heaptap");
    node.frame = (uint64_t)DISK_NAMED_FRAME << DISK_ADDRESS_BITS | named;
    for (uint32_t c = 0; c < DISK_SIZE_CLASSES; c++)
        node.site[c] = site + c;
    memcpy(inherited_extend(raw, DISK_NAMED, named, sizeof frame, 1), &frame, sizeof frame);
    memcpy(inherited_extend(raw, DISK_NODES, nodes, sizeof node, 1), &node, sizeof node);
    raw->header.incompatible |= (uint64_t)DISK_INCOMPATIBLE_NAMED;
    return site;
}

/* --- The blocks ------------------------------------------------------------------------------- */

struct adding {
    struct examined *e;
    size_t own;    // Number of blocks from the child's ledger, which are first in the list.
    uint32_t site; // Site of the smallest blocks.
};

/* Return true if the child's ledger lists a block of malloc at ADDRESS. */
static bool
inherited_is_own(const struct adding *a, uint64_t address)
{
    size_t low = 0, high = a->own;
    const struct block *v = a->e->blocks.v;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (v[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->own && v[low].address == address && !(v[low].flags & BLOCK_HOOKED);
}

static void
inherited_add(struct adding *a, uint64_t address, uint64_t size_bytes, uint32_t slack_bytes)
{
    struct examined *e = a->e;

    if (inherited_is_own(a, address) || memory_region_at(&e->memory, address) == NULL)
        return;
    blocks_add(&e->blocks, &e->arena,
               (struct block){.address = address,
                              .size_bytes = size_bytes,
                              .site = a->site + disk_size_class(size_bytes),
                              .slack_bytes = (uint8_t)slack_bytes,
                              .flags = BLOCK_INHERITED});
    e->inherited.count++;
    e->inherited.bytes += size_bytes;
}

static void
add_annotated(void *arg, uint64_t address, uint8_t byte)
{
    uint8_t head[ANNOTATION_BEFORE_BYTES + ANNOTATION_BYTES_MAX];
    struct adding *a = arg;
    size_t before = byte & CORE_ANNOTATED_PADDED ? ANNOTATION_BEFORE_BYTES : 0;
    size_t count = before + a->e->record.annotation_bytes;
    struct annotation_shape shape;
    struct annotation found;

    if (count > sizeof head ||
        memory_read(&a->e->memory, address - count, head, count) != count ||
        !annotation_in_front(head, count, address, &shape, &found))
        a->e->inherited.unknown = true;
    else
        inherited_add(a, address, found.size, 0);
}

static void
add_glibc(struct adding *a)
{
    struct examined *e = a->e;
    struct glibc_heap heap;
    struct ended_block ended;

    glibc_heap_read(&e->memory, &e->arena, &heap);
    e->inherited.unknown |= !heap.found || !heap.whole;
    for (size_t i = 0; i < heap.count; i++) {
        const struct glibc_block *b = &heap.v[i];

        // Skip blocks that the child has freed: its ledger lists them as ended.
        if (!blocks_ended_before(&e->memory, &e->record, &e->blocks, b->address,
                                 BLOCKS_LOOK_BACK_BYTES, &ended) ||
            ended.address != b->address)
            inherited_add(a, b->address, b->usable_bytes, b->head_bytes);
    }
}

/* Return true if RAW's ledger may lack blocks that the process itself allocated. */
static bool
inherited_is_sampled(const struct raw_file *raw)
{
    for (size_t i = 0; i < raw_count(raw, DISK_PHASES); i++) {
        const struct disk_phase *phase = raw_record(raw, DISK_PHASES, i);

        if (phase->id != 0 && phase->mode != DISK_MODE_EXACT)
            return true;
    }
    return false;
}

void
inherited_read(struct examined *e)
{
    struct adding a = {.e = e, .own = e->blocks.count};

    e->inherited.forked |= (e->raw.header.process_flags & DISK_PROCESS_FORKED) != 0;
    if (!e->inherited.forked)
        return;
    e->inherited.parent = e->raw.header.parent_pid;
    a.site = inherited_add_site(&e->raw);
    if (a.site == 0)
        e->inherited.unknown = true;
    else if (e->record.annotated != 0)
        annotated_leaves_each(&e->memory, &e->record, add_annotated, &a);
    else if (!e->inherited.silent && inherited_is_sampled(&e->raw))
        e->inherited.unknown = e->inherited.sampled = true;
    else if (e->record.usable == CORE_USABLE_GLIBC)
        add_glibc(&a);
    else
        e->inherited.unknown = true;
    blocks_sort(&e->blocks);
}
