/* line_text.h: untrusted text in formats where a line break ends an item. */
#ifndef INTERCHANGE_LINE_TEXT_H
#define INTERCHANGE_LINE_TEXT_H

#include "analyse/tags.h"
#include "util/strbuf.h"

/* Append S, which may contain any bytes, in a form that stays on its line and is safe for
 * terminals: a line break becomes a blank, an unprintable character '?'. */
void line_text(struct strbuf *out, const char *s);

/* Append the command of P, or the profiles that it was merged from, in this form. */
void line_title(struct strbuf *out, const struct profile *p, struct arena *arena);

/* Append the recorder that made P, in this form: "heaptap 0.9". */
void line_creator(struct strbuf *out, const struct profile *p);

#endif
