/* titles.h: titles of a file for another tool, and of the values in it. */
#ifndef EXPORT_TITLES_H
#define EXPORT_TITLES_H

#include "analyse/stacks.h"

/* Return the version that recorded P: "heaptap 1.0". From ARENA. */
const char *title_exporter(const struct profile *p, struct arena *arena);

/* Return the program of P: "prog", or "merged from 2 processes of prog"; the path of the profile if
 * that is not known. Followed by "(damaged profile)" if it is. From ARENA. */
const char *title_program(const struct profile *p, struct arena *arena);

/* Return the source of P: "prog --test (pid 4711)", followed by "(damaged profile)" and the
 * sentence about estimates where they apply. From ARENA. */
const char *title_profile(const struct profile *p, const struct stacks *stacks,
                          struct arena *arena);

/* Return the name of METRIC's values: "bytes in use", "bytes in use at 64.0 s", "calls, estimated".
 * LEFT_OUT, if not 0, is the sum that the format cannot hold: "bytes in use, without -12 of stacks
 * below zero". From ARENA. */
const char *title_metric(const struct profile *p, enum metric metric, int64_t left_out,
                         struct arena *arena);

#endif
