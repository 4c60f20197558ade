/* sample.h: the gate in front of every allocation and free when not everything is recorded.
 *
 * Each thread has credit; an allocation is charged its size (or 1, when calls are counted). What
 * leaves credit passes: straight to the next allocator, nothing else. In exact mode the credit is
 * so low that nothing passes, for the price of one subtraction and one branch. A new thread has
 * none, so its first call takes a look.
 */
#ifndef MONITOR_SAMPLE_H
#define MONITOR_SAMPLE_H

#include "base/atomics.h"
#include "format/format.h"
#include "monitor/arch_x86_64.h"
#include "monitor/draw.h"
#include "monitor/ledger.h"
#include "monitor/next.h"
#include "monitor/thread.h"

/* In exact mode credit starts there and falls by one a call. */
#define SAMPLE_EXACT (INT64_MIN / 2)

enum gate {
    GATE_PASS,   // Not chosen: leave it alone.
    GATE_EXACT,  // Record it as it is.
    GATE_SAMPLE, // Record it as a sample, in tls.sampled_phase.
    GATE_FIRST,  // Recording has not started: make the call, then ask sample_first.
};

/* Process constants: a child made by fork goes on in the same way. */
struct sample {
    uint32_t mode;             // Atomic, enum disk_mode: of the present phase.
    uint32_t change;           // Atomic: rises with each new phase and at the start; 0 before.
    uint32_t present;          // Atomic: index into phases.
    bool known;                // The environment has been read.
    uint64_t begin_ns, end_ns; // By the clock: when to begin and to stop recording; 0 = never.
    struct draw_phase wanted;  // What begins then.
    struct draw_phase phases[LIMIT_PHASES];
};
extern struct sample sample;

/* Before the first event: find out what is wanted, and write it into the profile. */
void sample_start(void);

/* Take the present phase over, unless that is done. For a thread that is in the recorder. */
void sample_adopt(void);

/* Is anything asked for, or is it time? To be called in the recorder now and then. */
void sample_poll(void);

/* The program itself says that recording begins, in the way that was asked for, or ends. For a
 * thread that is in the recorder. */
void sample_switch(bool on);

/* The credit is used up: what becomes of this call from SLOT for SIZE_BYTES? */
enum gate sample_look(uint64_t size_bytes, uint64_t slot);

/* The same when the call has been made; starts recording. */
enum gate sample_first(uint64_t size_bytes, uint64_t slot);

/* Charge a call for SIZE_BYTES. True: it is to be left alone. */
static inline bool
sample_passes(uint64_t size_bytes)
{
    int64_t left = tls.credit - (int64_t)draw_charge(size_bytes, tls.charge_mask);

    tls.credit = left;
    return likely(left >= 0);
}

/* Is the thread not in the recorder, and does it record every call? Two loads: one of both words
 * would have to wait for the latest store of the first to reach the cache. */
static inline bool
sample_is_plain(void)
{
    return likely(tls.busy == BUSY_NO) && likely(tls.exact);
}

/* What becomes of a call for SIZE_BYTES from SLOT that does not pass. */
static inline enum gate
sample_what(uint64_t size_bytes, uint64_t slot)
{
    return sample_is_plain() ? GATE_EXACT : sample_look(size_bytes, slot);
}

/* Both. */
static inline enum gate
sample_gate(uint64_t size_bytes, uint64_t slot)
{
    return sample_passes(size_bytes) ? GATE_PASS : sample_what(size_bytes, slot);
}

/* A block that the gate chose as a sample, as hook_alloc. */
void sample_alloc(void *p, size_t size_bytes, struct arch_caller caller);

/* As hook_realloc_end when GATE is not GATE_EXACT. */
void sample_realloc_end(void *p, struct ledger_entry old, void *result, size_t size_bytes, bool ok,
                        enum gate gate, struct arch_caller caller);

/* About how large P is, of which the ledger knows nothing; 0 if nobody can tell. */
uint64_t sample_usable(const void *p);

/* The sample OLD at P ends; returns the change of live bytes. MOVED: by realloc. */
int64_t sample_ends(struct thread *t, struct ledger_entry old, const void *p, bool moved);

/* A free of P, at which no block is known to live, in a process that has left blocks out.
 * FREED_SITE: one of that site has lived there. */
void sample_unknown_free(struct thread *t, const void *p, uint32_t freed_site,
                         struct arch_caller caller);

/* Counts, by page of address modulo the table's size, the samples that live there; 255 = many. */
enum { SAMPLE_PAGE_BITS = 12, SAMPLE_FILTER_PAGES = 1 << 20 };
extern uint8_t sample_filter[SAMPLE_FILTER_PAGES];

static inline uint8_t *
sample_filter_of(const void *p)
{
    return &sample_filter[(uintptr_t)p >> SAMPLE_PAGE_BITS & (SAMPLE_FILTER_PAGES - 1)];
}

/* A block at P must be seen when it is freed, whatever the phase. Taken back by sample_ends. */
void sample_filter_add(const void *p);

/* A block at P that is no sample must be seen too: nobody takes this back. */
void sample_filter_keep(const void *p);

/* The sample OLD, at a block that is its owner's still, was never taken; as sample_ends. */
int64_t sample_undo(struct thread *t, struct ledger_entry old, const void *p);

/* There is something on P's page: is it not P? */
bool sample_is_nothing(const void *p);

/* Some blocks are left out now, and P is one of them or nobody's: its free needs no look. */
static inline bool
sample_left_out(const void *p)
{
    if (likely(load_relaxed(&sample.mode) == DISK_MODE_EXACT))
        return false;
    return likely(load_relaxed(sample_filter_of(p)) == 0) || sample_is_nothing(p);
}

#endif
