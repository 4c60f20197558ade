/* losses.h: the recorder's losses as a table, for text and JSON. */
#ifndef VIEW_LOSSES_H
#define VIEW_LOSSES_H

#include "profile/profile.h"

/* The field's name in JSON, its place in struct profile_losses (a uint64_t), and what it means, in
 * words that follow a count. The first field is the sum of events. */
struct loss_field {
    const char *key;
    size_t offset;
    const char *meaning;
};
extern const struct loss_field loss_fields[];
extern const size_t loss_field_count;
extern const size_t loss_stack_field_count; // The first that concern allocations and their stacks.

/* What LOSSES has in FIELD. */
uint64_t loss_value(const struct profile_losses *losses, const struct loss_field *field);

#endif
