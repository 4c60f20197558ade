/* messages.h: sentences for the user, apart from results. */
#ifndef VIEW_MESSAGES_H
#define VIEW_MESSAGES_H

#include "base/base.h"

/* Print "heaptap: …", "heaptap: warning: …" or "hint: …" and a newline to stderr, coloured on a
 * terminal. Control characters in the text are shown as "?". */
void message_error(const char *format, ...) PRINTF(1, 2);
void message_warning(const char *format, ...) PRINTF(1, 2);
void message_hint(const char *format, ...) PRINTF(1, 2);

#endif
