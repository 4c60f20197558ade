/* merger.c: strings of an input in the sum.
 *
 * An input's strings are numbers; each is looked up in the sum by its text once, and from then on
 * by its number.
 */
#include "merge/merger.h"

uint32_t
merge_string(struct merge *m, struct merge_input *in, uint32_t id)
{
    if (id != 0 && in->strings[id] == 0)
        in->strings[id] = strtab_id(&m->p->strings, profile_string(in->p, id));
    return in->strings[id];
}
