/* profile_valid.c: the invariants of a model, one per line.
 *
 * They hold for every profile, independent of its writer and its file: a damaged file may have
 * wrong numbers, but loading never produces a wrong index. Counts may have any value; the functions
 * only check that they add up. Sums wrap, so they must be exact. Estimates are sums of doubles,
 * which depend on the order of addition; they are only checked for being finite and not negative.
 *
 * The loader's additional invariants are in load_valid.c. The contents of strings are not
 * checked. */
#include "profile/profile_valid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "util/ensure.h"

enum {
    NODE_FLAGS = NODE_GUESSED | NODE_TRUNCATED | NODE_SHORTENED | NODE_OTHER | NODE_BROKEN |
                 NODE_CALLERLESS | NODE_NO_TABLE
};

static bool
is_string(const struct profile *p, uint32_t id)
{
    return id == 0 || id < p->strings.count;
}

static bool
modules_are_valid(const struct profile *p)
{
    VALID(p->module_count >= 1);                                  // Module 0 means none.
    VALID(p->modules[0].end == 0 && *p->modules[0].path == '\0'); // Module 0 contains no address.
    for (size_t i = 0; i < p->module_count; i++) {
        const struct profile_module *m = &p->modules[i];

        VALID(m->start <= m->end); // Both are 0 if the file's record was invalid.
        VALID(m->path != NULL);    // The path is "" if unknown.
        VALID(m->build_id_bytes <= PROFILE_BUILD_ID_MAX); // Readers copy that many bytes.
        // This is the largest value that a file can have.
        VALID(m->symbols <= SYMBOLS_DEBUG);
    }
    return true;
}

static bool
places_are_valid(const struct profile *p)
{
    VALID(p->location_count >= 1);           // Location 0 means none.
    VALID(p->locations[0].frame_count == 0); // Location 0 has no name for a view to show.
    for (size_t i = 0; i < p->location_count; i++) {
        const struct profile_location *l = &p->locations[i];

        // The module is 0 if no module contains the address.
        VALID(l->module < p->module_count);
        VALID(l->frame_count <= p->frame_count); // The difference in the next line does not wrap.
        // Frames are appended before locations refer to them.
        VALID(l->first_frame <= p->frame_count - l->frame_count);
        // A location without a name has one frame without a function.
        VALID(i == 0 || l->frame_count > 0 || !p->symbolised);
        VALID(l->same < p->location_count); // May be 0; views then show this location itself.
    }
    for (size_t i = 0; i < p->frame_count; i++) {
        const struct profile_frame *f = &p->frames[i];

        VALID(is_string(p, f->function));   // The name was interned before the frame was added.
        VALID(is_string(p, f->linkage));    // The linkage name was interned as well.
        VALID(is_string(p, f->file));       // The file was interned as well.
        VALID(is_string(p, f->language));   // The language is 0 for machine code.
        VALID(f->module < p->module_count); // This is the module of the frame's location.
    }
    return true;
}

static bool
nodes_are_valid(const struct profile *p)
{
    VALID(p->node_count >= 1);                                  // Node 0 is the root.
    VALID(p->nodes[0].location == 0 && p->nodes[0].flags == 0); // The root has no location.
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *n = &p->nodes[i];

        VALID(n->parent < i || i == 0); // Every walk to the root ends, and one pass suffices.
        VALID(n->location < p->location_count);         // A location is created before its nodes.
        VALID((n->flags & ~(uint32_t)NODE_FLAGS) == 0); // Only these flags distinguish stacks.
    }
    return true;
}

