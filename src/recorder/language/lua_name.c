/* lua_name.c: finds names and positions of Lua's functions.
 *
 * The key of a cached id is the prototype of a Lua function and the position in its code. The
 * memory of both may be freed and reused, so a hit is verified by the prototype's description. A C
 * function is identified by its address. Its name is the one in a module of Lua, or else the name
 * of its first call.
 *
 * lua_getinfo returns the name of a function. It neither allocates nor changes Lua's state, but it
 * reads the records of calls, and Lua's stack through them. At the end of a realloc these may have
 * moved before Lua has stored the new addresses. So lua_getinfo gets copies of the two call records
 * that it reads, with corrected addresses. In 5.1, where calls are an array, it gets a copy of the
 * state with such an array. */
#include "language/lua_adapter.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "heaptap/language.h"
#include "language/lua_layout.h"

enum {
    IDS = 1 << 14,        // Size of `ids`, a power of two.
    TABLE_SHIFT_MAX = 16, // Larger tables are not modules.
    NAME_BYTES = 160,
    DEBUG_BYTES = 256,
};

lua_name_getinfo_fn *lua_name_getinfo;

/* A cached id of an instruction or of a C function. SAID describes the prototype as it was when the
 * id was made. */
struct known {
    uintptr_t key, code; // The prototype and the instruction, or the C function; 0 = unused.
    struct lua_proto proto;
    unsigned id;
};

static struct known ids[IDS];
static char ids_busy; // Atomic: true while a thread is writing an entry.

/* --- Names of C functions --------------------------------------------------------------------- */

/* Return the nodes of the table at T, and their number in *RET_COUNT. */
static uintptr_t
lua_name_nodes_of(uintptr_t t, size_t *ret_count)
{
    unsigned shift = *(const unsigned char *)(t + lua_layout->table_shift);

    *ret_count = shift <= TABLE_SHIFT_MAX ? (size_t)1 << shift : 0;
    return lua_word(t + lua_layout->table_nodes);
}

/* Return the text of NODE's key; NULL if it is not a short string. */
static const char *
lua_name_key_of(uintptr_t node)
{
    const struct lua_layout *y = lua_layout;

    if ((*(const unsigned char *)(node + y->key_type) & LUA_TYPE_MASK) != LUA_IS_STRING)
        return NULL;
    return (const char *)(lua_word(node + y->key_value) + y->string_text);
}

/* Return true if the value of NODE is the C function FUNCTION. */
static bool
is_function(uintptr_t node, uintptr_t function)
{
    const struct lua_layout *y = lua_layout;
    unsigned type = lua_type_at(node);

    if (type == LUA_IS_LIGHT_C && !y->has_array)
        return lua_word(node) == function;
    return type == (y->has_array ? LUA_IS_FUNCTION : LUA_IS_C) &&
           lua_closure_function(y, lua_word(node)) == function;
}

/* Return the table stored under KEY in table T; 0 if there is none. */
static uintptr_t
table_in(uintptr_t t, const char *key)
{
    size_t count;
    uintptr_t node = lua_name_nodes_of(t, &count);

    for (size_t i = 0; i < count; i++, node += lua_layout->node_bytes) {
        const char *text = lua_name_key_of(node);

        if (text != NULL && lua_type_at(node) == LUA_IS_TABLE && strcmp(text, key) == 0)
            return lua_word(node);
    }
    return 0;
}

/* Store "MODULE.NAME" in TO, or "NAME" for a global. */
static void
lua_name_put_name(char to[NAME_BYTES], const char *module, const char *name)
{
    size_t length = strcmp(module, "_G") == 0 ? 0 : strnlen(module, NAME_BYTES / 2 - 2);

    memcpy(to, module, length);
    if (length > 0)
        to[length++] = '.';
    to[length] = '\0';
    strncat(to, name, NAME_BYTES / 2 - 1);
}

