/* merge_access.c: sum access counts by site and by granule.
 *
 * An input whose program counted nothing adds nothing. If granule sizes differ, counts by granule
 * cannot be added, and the sum has none (access_join). Counts by site are kept, although their
 * shares of granules then mix sizes.
 *
 * The flag that uncounted code may have accessed the blocks is merged for each site separately.
 * Therefore a site can be "never accessed" although other programs had uncounted code.
 */
#include "merge/merger.h"

static void
merge_access_add_site(struct merge *m, uint32_t site, const struct profile_access *from)
{
    struct profile_accesses *sum = &m->p->accesses;
    bool is_new;
    uint64_t *known = map_put(&m->accesses, site, &is_new);

    if (is_new) {
        arena_grow(&m->p->arena, &sum->v, &m->access_capacity, sum->count, sizeof *sum->v);
        sum->v[sum->count] = ACCESS_NONE;
        sum->v[sum->count].site = site;
        *known = sum->count++;
    }
    access_add(&sum->v[*known], from);
}

static void
add_field(struct merge *m, uint32_t site, const struct profile_access_field *from)
{
    struct profile_accesses *sum = &m->p->accesses;
    bool is_new;
    uint64_t *known = map_put(&m->access_fields, (uint64_t)site << 32 | from->index, &is_new);

    if (is_new) {
        arena_grow(&m->p->arena, &sum->fields, &m->access_field_capacity, sum->field_count,
                   sizeof *sum->fields);
        sum->fields[sum->field_count] =
            (struct profile_access_field){.site = site, .index = from->index};
        *known = sum->field_count++;
    }
    access_field_add(&sum->fields[*known], from);
}

void
merge_accesses(struct merge *m, struct merge_input *in)
{
    const struct profile_accesses *a = &in->p->accesses;

    access_join(&m->p->arena, &m->p->accesses, a);
    for (size_t i = 0; i < a->count; i++)
        merge_access_add_site(m, in->sites[a->v[i].site], &a->v[i]);
    for (size_t i = 0; i < a->field_count; i++)
        add_field(m, in->sites[a->fields[i].site], &a->fields[i]);
}

void
merge_accesses_finish(struct merge *m)
{
    struct profile_accesses *sum = &m->p->accesses;

    if (sum->granules_max == 0)
        sum->field_count = 0;
    access_sort(sum);
}