static bool
sites_are_valid(const struct profile *p)
{
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *s = &p->sites[i];

        // Counters without a stack belong to "other".
        VALID(s->node != 0 && s->node < p->node_count);
        // The last heap represents heaps that are not in the file.
        VALID(s->heap < p->heap_count);
        // The last label set represents sets that are not in the file.
        VALID(s->labels < p->label_set_count);
        VALID(s->callers <= p->callers_period_count);
        VALID(s->size_class < DISK_SIZE_CLASSES); // Tables by size class have that many rows.
        VALID(s->verdict <= VERDICT_CERTAIN);     // Views have a word for each verdict.
        VALID(is_string(p, s->type));             // The type is 0 if unknown.
    }
    return true;
}

static bool
owners_are_valid(const struct profile *p)
{
    VALID(p->heap_count >= 1); // Heap 0 is malloc.
    for (size_t i = 0; i < p->heap_count; i++) {
        VALID(p->heaps[i].own == (i > 0)); // All other heaps belong to the program.
        VALID(p->heaps[i].name != NULL && *p->heaps[i].name != '\0'); // Views show only the name.
    }
    VALID(p->label_set_count >= 1);     // Set 0 exists.
    VALID(p->label_sets[0].count == 0); // Set 0 has no labels.
    for (size_t i = 0; i < p->label_set_count; i++) {
        const struct profile_label_set *set = &p->label_sets[i];

        VALID(set->text != NULL); // The text of the empty set is "".
        for (size_t k = 0; k < set->count; k++)
            VALID(set->v[k].key != NULL && set->v[k].value != NULL); // A value may be "".
    }
    for (size_t i = 0; i < p->backing_count; i++) {
        const struct profile_backing *b = &p->backings[i];

        VALID(b->heap != 0 && b->heap < p->heap_count); // The backing of malloc is not recorded.
        VALID(b->node != 0 && b->node < p->node_count); // A backing has a stack, as a site has.
    }
    return true;
}

static bool
rows_are_valid(const struct profile *p)
{
    for (size_t i = 0; i < p->thread_count; i++)
        VALID(p->threads[i].name != NULL); // The name is "" if the thread had none.
    for (size_t i = 0; i < p->thread_site_count; i++) {
        const struct profile_thread_site *t = &p->thread_sites[i];

        VALID(t->thread < p->thread_count); // Rows of unknown threads are left out.
        VALID(t->site < p->site_count);     // Rows of unknown sites belong to "other".
    }
    for (size_t i = 0; i < p->unknown_free_count; i++) {
        const struct profile_unknown_free *f = &p->unknown_frees[i];

        // The loader skips other kinds of frees.
        VALID(f->kind >= FREE_FOREIGN && f->kind <= FREE_INHERITED);
        VALID(f->node != 0 && f->node < p->node_count); // The stack is "other" if it is unknown.
        VALID(f->site_node < p->node_count);            // The site's stack is 0 if unknown.
    }
    for (size_t i = 0; i < p->corruption_count; i++) {
        const struct profile_corruption *d = &p->corruptions[i];

        // The loader skips other kinds of corruptions.
        VALID(d->kind >= CORRUPTED_PAST_END && d->kind <= CORRUPTED_OVERWRITTEN);
        VALID(d->found >= CORRUPTION_BY_FREE && d->found <= CORRUPTION_BY_CHECK);
        VALID(d->node < p->node_count && d->site_node < p->node_count);
        VALID(d->front_node < p->node_count && d->written_bytes <= PROFILE_CORRUPTION_BYTES);
    }
    return true;
}

