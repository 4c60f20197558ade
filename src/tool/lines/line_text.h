/* line_text.h: text that we did not choose, for formats where a line break ends what it is in. */
#ifndef LINES_LINE_TEXT_H
#define LINES_LINE_TEXT_H

#include "analyse/tags.h"
#include "util/strbuf.h"

/* Append S, which may hold any bytes, so that it stays on its line and drives no terminal: a line
 * break becomes a blank, and '?' stands for what cannot be shown. */
void line_text(struct strbuf *out, const char *s);

/* The command of P, or what it was merged from, likewise. */
void line_title(struct strbuf *out, const struct profile *p, struct arena *arena);

/* Which recorder made P, likewise: "heaptap 0.9". */
void line_creator(struct strbuf *out, const struct profile *p);

#endif
