/* annotate_corruption.c: finds and records corruption of annotated blocks in the running program.
 *
 * An overflow first changes the guard of its block, from the first byte on. After the allocator's
 * own bytes, it changes the next annotation from the start. An underflow changes the annotation of
 * its block, from the end downwards. So a guard changed at its first byte indicates an overflow of
 * the same block. An annotation whose end mark is lost, after an intact block, indicates an
 * underflow of the same block. An annotation whose begin mark is lost indicates an overflow of the
 * block before it, if that is corrupted too.
 *
 * Each corruption becomes a record of the profile, or is only counted if there is no room. Each
 * block is recorded once.
 *
 * A check of all blocks (--check-every) walks the map of addresses (annotated_map.c). Each Nth
 * event of a thread checks a part: LOOK_BLOCKS blocks or LOOK_BYTES of address space, whichever
 * limit is reached first. One thread checks at a time. While a block is checked, its memory is not
 * released: a thread that frees the block meanwhile leaves the release to the check. So the check
 * reads only mapped memory, and no thread waits.
 *
 * When the program ends by exit, check_end checks all blocks once. It takes time in proportion to
 * the number of blocks, which is less than their allocation took. A deadline was rejected, because
 * the result would depend on the speed of the machine.
 *
 * A program may forbid reads of its blocks or unmap them, as when it destroys an arena of its
 * allocator. So a check of all blocks asks the kernel once a page whether it can be read.
 *
 * For each 16 MiB of address space, the map stores the time when all its blocks were last known to
 * be intact. This is the start of the latest complete pass over it. */
#include "annotator/annotate_real.h"

#include <string.h>

#include "account/file.h"
#include "annotation/annotated_map.h"
#include "base/atomics.h"
#include "event/stack_frames.h"
#include "format/environment.h"
#include "ledger/ledger.h"
#include "platform/host.h"
#include "platform/state.h"
#include "platform/sys.h"

enum {
    NEAR_BYTES = 256,      // Maximum distance of neighbours, not counting padding.
    FRONT_BYTES = 1 << 26, // Maximum distance of the block before a corrupted block.
    LOOK_BLOCKS = 256,
    LOOK_BYTES = 1 << 24,
    END_TRIES = 256, // Number of times check_end waits for the check of another thread.
};

#define PAGE_BYTES UINT64_C(4096)

static void (*release)(void *);

/* --- Neighbours ------------------------------------------------------------------------------- */

/* A block near a corrupted one, as the check found it. */
struct neighbour {
    void *p; // NULL = none.
    struct annotation_state state;
    uint64_t size_bytes; // 0 = no longer known.
};

static void
look_ends(void *p)
{
    if (annotated_looked(p))
        release(p);
}

static struct neighbour
check_look_at(void *p)
{
    struct neighbour n = {0};

    if (p == NULL || !annotated_look(p))
        return n;
    n.p = p;
    n.state = annotation_validate(p);
    n.size_bytes = n.state.whole ? annotation_size(p) : 0;
    look_ends(p);
    return n;
}

static struct neighbour
front_of(const void *p)
{
    return check_look_at(annotated_before(p, FRONT_BYTES));
}

/* Return true if the memory of block P begins right after the memory of its neighbour N. */
static bool
check_is_adjacent(const struct neighbour *n, const void *p)
{
    uintptr_t end = (uintptr_t)n->p + n->size_bytes + annotation_form.guard_bytes;
    uintptr_t begin = (uintptr_t)p - annotation_form.head_bytes;

    return n->p != NULL && (!n->state.whole || (end <= begin && begin - end <= NEAR_BYTES));
}

/* Return true if an underflow of the block after P has reached P's guard. P is intact except for
 * its guard. */
static bool
overflows_from_behind(const void *p, struct annotation_state s, struct neighbour *ret_behind)
{
    uintptr_t end = (uintptr_t)p + annotation_size(p) + annotation_form.guard_bytes, next;

    if (s.guard_changed == 0)
        return false;
    *ret_behind =
        check_look_at(annotated_next(end, NEAR_BYTES + annotation_form.head_bytes, &next));
    return ret_behind->p != NULL && !ret_behind->state.ends;
}

/* --- Records ---------------------------------------------------------------------------------- */

static uint64_t
elapsed_ns(uint64_t ns)
{
    return ns > state->start_ns ? ns - state->start_ns : 0;
}

static uint64_t
whole_ns(const void *p, struct annotation_state s)
{
    const uint64_t *seen = annotated_seen_ns(p);
    uint64_t ns = seen != NULL ? load_relaxed(seen) : 0;
    uint64_t birth_ns = s.whole ? annotation_birth(p) : 0;

    return elapsed_ns(birth_ns > ns ? birth_ns : ns);
}

static void
classify_corruption(void *p, struct annotation_state s, struct disk_corruption *d,
                    uint32_t *ret_kind)
{
    struct neighbour front = front_of(p), behind;

    d->address = (uintptr_t)p;
    d->size_bytes = s.whole ? annotation_size(p) : 0;
    d->site = ledger_site(p);
    d->front_address = (uintptr_t)front.p;
    d->front_size_bytes = front.size_bytes;
    d->front_site = front.p != NULL ? ledger_site(front.p) : 0;
    *ret_kind = DISK_CORRUPTION_BEFORE_START;
    if (s.whole && overflows_from_behind(p, s, &behind)) {
        d->front_address = d->address;
        d->front_size_bytes = d->size_bytes;
        d->front_site = d->site;
        d->address = (uintptr_t)behind.p;
        d->size_bytes = 0;
        d->site = ledger_site(behind.p);
    } else if (s.whole) {
        *ret_kind = DISK_CORRUPTION_PAST_END;
    } else if (check_is_adjacent(&front, p) && annotation_is_corrupted(front.state)) {
        *ret_kind = DISK_CORRUPTION_OVERWRITTEN;
    } else if (s.ends && !s.begins) {
        *ret_kind = DISK_CORRUPTION_OVERWRITTEN;
    }
}

