/* core_publish.c: publishes the data with which a core dump distinguishes the program's blocks.
 *
 * The ledger has every live block, and a core dump includes it: core_leaves.c lists its leaves in
 * the record.
 *
 * The record starts at a page boundary, where a reader that knows nothing about the process can
 * find it. It is in private memory, like all data of the recorder. So a child made by fork has no
 * record until it starts recording, and the parent's ledger cannot be mistaken for the child's. A
 * child that never records has only the parent's path and a few other fields, in a variable:
 * `core_origin`.
 *
 * A dump also includes one page of each thread's struct, which has the thread's latest blocks. From
 * it a tool computes a block's owner and its age in allocations. This costs one system call when a
 * thread gets a row, and nothing per event. */
#include "core/core_publish.h"

#include <string.h>
#include <sys/mman.h>

#include "account/account_state.h"
#include "account/thread.h"
#include "annotation/annotated_map.h"
#include "annotation/annotation_form.h"
#include "base/atomics.h"
#include "ledger/ledger_entry.h"
#include "ledger/ledger_state.h"
#include "platform/mem.h"
#include "platform/sys.h"

enum { THREAD_PAGE_BYTES = 4096 };

static_assert((int)CORE_SITE_BITS == (int)LEDGER_SITE_BITS &&
                  (int)CORE_SPAN_BITS == (int)LEDGER_SPAN_BITS &&
                  (int)CORE_KIND_SHIFT == (int)LEDGER_KIND_SHIFT &&
                  (int)CORE_KIND_WIDE == (int)LEDGER_KIND_WIDE &&
                  (int)CORE_KIND_SIDE == (int)LEDGER_KIND_SIDE &&
                  (int)CORE_KIND_ENDED == (int)LEDGER_KIND_ENDED &&
                  (int)CORE_PACKED_SHIFT == (int)LEDGER_GLIBC_SHIFT &&
                  (int)CORE_PACKED_SITE_BITS == (int)LEDGER_PACKED_SITE_BITS &&
                  1 << CORE_PACKED_SUB_SHIFT == LEDGER_PACKED_SUB &&
                  (int)CORE_PACKED_BIRTH_SHIFT == (int)LEDGER_PACKED_BIRTH_SHIFT &&
                  (int)CORE_PACKED_SLACK_MIN == (int)LEDGER_PACKED_SLACK_MIN &&
                  (int)CORE_PLAIN_SLACK_SHIFT == (int)LEDGER_PLAIN_SLACK_SHIFT &&
                  (int)CORE_BIRTHS == (int)LEDGER_BIRTHS &&
                  CORE_HOOKED_KEY == LEDGER_HOOKED &&
                  (unsigned)CORE_HOW_BACKING == LEDGER_BACKING >> LEDGER_SITE_BITS &&
                  (int)CORE_HOW_MODE_SHIFT == (int)LEDGER_MODE_SHIFT - (int)LEDGER_SITE_BITS,
              "internals/core.md");
static_assert((int)CORE_USABLE_NONE == (int)USABLE_NONE &&
                  (int)CORE_USABLE_CALL == (int)USABLE_CALL &&
                  (int)CORE_USABLE_GLIBC == (int)USABLE_GLIBC,
              "internals/core.md");
static_assert(countof(((struct ledger_state *)0)->side) == CORE_SIDES, "internals/core.md");

static_assert((int)CORE_RECENT == (int)RECENT_BLOCKS &&
                  offsetof(struct thread, recent) + sizeof(((struct thread *)0)->recent) <=
                      THREAD_PAGE_BYTES &&
                  offsetof(struct thread, alloc_seq) < THREAD_PAGE_BYTES,
              "internals/core.md");

bool
core_record_start(void)
{
    ledger_state()->core = mem_dumped(sizeof *ledger_state()->core);
    return ledger_state()->core != NULL;
}

static void
publish_origin(struct core_origin *o, const struct core_record *r)
{
    store_release(&o->magic, UINT64_C(0));
    o->address = (uintptr_t)o;
    o->pid = r->pid;
    o->usable = r->usable;
    o->process_start = r->process_start;
    o->start_unix_ns = r->start_unix_ns;
    o->start_monotonic_ns = r->start_monotonic_ns;
    o->session_id = r->session_id;
    o->annotated = r->annotated;
    o->annotation_bytes = r->annotation_bytes;
    o->guard_bytes = r->guard_bytes;
    // Copy only the used part: writing the zeros after it would touch another page.
    memcpy(o->path, r->path, strlen(r->path) + 1);
    store_release(&o->magic, CORE_ORIGIN_MAGIC);
}

void
core_record_publish(struct core_origin *origin)
{
    struct core_record *r = ledger_state()->core;
    const struct disk_header *h = state->header;

    r->version = CORE_VERSION;
    r->record_bytes = sizeof *r;
    r->address = (uintptr_t)r;
    r->pid = h->pid;
    r->process_start = h->process_start;
    r->start_unix_ns = h->start_unix_ns;
    r->start_monotonic_ns = h->start_monotonic_ns;
    r->session_id = h->session_id;
    r->usable = ledger_state()->usable;
    r->granule_shift = ledger_state()->granule_shift;
    if (state->arena == NULL) // With an arena there is no list: adding a thread needs a system
                              // call, which the process may have forbidden by then.
        r->threads = (uintptr_t)mem_dumped(CORE_THREADS * sizeof(uint64_t));
    r->recent_off = offsetof(struct thread, recent);
    r->alloc_seq_off = offsetof(struct thread, alloc_seq);
    if (state->in_memory) {
        size_t count = 0;

        r->flags |= CORE_SELF_CONTAINED;
        r->header = (uintptr_t)h;
        for (uint32_t kind = 1; kind < DISK_KINDS && count < CORE_TABLES; kind++)
            if (state->tables[kind].base != NULL)
                r->tables[count++] =
                    (struct core_table){.kind = kind,
                                        .address = (uintptr_t)state->tables[kind].base,
                                        .max_bytes = state->tables[kind].max_bytes};
    }
    if (annotation_is_on()) {
        r->annotated = (uintptr_t)annotated_leaves();
        r->annotation_bytes = annotation_form.head_bytes;
        r->guard_bytes = annotation_form.guard_bytes;
    }
    mem_publish_pieces(r);
    memcpy(r->path, account_state()->path, sizeof r->path - 1);
    publish_origin(origin, r);
    store_release(&r->magic, CORE_MAGIC);
}

void
core_record_add_thread(const struct thread *t)
{
    struct core_record *r = ledger_state()->core;

    if (r == NULL || r->threads == 0 || t->row >= CORE_THREADS)
        return;
    sys_madvise((void *)(uintptr_t)t, THREAD_PAGE_BYTES, MADV_DODUMP);
    store_release(&((uint64_t *)(uintptr_t)r->threads)[t->row], (uint64_t)(uintptr_t)t);
}