/* Find the name of FUNCTION in a loaded module of L. Return false if it has none. */
static bool
lua_name_find_name(uintptr_t l, uintptr_t function, char to[NAME_BYTES])
{
    const struct lua_layout *y = lua_layout;
    uintptr_t registry = lua_word(l + y->state_global) + y->global_registry, loaded, module;
    size_t modules, count;
    bool found = false;

    if (lua_type_at(registry) != LUA_IS_TABLE ||
        (loaded = table_in(lua_word(registry), "_LOADED")) == 0)
        return false;
    module = lua_name_nodes_of(loaded, &modules);
    for (size_t i = 0; i < modules; i++, module += y->node_bytes) {
        uintptr_t node;

        if (lua_type_at(module) != LUA_IS_TABLE || lua_name_key_of(module) == NULL)
            continue;
        node = lua_name_nodes_of(lua_word(module), &count);
        for (size_t k = 0; k < count; k++, node += y->node_bytes) {
            if (lua_name_key_of(node) == NULL || !is_function(node, function))
                continue;
            lua_name_put_name(to, lua_name_key_of(module), lua_name_key_of(node));
            if (strcmp(lua_name_key_of(module), "_G") == 0) // Prefer the name of a global to a name
                                                            // in a module.
                return true;
            found = true;
        }
    }
    return found;
}

/* --- Calling lua_getinfo ---------------------------------------------------------------------- */

/* Copies of the structures that lua_getinfo reads, with present addresses. */
struct copy {
    _Alignas(8) unsigned char state[LUA_STATE_BYTES];
    _Alignas(8) unsigned char calls[3 * LUA_CALL_BYTES_MAX];
    _Alignas(8) unsigned char debug[DEBUG_BYTES];
};

/* Copy the record of the call at FROM, which calls FUNCTION, to TO. */
static void
copy_call(unsigned char *to, uintptr_t from, uintptr_t function)
{
    const struct lua_layout *y = lua_layout;

    memcpy(to, (const void *)from, y->call_bytes);
    memcpy(to + y->call_function, &function, sizeof function);
}

/* Call lua_getinfo for the fields WHAT of call C of L. Return false if it fails. */
static bool
lua_name_ask(struct copy *to, uintptr_t l, const struct lua_call *c, const char *what)
{
    const struct lua_layout *y = lua_layout;
    unsigned char *call = to->calls + 2 * y->call_bytes, *previous = call - y->call_bytes;
    uintptr_t at = (uintptr_t)call, before = (uintptr_t)previous, first = (uintptr_t)to->calls;
    uintptr_t caller = lua_call_function(y, c, c->previous);
    int index = 2;

    if (caller == 0)
        return false;
    memset(to, 0, sizeof *to);
    copy_call(call, c->call, c->function);
    copy_call(previous, c->previous, caller);
    if (!y->has_array) {
        memcpy(call + LUA_CALL_PREVIOUS, &before, sizeof before);
        memcpy(to->debug + y->debug_call, &at, sizeof at);
        return lua_name_getinfo((void *)l, what, to->debug) != 0;
    }
    // In 5.1 a state stores the position of its innermost call. In a copy of the state, any call
    // can be made the innermost.
    memcpy(to->state, (const void *)l, LUA_STATE_BYTES);
    memcpy(to->state + y->state_ci, &at, sizeof at);
    memcpy(to->state + y->state_calls, &first, sizeof first);
    memcpy(to->state + y->state_code, &c->code, sizeof c->code);
    memcpy(to->debug + y->debug_call, &index, sizeof index);
    return lua_name_getinfo(to->state, what, to->debug) != 0;
}