static bool
times_are_valid(const struct profile *p)
{
    for (size_t i = 1; i < p->time_point_count; i++)
        // Times are strictly ascending.
        VALID(p->timeline[i - 1].elapsed_ns < p->timeline[i].elapsed_ns);
    for (size_t i = 0; i < p->mode_count; i++) {
        VALID(p->modes[i].mode <= MODE_OFF); // The loader skips other modes.
        // Modes are sorted by time.
        VALID(i == 0 || p->modes[i - 1].elapsed_ns <= p->modes[i].elapsed_ns);
    }
    for (size_t i = 0; i < p->snapshot_count; i++) {
        const struct profile_snapshot *s = &p->snapshots[i];

        // The loader skips other kinds of snapshots.
        VALID(s->kind < SNAPSHOT_KINDS);
        // The name is "" if the snapshot has none.
        VALID(s->name != NULL);
        // Snapshots are sorted, for binary search.
        VALID(i == 0 || p->snapshots[i - 1].elapsed_ns <= s->elapsed_ns);
    }
    for (size_t i = 0; i < p->change_count; i++) {
        VALID(p->changes[i].thread_site < p->thread_site_count); // The row exists.
        VALID(p->changes[i].interval <= p->snapshot_count); // The interval exists.
    }
    VALID(p->change_count == 0 || p->has_history); // Changes exist only in a history.
    return true;
}

static bool
accesses_are_valid(const struct profile *p)
{
    const struct profile_accesses *a = &p->accesses;

    VALID(a->granule_bytes == 0 || a->granule_bytes == 8 || a->granule_bytes == 16 ||
          a->granule_bytes == 64); // Granules have one of these sizes.
    // A size of 0 means that nothing was counted.
    VALID(a->granule_bytes != 0 || (a->count == 0 && a->field_count == 0));
    for (size_t i = 0; i < a->count; i++)
        // The loader assigns entries of unknown sites to "other".
        VALID(a->v[i].site < p->site_count);
    for (size_t i = 0; i < a->field_count; i++)
        // The loader assigns fields of unknown sites to "other".
        VALID(a->fields[i].site < p->site_count);
    return true;
}

static bool
accesses_are_in_order(const struct profile *p)
{
    const struct profile_accesses *a = &p->accesses;

    for (size_t i = 1; i < a->count; i++)
        VALID(a->v[i - 1].site < a->v[i].site); // Each site has one entry.
    for (size_t i = 1; i < a->field_count; i++) {
        const struct profile_access_field *x = &a->fields[i - 1], *y = &a->fields[i];

        // Each granule has one entry.
        VALID(x->site < y->site || (x->site == y->site && x->index < y->index));
    }
    return true;
}

/* Return true if members lie in their structures, in ascending order. */
static bool
structures_are_valid(const struct profile *p)
{
    for (size_t i = 0; i < p->structure_count; i++) {
        const struct profile_structure *s = &p->structures[i];

        VALID(is_string(p, s->name)); // The name is the name of a type.
        VALID(s->size > 0);           // Block sizes are divided by it.
        for (size_t k = 0; k < s->member_count; k++) {
            const struct profile_member *m = &s->members[k];

            VALID(is_string(p, m->name) && is_string(p, m->type)); // Interned.
            VALID(m->size > 0 && m->offset <= s->size && m->size <= s->size - m->offset);
            VALID(k == 0 || m[-1].offset <= m->offset); // Members are sorted by offset.
        }
    }
    return true;
}

/* Return true if a cut profile has no values that the history lacks. */
static bool
extent_is_valid(const struct profile *p)
{
    bool whole = p->extent == EXTENT_WHOLE;

    VALID(p->extent <= EXTENT_PEAK);                  // Views have a title for each extent.
    VALID(p->totals.partial == !whole);               // Views test `partial` instead of the extent.
    // Bins cover the whole run, so a cut profile has none.
    VALID(whole || p->bin_count == 0);
    // Unknown frees cover the whole run, so a cut profile has none.
    VALID(whole || p->unknown_free_count == 0);
    // Backings cover the whole run, so a cut profile has none.
    VALID(whole || p->backing_count == 0);
    // Errors cover the whole run, so a cut profile has none.
    VALID(whole || p->errors.allocated.samples == 0);
    VALID(whole || p->to.snapshots <= p->snapshot_count + 1); // snapshot_count + 1 is the end.
    // The period is not empty, unless the process did not run in it.
    VALID(p->extent != EXTENT_BETWEEN || p->from.snapshots < p->to.snapshots ||
          p->to.life == POINT_BEFORE_START || p->from.life == POINT_AFTER_END);
    return true;
}

