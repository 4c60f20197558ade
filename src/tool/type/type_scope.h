/* type_scope.h: resolve names and expressions of the source at a point of the program. Includes
 * elfutils' headers. */
#ifndef TYPE_TYPE_SCOPE_H
#define TYPE_TYPE_SCOPE_H

#include "type/type_die.h"
#include "type/type_hint.h"

struct type_scopes;

/* Return a cache of the names in each unit. The caller must free it before DIES. */
struct type_scopes *type_scopes_new(struct type_dies *dies);
void type_scopes_free(struct type_scopes *s);

/* Set *RET to the type that the words of HINT mean in FUNCTION (a function or an inlined call): the
 * named type or, for HINT_TARGET, the pointed-to type of the expression. Return false if the words
 * mean nothing. */
bool type_scope_hint(struct type_scopes *s, Dwarf_Die *function, const struct type_hint *hint,
                     struct type_fact *ret);

#endif
