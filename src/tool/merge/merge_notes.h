/* merge_notes.h: what tools noted of the inputs, into the sum. */
#ifndef MERGE_MERGE_NOTES_H
#define MERGE_MERGE_NOTES_H

#include "merge/merger.h"

void merge_notes(struct merge *m, const struct profile *from);

#endif
