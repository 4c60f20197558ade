/* merge_notes.h: merge the notes of tools. */
#ifndef MERGE_MERGE_NOTES_H
#define MERGE_MERGE_NOTES_H

#include "merge/merger.h"

void merge_notes(struct merge *m, const struct profile *from);

#endif
