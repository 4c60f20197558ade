/* fields_svg.h: structures as heat maps of their cache lines, in one SVG file. */
#ifndef SVG_FIELDS_SVG_H
#define SVG_FIELDS_SVG_H

#include "analyse/fields.h"
#include "util/strbuf.h"

/* Append the picture of the first LIMIT structures of F, of P, to OUT. */
void fields_svg(const struct profile *p, const struct fields *f, size_t limit, struct strbuf *out);

#endif
