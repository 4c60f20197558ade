/* adapt.h: adapters for languages come; see adapt.c. At any time, also outside of events. */
#ifndef EVENT_ADAPT_H
#define EVENT_ADAPT_H

#include "base/base.h"

struct heaptap_language;

/* From now on ask LANGUAGE. False if there is no room for one more. */
bool adapt_language(const struct heaptap_language *language);

/* [START, END) is code of a runtime. False if there is no room for one more. */
bool adapt_runtime_code(uint64_t start, uint64_t end);

/* Can [FIRST, END) be read? Makes a system call for each page, except for those of the thread's own
 * stack from the running function outwards. */
bool adapt_can_read(uint64_t first, uint64_t end);

/* Return how many inner frames of an adapter's answer the recorder reads. */
size_t adapt_frames_wanted(void);

#endif
