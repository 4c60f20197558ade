/* titles.h: titles of a file for another tool, and of its values. */
#ifndef EXPORT_TITLES_H
#define EXPORT_TITLES_H

#include "analyse/stacks.h"

/* Return the version that recorded P: "heaptap 1.0". From ARENA. */
const char *title_exporter(const struct profile *p, struct arena *arena);

/* Return the program of P: "prog", "merged from 2 processes of prog", or the path of the profile if
 * the program is unknown. A damaged profile adds "(damaged profile)". From ARENA. */
const char *title_program(const struct profile *p, struct arena *arena);

/* Return the origin of P: "prog --test (pid 4711)". A damaged profile adds "(damaged profile)", and
 * estimates add the sentence of export_estimate. From ARENA. */
const char *title_profile(const struct profile *p, const struct stacks *stacks,
                          struct arena *arena);

/* Return the name of METRIC's values: "bytes in use", "bytes in use at 64.0 s", "calls, estimated".
 * LEFT_OUT, if not 0, is the sum of the values that the format cannot hold: "bytes in use, without
 * -12 of stacks below zero". From ARENA. */
const char *title_metric(const struct profile *p, enum metric metric, int64_t left_out,
                         struct arena *arena);

#endif