void
corruption_found(void *p, struct annotation_state s, enum disk_corruption_found found,
                 struct arch_caller caller)
{
    struct disk_corruption made = {.found = found}, *d;
    uint32_t kind;
    uint64_t index;

    if (state == NULL || load_acquire(&state->ready) != READY_YES || !annotated_reports(p))
        return;
    add_relaxed(&state->header->damaged_blocks, UINT64_C(1));
    index = table_take(&state->tables[DISK_CORRUPTIONS], 1);
    if (index == TABLE_NONE)
        return;
    classify_corruption(p, s, &made, &kind);
    made.node = frames_node(caller);
    made.found_ns = elapsed_ns(sys_clock_ns());
    made.whole_ns = whole_ns(p, s);
    made.written_bytes =
        annotation_written(p, s, made.written, sizeof made.written, &made.at);
    d = table_record(&state->tables[DISK_CORRUPTIONS], index);
    *d = made;
    store_release(&d->kind, kind);
}

/* --- Checks ----------------------------------------------------------------------------------- */

static uint32_t every;     // Number of events of a thread between two checks; 0 = no checks.
static uint32_t looking;   // Atomic: id of the process with a checking thread; 0 = none.
static uintptr_t place;    // Address where the next check begins. Only the checking thread uses
                           // this and the next two.
static uintptr_t span;     // Start of the span that the check is in,
static uint64_t began_ns;  // and the time when the check entered it.
static uintptr_t readable; // Latest page that could be read; 0 = none.

void
check_start(void (*give_back)(void *))
{
    uint64_t n = host_number(ENVIRONMENT_CHECK_EVERY);

    release = give_back;
    every = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Enter the span that contains AT; AT = 0 ends the pass. If the check thereby leaves a span, store
 * in the map the time when it entered that span. */
static void
enter_span(uintptr_t at)
{
    uintptr_t next = round_down(at, UINT64_C(1) << CORE_SPAN_BITS);

    if (next == span && at != 0)
        return;
    if (span != 0 && annotated_seen_ns((void *)span) != NULL)
        store_relaxed(annotated_seen_ns((void *)span), began_ns);
    span = next;
    began_ns = sys_clock_ns();
}

/* Return true if the SIZE_BYTES at ADDRESS can be read. */
static bool
check_can_read(uintptr_t address, uint64_t size_bytes)
{
    uintptr_t end = address + size_bytes;

    for (uintptr_t page = round_down(address, PAGE_BYTES); page < end; page += PAGE_BYTES) {
        if (page == readable)
            continue;
        if (!sys_is_readable(page))
            return false;
        readable = page;
    }
    return true;
}

/* Check the pinned block P. */
static void
check_block(void *p)
{
    uintptr_t head_bytes = annotation_form.head_bytes + sizeof(uint64_t); // A padding's length.
    struct annotation_state s;

    if (!check_can_read((uintptr_t)p - head_bytes, head_bytes))
        return;
    s = annotation_validate_head(p);
    if (s.whole && check_can_read((uintptr_t)p + annotation_size(p), annotation_form.guard_bytes))
        s = annotation_validate(p);
    if (unlikely(annotation_is_corrupted(s)))
        corruption_found(p, s, DISK_FOUND_BY_CHECK, (struct arch_caller){0});
}

/* Check the next blocks. Return false at the end of the pass. */
static bool
check_look(void)
{
    uintptr_t first = place, next;

    readable = 0; // The program may have unmapped the page since.
    for (uint32_t i = 0; i < LOOK_BLOCKS && place - first < LOOK_BYTES; i++) {
        void *p = annotated_next(place, LOOK_BYTES - (place - first), &next);

        if (p != NULL)
            enter_span((uintptr_t)p);
        if (p != NULL && annotated_look(p)) {
            check_block(p);
            look_ends(p);
        }
        place = next;
        if (next == 0 || next < first) {
            enter_span(0);
            return false;
        }
        if (first == 0)
            first = next; // The first block of a span has no block before it, so take the block
                          // itself.
    }
    return true;
}

/* Return true if no other thread checks. Then this thread may check until it sets LOOKING to 0. */
static bool
check_begins(void)
{
    uint32_t here = state != NULL && load_acquire(&state->ready) == READY_YES
                        ? state->header->pid
                        : 0;
    uint32_t nobody = load_relaxed(&looking);

    // A forked child does not continue a check of its parent.
    return here != 0 && nobody != here && cas_acq_rel(&looking, &nobody, here);
}

static COLD void
look_if_nobody_does(void)
{
    if (!check_begins())
        return;
    check_look();
    store_release(&looking, 0u);
}

void
check_end(void)
{
    if (release == NULL)
        return;
    for (uint32_t i = 0; !check_begins(); i++) {
        if (i == END_TRIES)
            return;
        sys_wait(i);
    }
    place = span = 0;
    while (check_look())
        continue;
    store_release(&looking, 0u);
}

void
check_event(void)
{
    if (likely(every == 0) || ++tls.check_countdown < every)
        return;
    tls.check_countdown = 0;
    look_if_nobody_does();
}
