/* losses.h: the recorder's losses as a table, for text and JSON. */
#ifndef VIEW_LOSSES_H
#define VIEW_LOSSES_H

#include "profile/profile.h"

/* The field's name in JSON, its offset in struct profile_losses (a uint64_t), and its meaning, as
 * words that follow a count. The first field is the sum of events; those before loss_cause_end are
 * its parts. */
struct loss_field {
    const char *key;
    size_t offset;
    const char *meaning;
    const char *remedy; // The remedy; NULL = there is none, or none is needed.
};
extern const struct loss_field loss_fields[];
extern const size_t loss_field_count;
extern const size_t loss_cause_end;
extern const size_t loss_stack_field_count; // The first that concern allocations and their stacks.

/* Return the value of FIELD in LOSSES. */
uint64_t loss_value(const struct profile_losses *losses, const struct loss_field *field);

/* Return why the events of LOSSES were not recorded, "20 in signal handlers ...; 4 in ..."; a
 * single cause without its number; "" if no cause is known. From ARENA. */
const char *loss_causes(struct arena *arena, const struct profile_losses *losses);

/* Return the remedy for the largest of these causes, or NULL. */
const char *loss_remedy(const struct profile_losses *losses);

/* Why a profile whose file could not grow is incomplete, with the remedy. The amount and the time
 * of the loss are unknown. */
extern const char loss_of_file[], loss_of_file_remedy[];

#endif
