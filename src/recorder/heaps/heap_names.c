/* heap_names.c: stores the names of the program's own heaps.
 *
 * A program may create millions of heaps, but with few names, and the profile has one record per
 * name. The texts stay constant across fork, so a child has the same names; it creates its records
 * at first use. When the table of names is full, all further names share the name "other heaps". */
#include "heaps/heap_names.h"

#include <string.h>

#include "account/file.h"
#include "account/nodes.h"
#include "base/atomics.h"
#include "heaps/heap_instance.h"
#include "heaps/heaps_state.h"
#include "platform/mem.h"
#include "platform/selection.h"
#include "platform/sys.h"

enum { NAME_BYTES_MAX = 127, POOL_BYTES = 128 << 10, NAME_OTHER = HEAP_NAMES, RECORD_OTHER = 1 };

static const char other_heaps[] = "other heaps";
static uint32_t places[HEAP_NAMES];
static unsigned char collected[HEAP_NAMES + 1]; // Atomic: nonzero if a collector ends the objects
                                                // of the heaps with this name. Constant across
                                                // fork.
static unsigned char pool[POOL_BYTES];
static struct name_set names = {
    .places = places, .place_count = HEAP_NAMES, .pool = pool, .pool_bytes = POOL_BYTES};

bool
heap_names_start(void)
{
    heaps_state()->heap_names = mem_private((HEAP_NAMES + 1) * sizeof *heaps_state()->heap_names);
    heaps_state()->heaps = mem_private(sizeof *heaps_state()->heaps);
    table_keep(&state->tables[DISK_HEAPS], RECORD_OTHER + 1);
    return heaps_state()->heap_names != NULL && heaps_state()->heaps != NULL;
}

/* Create the nodes of N below "other". They count the bytes of this heap separately even if the
 * tree is full. */
static void
make_others(struct heap_name *n)
{
    uint32_t record = load_relaxed(&n->record);

    for (uint32_t i = 0; i < countof(n->other); i++) {
        uint32_t none = 0;

        if (load_acquire(&n->other[i]) == 0)
            cas_acq_rel(&n->other[i], &none, nodes_make_tag(DISK_TAG_HEAP + i, record));
    }
}

/* Create the record of name number NUMBER and return its index. Return 0 if there is no room. */
static COLD uint32_t
heap_names_make_record(uint32_t number)
{
    struct heap_name *n = &heaps_state()->heap_names[number];
    size_t size_bytes = sizeof other_heaps - 1;
    const void *text =
        number != NAME_OTHER ? name_set_get(&names, number, &size_bytes) : other_heaps;
    struct table *records = &state->tables[DISK_HEAPS];
    uint64_t id = number != NAME_OTHER ? table_take(records, 1) : RECORD_OTHER;
    struct disk_heap *r;
    uint32_t none = 0;

    if (id >= LIMIT_HEAPS)
        return 0;
    r = number != NAME_OTHER ? table_record(records, id) : table_kept(records, id);
    if (r == NULL)
        return 0;
    if (r->name.bytes == 0)
        r->name = file_string(text, size_bytes);
    r->created_ns = sys_clock_ns() - state->start_ns;
    r->flags = load_relaxed(&collected[number]) != 0 ? DISK_HEAP_COLLECTED : 0;
    // If another thread has published a record first, this record stays unpublished.
    if (!cas_acq_rel(&n->record, &none, (uint32_t)id))
        return none;
    store_release(&r->id, (uint32_t)id);
    make_others(n);
    return (uint32_t)id;
}

struct heap_name *
heap_name(uint32_t number)
{
    struct heap_name *n = &heaps_state()->heap_names[number];

    if (likely(load_acquire(&n->record) != 0) || heap_names_make_record(number) != 0)
        return n;
    n = &heaps_state()->heap_names[NAME_OTHER];
    if (load_acquire(&n->record) == 0)
        heap_names_make_record(NAME_OTHER);
    return n;
}

uint32_t
heap_name_number(const char *name)
{
    size_t size_bytes = name != NULL ? strlen(name) : 0;
    uint32_t number = name_set_intern(&names, name != NULL ? name : "",
                                      size_bytes < NAME_BYTES_MAX ? size_bytes : NAME_BYTES_MAX);

    return number != NAME_SET_NONE ? number : (uint32_t)NAME_OTHER;
}

void
heap_name_collects(uint32_t number)
{
    store_relaxed(&collected[number], (unsigned char)1);
}
