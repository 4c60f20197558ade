/* losses.h: the recorder's losses as a table, for text and JSON. */
#ifndef VIEW_LOSSES_H
#define VIEW_LOSSES_H

#include "profile/profile.h"

/* A field of struct profile_losses: its name in JSON, its offset (of a uint64_t), and its meaning,
 * as words that follow a count. The first field is the sum of lost events; the fields up to
 * loss_cause_end are its parts. */
struct loss_field {
    const char *key;
    size_t offset;
    const char *meaning;
    const char *remedy; // NULL = there is none, or none is needed.
};
extern const struct loss_field loss_fields[];
extern const size_t loss_field_count;
extern const size_t loss_cause_end;
extern const size_t loss_stack_field_count; // Number of leading fields that concern allocations and
                                            // their stacks.

/* Return the value of FIELD in LOSSES. */
uint64_t loss_value(const struct profile_losses *losses, const struct loss_field *field);

/* Return the causes of the lost events in LOSSES, "20 in signal handlers ...; 4 in ..."; a single
 * cause without its number; "" if no cause is known. From ARENA. */
const char *loss_causes(struct arena *arena, const struct profile_losses *losses);

/* Return the remedy for the largest of these causes, or NULL. */
const char *loss_remedy(const struct profile_losses *losses);

/* Sentence about a profile whose file could not grow, and the remedy. The amount and the time of
 * the loss are unknown. */
extern const char loss_of_file[], loss_of_file_remedy[];

#endif
