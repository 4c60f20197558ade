/* errors.c: records the variance of estimates. When samples are taken, the counters of a site are
 * estimates. DISK_ERRORS has the variance of these estimates. One record per site serves all
 * threads, because samples are rare. */
#include "event/errors.h"

#include "account/account_state.h"
#include "account/file.h"
#include "base/atomics.h"
#include "event/event_state.h"
#include "platform/arch_x86_64.h"
#include "platform/state.h"

static void
add_double(double *sum, double value)
{
    uint64_t *bits = (uint64_t *)(void *)sum;
    uint64_t current = load_relaxed(bits), next_bits;
    double d;

    do {
        __builtin_memcpy(&d, &current, sizeof d);
        d += value;
        __builtin_memcpy(&next_bits, &d, sizeof next_bits);
    } while (!cas_acq_rel(bits, &current, next_bits));
}

static void
raise_double(double *largest, double value)
{
    uint64_t *bits = (uint64_t *)(void *)largest;
    uint64_t current = load_relaxed(bits), next_bits;
    double d;

    __builtin_memcpy(&next_bits, &value, sizeof next_bits);
    do {
        __builtin_memcpy(&d, &current, sizeof d);
        if (d >= value)
            return;
    } while (!cas_acq_rel(bits, &current, next_bits));
}

static void
errors_add_error(struct disk_error_sum *s, const struct draw_weight *w)
{
    add_relaxed(&s->samples, UINT64_C(1));
    add_relaxed(&s->blocks, w->blocks);
    add_relaxed(&s->bytes, w->bytes);
    add_double(&s->blocks_variance, w->blocks_variance);
    add_double(&s->bytes_variance, w->bytes_variance);
}

/* Return the record of SITE, created on first use. Return NULL if memory is exhausted. */
static struct disk_error *
error_of(uint32_t site)
{
    struct table *t = &state->tables[DISK_ERRORS];
    uint32_t *place =
        site < load_relaxed(&account_state()->errors_count) ? &account_state()->errors[site] : NULL;
    uint32_t known = place != NULL ? load_acquire(place) : 0;
    uint64_t made;

    if (place == NULL)
        return NULL;
    if (known == 0) {
        if ((made = table_take(t, 1)) == TABLE_NONE)
            return NULL;
        if (cas_acq_rel(place, &known, (uint32_t)made + 1)) {
            known = (uint32_t)made + 1;
            store_release(&((struct disk_error *)table_record(t, made))->site, (uint64_t)site);
        }
    }
    return table_record(t, known - 1);
}

/* Save E for the peak, as peak_save does for counters. If two threads save it concurrently, the
 * saved value may be wrong by one event. */
static void
save_error(struct disk_error *e)
{
    uint64_t epoch = load_relaxed(&state->header->shared.peak_epoch);

    if (load_relaxed(&e->peak_epoch) == epoch)
        return;
    e->peak = (struct disk_error_sum){
        .samples = e->allocated.samples - e->freed.samples,
        .blocks = e->allocated.blocks - e->freed.blocks,
        .bytes = e->allocated.bytes - e->freed.bytes,
        .blocks_variance = e->allocated.blocks_variance - e->freed.blocks_variance,
        .bytes_variance = e->allocated.bytes_variance - e->freed.bytes_variance,
    };
    store_relaxed(&e->peak_epoch, epoch);
}

void
errors_count(const struct thread *t, uint32_t site, const struct draw_weight *w,
             enum errors_event event)
{
    struct disk_error *e = error_of(site);
    uint32_t floats;

    add_relaxed(&event_state()->sampled_events, w->blocks);
    if (e == NULL)
        return;
    floats = arch_floats_begin();
    if (event == ERRORS_FREE || !t->at_peak)
        save_error(e);
    errors_add_error(event == ERRORS_ALLOC ? &e->allocated : &e->freed, w);
    raise_double(&e->blocks_unit_max, w->blocks_unit);
    raise_double(&e->bytes_unit_max, w->bytes_unit);
    arch_floats_end(floats);
}
