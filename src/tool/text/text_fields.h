/* text_fields.h: structures and the use of their members, as text. */
#ifndef TEXT_TEXT_FIELDS_H
#define TEXT_TEXT_FIELDS_H

#include "analyse/fields.h"
#include "text/text_view.h"

/* Write the first structures of F, each as a picture of the cache lines with advice below. */
void text_fields(struct text_view *v, const struct fields *f);

#endif
