/* hooks.h: the hooks of a run, and the search for allocators worth hooking. */
#ifndef LAUNCH_HOOKS_H
#define LAUNCH_HOOKS_H

#include "base/hook_slot.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/strbuf.h"

/* --- hook_kinds.c: arguments of `run --hook`: SYMBOL=KIND, or the name of a preset. */

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

/* Append the list of kinds and presets to OUT. */
void hook_kinds_explain(struct strbuf *out);

/* Return the Ith value that --hook takes without SYMBOL=: the presets, then "list"; NULL after the
 * last one. */
const char *hook_kinds_offered(size_t i);

/* Return the name of the Ith kind; NULL after the last one. */
const char *hook_kinds_name(size_t i);

/* Return the name of the preset with SYMBOL; NULL = none. */
const char *hook_kinds_preset_of(const char *symbol);

/* --- hook_check.c: refuse hooks of variables before the program starts. */

/* Look up LIST's symbols in PROGRAM and its initial libraries. Returns 0, or HEAPTAP_USAGE with ERR
 * set if one of them defines a symbol as anything but a function. If a preset added such a symbol,
 * it is removed from LIST instead. */
int hook_check(struct hook_list *list, const char *program, struct arena *arena, struct err *err);

/* --- hook_stub.c: library of stubs, through which the recorder intercepts functions of chosen
 * names. */

/* Write the library for LIST into a new file. *RET_PATH, from ARENA, must be preloaded before the
 * recorder's LIBRARY; the caller removes the file. It is created where code may be mapped, in
 * DIRECTORY as a last resort. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int hook_stub_write(const struct hook_list *list, const char *library, const char *directory,
                    struct arena *arena, const char **ret_path, struct err *err);

/* Read the marks that the recorder left in the library at PATH into RET_CALLED: one byte for each
 * of its COUNT functions, 1 = called. Return false if they cannot be read. */
bool hook_stub_read(const char *path, size_t count, uint8_t *ret_called);

/* --- own_malloc.c: find allocators behind memory that did not come from malloc, and how to record
 * them. */

struct allocator_search {
    const char *executable; // The program.
    const char *const *modules;
    size_t module_count;
    const char *preloaded; // The process's LD_PRELOAD; NULL = unknown.
    const struct hook_list *hooks; // Already in effect.
    bool without_runtime;          // The program's runtime uses malloc, so it is no explanation.
};

/* Return a line for each allocator found by S, with a remedy; NULL = none. From ARENA. */
const char *own_malloc_advice(const struct allocator_search *s, struct arena *arena);

#endif