/* Store "function@FILE:LINE" in TO without stdio, which may take locks. */
static void
lua_name_put_place(char to[NAME_BYTES], const char *file, unsigned line)
{
    size_t length = strnlen(file, NAME_BYTES - 32);
    unsigned digits = 1;

    memcpy(to, "function@", 9);
    memcpy(to + 9, file, length);
    to += 9 + length;
    *to++ = ':';
    for (unsigned n = line; n >= 10; n /= 10)
        digits++;
    to[digits] = '\0';
    for (unsigned i = digits; i-- > 0; line /= 10)
        to[i] = (char)('0' + line % 10);
}

/* Return the id for the call C of L, from its name, file and line; 0 for a C function without a
 * name. */
static unsigned
make_id(uintptr_t l, const struct lua_call *c, uintptr_t c_function)
{
    const struct lua_layout *y = lua_layout;
    struct copy copy;
    uintptr_t d = (uintptr_t)copy.debug;
    const char *name, *what, *file = (const char *)copy.debug + y->debug_short;
    char text[NAME_BYTES];
    int line;

    if (!lua_name_ask(&copy, l, c, "nSl"))
        return 0;
    name = (const char *)lua_word(d + y->debug_name);
    if (c_function != 0) {
        if (lua_name_find_name(l, c_function, text))
            name = text;
        return name != NULL ? heaptap_frame_name(name, "[C]", 0, "Lua") : 0;
    }
    what = (const char *)lua_word(d + y->debug_what);
    line = (int)lua_int(d + y->debug_line);
    if (what != NULL && strcmp(what, "main") == 0) {
        name = "main-chunk";
    } else if (name == NULL || name[0] == '?' || name[0] == '(') {
        lua_name_put_place(text, file, lua_int(d + y->debug_defined));
        name = text;
    }
    return heaptap_frame_name(name, file, line > 0 ? (unsigned)line : 0, "Lua");
}

/* --- Cached ids ------------------------------------------------------------------------------- */

static inline struct known *
known_place(uintptr_t key, uintptr_t code)
{
    return &ids[((key ^ code << 7 ^ code) * UINT64_C(0x9e3779b97f4a7c15)) >> 50];
}

static __attribute__((noinline)) void
lua_name_keep(struct known *k, const struct known *made)
{
    if (__atomic_test_and_set(&ids_busy, __ATOMIC_ACQUIRE))
        return; // Either another thread is writing an entry, or the code that this signal handler
                // interrupted.
    __atomic_store_n(&k->key, 0, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    k->code = made->code;
    k->proto = made->proto;
    k->id = made->id;
    __atomic_store_n(&k->key, made->key, __ATOMIC_RELEASE);
    __atomic_clear(&ids_busy, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) unsigned
new_id_of_lua(uintptr_t l, const struct lua_call *c, struct known *k, const struct known *said)
{
    struct known now = *said;

    now.id = make_id(l, c, 0);
    lua_name_keep(k, &now);
    return now.id;
}

unsigned
lua_name_of_lua(uintptr_t l, const struct lua_call *c, uintptr_t proto,
                const struct lua_proto *said)
{
    struct known *k = known_place(proto, c->code);
    unsigned id = k->id;

    if (__atomic_load_n(&k->key, __ATOMIC_ACQUIRE) == proto && k->code == c->code &&
        lua_proto_is(&k->proto, said) && id == k->id)
        return id;
    return new_id_of_lua(l, c, k, &(struct known){proto, c->code, *said, 0});
}

/* Return the cached id of FUNCTION, or make one. A function outside Lua's modules keeps the name of
 * its first call, because nothing but its address identifies it. */
unsigned
lua_name_of_c(uintptr_t l, const struct lua_call *c, uintptr_t function)
{
    struct known *k = known_place(function, 0);
    struct known now = {.key = function};
    unsigned id;

    if (__atomic_load_n(&k->key, __ATOMIC_ACQUIRE) == function && k->code == 0) {
        id = k->id;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&k->key, __ATOMIC_RELAXED) == function)
            return id;
    }
    now.id = make_id(l, c, function);
    lua_name_keep(k, &now);
    return now.id;
}
