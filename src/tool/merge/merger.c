/* merger.c: map an input's string ids to the sum's.
 *
 * Each string is looked up in the sum by its text once. The id found is cached in in->strings.
 */
#include "merge/merger.h"

uint32_t
merge_string(struct merge *m, struct merge_input *in, uint32_t id)
{
    if (id != 0 && in->strings[id] == 0)
        in->strings[id] = strtab_id(&m->p->strings, profile_string(in->p, id));
    return in->strings[id];
}
