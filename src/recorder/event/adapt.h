/* adapt.h: registers language adapters; see adapt.c. Call at any time, inside or outside events. */
#ifndef EVENT_ADAPT_H
#define EVENT_ADAPT_H

#include "base/base.h"

struct heaptap_language;

/* Register LANGUAGE; the recorder calls it from now on. Return false if there is no room. */
bool adapt_language(const struct heaptap_language *language);

/* Register [START, END) as code of a runtime. Return false if there is no room. */
bool adapt_runtime_code(uint64_t start, uint64_t end);

/* Return true if [FIRST, END) is readable. Makes a system call for each page, except for pages of
 * the thread's own stack from the running function outwards. */
bool adapt_can_read(uint64_t first, uint64_t end);

/* Return the number of inner frames of an adapter's answer that the recorder reads. */
size_t adapt_frames_wanted(void);

#endif
