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
 * Their stacks are unknown. One site with one named frame represents them all. */
#include "image/examined.h"

#include "image/glibc_heap.h"
#include "image/raw_sites.h"
#include "layout/annotation.h"

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
    static const char *const frame[] = {INHERITED_FRAME};
    struct adding a = {.e = e, .own = e->blocks.count};

    e->inherited.forked |= (e->raw.header.process_flags & DISK_PROCESS_FORKED) != 0;
    if (!e->inherited.forked)
        return;
    e->inherited.parent = e->raw.header.parent_pid;
    a.site = raw_sites_add(&e->raw, frame, 1);
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
