/* text_session.h: a session as text. */
#ifndef TEXT_TEXT_SESSION_H
#define TEXT_TEXT_SESSION_H

#include "view/session.h"

/* Write the totals over all processes of SET, and a line for each process, at most LIMIT (0 = the
 * default). */
void text_session(const struct view_set *set, const struct style *style, size_t limit,
                  struct arena *arena, struct strbuf *out);

#endif