static bool
texts_are_valid(const struct profile *p)
{
    const struct profile_process *pr = &p->process;

    VALID(p->path != NULL);        // Messages begin with the path.
    VALID(pr->command != NULL);    // The command is "" if unknown.
    VALID(pr->executable != NULL); // The executable is "" if unknown.
    VALID(pr->kernel != NULL);     // The kernel is "" if unknown.
    VALID(pr->heaptap != NULL);    // The version is "" if unknown.
    VALID(pr->machine != NULL);    // The machine is "" or "unknown" if unknown.
    for (size_t i = 0; i < p->program_count; i++)
        VALID(p->programs[i].executable != NULL); // The executable is "" if unknown.
    for (size_t i = 0; i < p->note_count; i++)
        VALID(p->notes[i] != NULL); // Each note is one sentence.
    for (size_t i = 0; i < p->run_note_count; i++) {
        const struct profile_note *n = &p->run_notes[i];

        VALID(n->kind != 0); // Kind 0 means unused.
        // Views print these texts.
        VALID(n->text != NULL && n->advice != NULL && n->process != NULL);
    }
    return true;
}

static bool
tables_are_valid(const struct profile *p)
{
    VALID(p->program_count == 0 || p->merged_processes > 0); // A single recording has one program.
    for (size_t i = 0; i < p->bin_count; i++) {
        const struct profile_bin *b = &p->bins[i];

        VALID(b->size_min <= b->size_max);                      // A bin is a range of sizes.
        // The ranges of bins do not overlap.
        VALID(i == 0 || p->bins[i - 1].size_max < b->size_min);
    }
    for (size_t i = 0; i < p->type_count; i++)
        // The name is 0 if the file's strings exceed their limit.
        VALID(is_string(p, p->types[i].name));
    // `typed` is true, because types would be searched again otherwise.
    VALID(p->type_count == 0 || p->typed);
    return true;
}

bool
profile_ids_are_valid(const struct profile *p)
{
    return strtab_is_valid(&p->strings) && texts_are_valid(p) && modules_are_valid(p) &&
           places_are_valid(p) && nodes_are_valid(p) && owners_are_valid(p) && sites_are_valid(p) &&
           rows_are_valid(p) && times_are_valid(p) && extent_is_valid(p) &&
           tables_are_valid(p) && accesses_are_valid(p) && structures_are_valid(p);
}

bool
counters_are_same(const struct counters *a, const struct counters *b)
{
    return a->allocations == b->allocations && a->allocated_bytes == b->allocated_bytes &&
           a->frees == b->frees && a->freed_bytes == b->freed_bytes &&
           a->reallocations == b->reallocations && a->moved == b->moved &&
           a->grown_bytes == b->grown_bytes && a->temporary == b->temporary &&
           (a->lifetimes_unknown || b->lifetimes_unknown ||
            (a->ended_16 == b->ended_16 && a->ended_256 == b->ended_256)) &&
           a->peak_blocks == b->peak_blocks && a->peak_bytes == b->peak_bytes &&
           a->size_min == b->size_min && a->size_max == b->size_max;
}

static struct counters *
profile_valid_new_sums(struct arena *scratch, size_t count)
{
    struct counters *sums = arena_array(scratch, count, sizeof *sums);

    for (size_t i = 0; i < count; i++)
        sums[i] = COUNTERS_ZERO;
    return sums;
}

