/* hook_kinds.h: arguments of `run --hook`: SYMBOL=KIND, or the name of a preset. */
#ifndef LAUNCH_HOOK_KINDS_H
#define LAUNCH_HOOK_KINDS_H

#include "base/hook_slot.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/strbuf.h"

struct hook {
    const char *symbol;
    enum hook_shape shape;
    const char *preset; // NULL: the user named the symbol.
};

struct hook_list {
    struct hook *hooks;
    size_t count, capacity;
};

/* Add the hooks in TEXT, the value of one option. Returns 0, or HEAPTAP_USAGE with ERR set if TEXT
 * is malformed. */
int hook_kinds_add(struct hook_list *list, struct arena *arena, const char *text, struct err *err);

/* Return true if TEXT is "list" or "help", which request the list of kinds and presets. */
bool hook_kinds_is_question(const char *text);

/* Append that list to OUT. */
void hook_kinds_explain(struct strbuf *out);

/* Return the name of the preset with SYMBOL; NULL = none. */
const char *hook_kinds_preset_of(const char *symbol);

#endif
