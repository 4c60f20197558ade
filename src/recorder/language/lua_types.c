/* lua_types.c: labels Lua's objects with their types.
 *
 * From 5.2 on Lua passes its allocator the type of a new object: without an old block, the old size
 * is the type. So the adapter replaces a state's allocator by a function that sets the thread's
 * label "lua" to that type, calls the program's allocator, and removes the label again:
 *
 *     luaM_malloc_ ─► typed_0 ─► label lua=table ─► l_alloc ─► realloc     recorded with that label
 *
 * Memory that belongs to an object has no type, such as the slots of a table or the code of a
 * function. A block that grows has none either. Both are labelled lua=memory. The program's own
 * labels stay beside this one.
 *
 * The function gets only the program's pointer, which several states may share, so there is one
 * function per allocator of the program. Two disadvantages remain: each allocation costs two label
 * changes, and a program that queries its allocator gets the adapter's. So types are labelled only
 * if the environment requests it. */
#include "language/lua_adapter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "heaptap/heaptap.h"
#include "heaptap/language.h"
#include "language/lua_layout.h"

enum { TYPES = 11, TYPE_MEMORY = 0, ALLOCATORS = 8 };

#define VARIABLE "HEAPTAP_LUA_TYPES"

typedef void *allocator(void *ud, void *p, size_t old_bytes, size_t bytes);

/* Types as in lua_type, and Lua's internal types. */
static const char *names[TYPES] = {
    [TYPE_MEMORY] = "memory", [4] = "string", [5] = "table",     [6] = "function",
    [7] = "userdata",         [8] = "thread", [9] = "prototype", [10] = "upvalue",
};

static allocator *originals[ALLOCATORS]; // Atomic.
static bool asked;

/* Cache of this thread, by type: the latest set of labels BEFORE, and WITH, the same set plus the
 * label for the type. */
static __thread struct {
    heaptap_labels before, with;
    bool known;
} cache[TYPES];

#define TYPED __attribute__((section("lua_types_code"), noinline))
extern const char __start_lua_types_code[] __attribute__((visibility("hidden")));
extern const char __stop_lua_types_code[] __attribute__((visibility("hidden")));

static void
label(unsigned type, heaptap_labels before)
{
    if (cache[type].known && cache[type].before == before) {
        heaptap_labels_set(cache[type].with);
        return;
    }
    heaptap_label("lua", names[type]);
    cache[type].known = false;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    cache[type].before = before;
    cache[type].with = heaptap_labels_get();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    cache[type].known = true;
}

TYPED static void *
typed(allocator *original, void *ud, void *p, size_t old_bytes, size_t bytes)
{
    unsigned type = p == NULL && old_bytes < TYPES && names[old_bytes] != NULL
                        ? (unsigned)old_bytes
                        : (unsigned)TYPE_MEMORY;
    heaptap_labels before;

    if (bytes == 0)
        return original(ud, p, old_bytes, bytes);
    before = heaptap_labels_get();
    label(type, before);
    p = original(ud, p, old_bytes, bytes);
    heaptap_labels_set(before);
    return p;
}

#define ALLOCATOR(k)                                                                               \
    TYPED static void *typed_##k(void *ud, void *p, size_t old_bytes, size_t bytes)                \
    {                                                                                              \
        return typed(originals[k], ud, p, old_bytes, bytes);                                       \
    }

ALLOCATOR(0)
ALLOCATOR(1)
ALLOCATOR(2)
ALLOCATOR(3)
ALLOCATOR(4)
ALLOCATOR(5)
ALLOCATOR(6)
ALLOCATOR(7)

static allocator *const ours[ALLOCATORS] = {typed_0, typed_1, typed_2, typed_3,
                                            typed_4, typed_5, typed_6, typed_7};

void
lua_types_begin(void)
{
    const char *value = getenv(VARIABLE);

    asked = value != NULL && strcmp(value, "1") == 0 && !lua_layout->has_array;
    if (!asked)
        return;
    if (strncmp(lua_layout->version, "5.4", 3) == 0) {
        names[9] = "upvalue";
        names[10] = "prototype";
    }
    heaptap_runtime_code(__start_lua_types_code, __stop_lua_types_code);
}

uintptr_t
lua_types_given(uintptr_t function)
{
    for (size_t k = 0; asked && k < ALLOCATORS; k++)
        if (function == (uintptr_t)ours[k])
            return (uintptr_t)originals[k];
    return function;
}

uintptr_t
lua_types_take(uintptr_t *place)
{
    allocator *function = (allocator *)*place, *none;

    if (!asked || function == NULL)
        return (uintptr_t)function;
    for (size_t k = 0; k < ALLOCATORS; k++)
        if (function == ours[k])
            return (uintptr_t)originals[k];
    for (size_t k = 0; k < ALLOCATORS; k++) {
        none = NULL;
        if (!__atomic_compare_exchange_n(&originals[k], &none, function, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE) &&
            none != function)
            continue;
        *place = (uintptr_t)ours[k];
        break;
    }
    return (uintptr_t)function;
}