/* Return true if rows sum to threads and sites. A model without rows only has the sums. */
static bool
row_sums_are_valid(const struct profile *p, struct arena *scratch)
{
    struct counters *threads = profile_valid_new_sums(scratch, p->thread_count);
    struct counters *sites = profile_valid_new_sums(scratch, p->site_count);

    for (size_t i = 0; i < p->thread_site_count; i++) {
        const struct profile_thread_site *t = &p->thread_sites[i];

        counters_add(&threads[t->thread], profile_row_counters(p, i));
        counters_add(&sites[t->site], profile_row_counters(p, i));
    }
    for (size_t i = 0; i < p->thread_count && p->thread_site_count > 0; i++)
        VALID(counters_are_same(&threads[i],
                                // An event counts in its row, its thread, its site and the totals.
                                &p->threads[i].counters));
    for (size_t i = 0; i < p->site_count && p->thread_site_count > 0; i++)
        VALID(
            // Every count belongs to a thread.
            counters_are_same(&sites[i], &p->sites[i].counters));
    return true;
}

static bool
site_sums_are_valid(const struct profile *p, struct arena *scratch)
{
    struct counters total = COUNTERS_ZERO, *heaps = profile_valid_new_sums(scratch, p->heap_count);
    struct counters *backings = profile_valid_new_sums(scratch, p->heap_count);
    struct counters *sets = profile_valid_new_sums(scratch, p->label_set_count);

    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *s = &p->sites[i];

        counters_add(&total, &s->counters);
        counters_add(&heaps[s->heap], &s->counters);
        counters_add(&sets[s->labels], &s->counters);
    }
    for (size_t i = 0; i < p->backing_count; i++)
        counters_add(&backings[p->backings[i].heap], &p->backings[i].counters);
    VALID(counters_are_same(&total, &p->totals)); // A total is the sum of the shown values.
    for (size_t i = 0; i < p->heap_count; i++) {
        // profile_sum_heaps has summed the heaps after the last change.
        VALID(counters_are_same(&heaps[i], &p->heaps[i].counters));
        // profile_sum_heaps has summed the backings as well.
        VALID(counters_are_same(&backings[i], &p->heaps[i].backing));
    }
    for (size_t i = 0; i < p->label_set_count; i++)
        // profile_sum_heaps has summed the label sets as well.
        VALID(counters_are_same(&sets[i], &p->label_sets[i].counters));
    return true;
}

/* Return true if the changes of each row sum to its counters in the profile's extent. */
static bool
history_is_valid(const struct profile *p, struct arena *scratch)
{
    struct profile_amounts *rows = arena_array(scratch, p->thread_site_count, sizeof *rows);
    size_t first = p->extent == EXTENT_BETWEEN ? p->from.snapshots : 0;
    size_t end = p->extent == EXTENT_WHOLE ? SIZE_MAX : p->to.snapshots;

    if (!p->has_history)
        return true;
    for (size_t i = 0; i < p->change_count; i++)
        if (p->changes[i].interval >= first && p->changes[i].interval < end)
            profile_amounts_add(&rows[p->changes[i].thread_site], &p->changes[i].amounts);
    for (size_t i = 0; i < p->thread_site_count; i++) {
        const struct counters *c = profile_row_counters(p, i);
        struct profile_amounts now = {c->allocations, c->allocated_bytes, c->frees, c->freed_bytes};

        VALID(memcmp(&rows[i], &now, sizeof now) == 0); // The changes lead to the counter.
    }
    return true;
}

/* Return true if the amounts of each snapshot equal the sum of all changes before it. */
static bool
snapshots_are_valid(const struct profile *p, struct arena *scratch)
{
    struct profile_amounts *gains = arena_array(scratch, p->snapshot_count + 1, sizeof *gains);
    struct profile_amounts sum = {0};

    for (size_t i = 0; i < p->change_count; i++)
        profile_amounts_add(&gains[p->changes[i].interval], &p->changes[i].amounts);
    for (size_t i = 0; i < p->snapshot_count && p->has_history; i++) {
        profile_amounts_add(&sum, &gains[i]);
        // A snapshot must agree with a cut to its moment.
        VALID(memcmp(&sum, &p->snapshots[i].amounts, sizeof sum) == 0);
    }
    return true;
}

