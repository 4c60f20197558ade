/* merger.c: map the string ids of an input to those in the sum.
 *
 * Each string is looked up by its text once; in->strings caches the id found.
 */
#include "merge/merger.h"

uint32_t
merge_string(struct merge *m, struct merge_input *in, uint32_t id)
{
    if (id != 0 && in->strings[id] == 0)
        in->strings[id] = strtab_id(&m->p->strings, profile_string(in->p, id));
    return in->strings[id];
}
