/* lisp_table.h: Lisp objects by class and type, as a table for text and JSON. */
#ifndef VIEW_LISP_TABLE_H
#define VIEW_LISP_TABLE_H

#include "view/table.h"
#include "view/view.h"

/* Make *RET the table of V's profile, without rows if it has no Lisp objects. */
void lisp_table_build(const struct view *v, struct table *ret);

#endif