static bool
is_amount(double x)
{
    return x >= 0 && isfinite(x);
}

static bool
are_amounts(const struct error_sum *e)
{
    return is_amount(e->samples) && is_amount(e->blocks) && is_amount(e->bytes) &&
           is_amount(e->blocks_variance) && is_amount(e->bytes_variance);
}

/* Return true if the error bounds in E are finite and not negative: the loader accepts no others,
 * and differences are clamped to zero. */
static bool
errors_are_valid(const struct errors *e)
{
    VALID(are_amounts(&e->allocated)); // Intervals are computed from these sums.
    VALID(are_amounts(&e->freed));     // Errors of live amounts are computed from both sums.
    VALID(are_amounts(&e->peak));      // Errors of the peak are computed from this sum.
    // A unit is a period divided by a size.
    VALID(is_amount(e->blocks_unit_max) && is_amount(e->bytes_unit_max));
    VALID(is_amount(e->blocks_unit_few) && is_amount(e->bytes_unit_few)); // which are not 0.
    for (int i = 0; i < SHARES; i++) {
        const struct share *s = &e->shares[i];

        VALID(is_amount(s->unit) && is_amount(share_variance(s))); // As for samples.
        VALID(e->group != 0 || s->whole == 0);                     // Only a group has an amount.
    }
    return true;
}

bool
profile_sums_are_valid(const struct profile *p)
{
    struct arena scratch = {0};
    bool valid = row_sums_are_valid(p, &scratch) && site_sums_are_valid(p, &scratch) &&
                 history_is_valid(p, &scratch) && snapshots_are_valid(p, &scratch) &&
                 errors_are_valid(&p->errors);

    for (size_t i = 0; i < p->site_count && p->site_errors != NULL && valid; i++)
        valid = errors_are_valid(profile_site_errors(p, i));
    arena_release(&scratch);
    return valid;
}

bool
profile_is_valid(const struct profile *p)
{
    for (size_t i = 1; i < p->type_count; i++)
        VALID(p->types[i - 1].size <= p->types[i].size); // Entries are sorted, for binary search.
    return profile_ids_are_valid(p) && accesses_are_in_order(p) && profile_sums_are_valid(p);
}

/* Return true if the ids of sites are valid for a file, and unique. TAKEN has a flag for each
 * id. */
static bool
site_ids_are_valid(const struct profile *p, bool *taken)
{
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *s = &p->sites[i];
        bool is_other = s->node == 1 && s->heap == 0 && s->labels == 0 && s->callers == 0;

        // Readers interpret these ids as the site "other" in its size classes.
        VALID(s->id == s->size_class + 1U || !is_other);
        // Only "other" has the ids below DISK_SITE_FIRST.
        VALID(s->id >= DISK_SITE_FIRST || is_other);
        // Backings have larger ids than all sites.
        VALID(s->id < DISK_SITE_FIRST + p->site_count || is_other);
        VALID(!taken[s->id]); // With equal ids, a reader would add both sites' counters.
        taken[s->id] = true;
    }
    return true;
}

bool
profile_is_writable(const struct profile *p)
{
    bool *taken, valid;

    VALID(p->node_count >= 2);                 // A file always has the node "other".
    VALID(p->nodes[1].flags & NODE_OTHER);     // The node "other" is node 1.
    VALID(p->module_count <= DISK_NAMED_FRAME); // This id and larger ones are not modules.
    VALID(p->label_set_count < 2 ||
          p->label_sets[1].count == 0); // Set 1 of a file is "other labels".
    for (size_t i = 2; i < p->node_count; i++)
        VALID(!(p->nodes[i].flags & NODE_OTHER)); // In a file, only node 1 can have this flag.
    taken = xmalloc(DISK_SITE_FIRST + p->site_count);
    memset(taken, 0, DISK_SITE_FIRST + p->site_count);
    valid = site_ids_are_valid(p, taken);
    free(taken);
    return valid;
}
