/* lua_layout.h: the parts of Lua's structures that the adapter reads. */
#ifndef LANGUAGE_LUA_LAYOUT_H
#define LANGUAGE_LUA_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* The layout of one version. An offset counts bytes from the start of the structure in its name.
 * The bits of a call's status are masks; 0 = the version lacks the bit. */
struct lua_layout {
    const char *version; // Prefix of the version number.
    bool has_array;      // 5.1: calls form an array, and a byte in a closure marks a C function.
    bool is_redis;       // Tables have one more member.
    uint8_t state_global, state_ci, state_stack, state_jump;
    uint8_t state_calls, state_code; // 5.1: the array of calls, and the innermost call's position
                                     // in the code.
    uint8_t state_own_call;          // From 5.4.5 on: the state's own call; see lua_has_offsets.
    uint8_t call_function, call_status, call_code, call_bytes;
    uint8_t is_lua, is_c, fresh, not_fresh;
    uint8_t closure_function, closure_is_c, string_text;
    uint8_t proto_line, proto_code, proto_source, proto_size;
    uint8_t global_registry, global_alloc;
    uint8_t table_shift, table_nodes;
    uint8_t node_bytes, key_type, key_value; // A table's node: its size, and offsets of its key.
                                             // The value is at offset 0.
    uint8_t debug_name, debug_what, debug_line, debug_defined, debug_short, debug_call;
};

/* Offsets common to all versions. */
enum {
    LUA_CALL_PREVIOUS = 16, // Not in layouts with an array of calls.
    LUA_STATE_TOP = 16,
    LUA_TYPE = 8,
    LUA_TYPE_MASK = 0x3f, // Removes the bit that marks collectable values.
    LUA_IS_TABLE = 5,
    LUA_IS_STRING = 4,   // A short string.
    LUA_IS_FUNCTION = 6, // A Lua function; in 5.1, any function.
    LUA_IS_LIGHT_C = 22,
    LUA_IS_C = 38,
    LUA_IS_THREAD = 8,
    LUA_STATE_BYTES = 184, // Upper bound of all offsets that are read.
    LUA_CALL_BYTES_MAX = 80,
};

/* The layout of the Lua in this process; set by lua_layout_find. */
extern const struct lua_layout *lua_layout;

/* Find the layout of the Lua whose lua_ident is IDENT, which may be NULL. If it is unknown, return
 * false, and set *RET_VERSION to its name ("Lua 5.5.0 …") or NULL. */
bool lua_layout_find(const char *ident, bool is_redis, const char **ret_version);

static inline uintptr_t
lua_word(uintptr_t address)
{
    return *(const uintptr_t *)address;
}

static inline unsigned
lua_int(uintptr_t address)
{
    return *(const unsigned *)address;
}

/* Return the type of the value at ADDRESS, or of the object there. */
static inline unsigned
lua_type_at(uintptr_t address)
{
    return *(const unsigned char *)(address + LUA_TYPE) & LUA_TYPE_MASK;
}

/* Return the prototype, or the C function, of the closure at ADDRESS. */
static inline uintptr_t
lua_closure_function(const struct lua_layout *y, uintptr_t closure)
{
    return lua_word(closure + y->closure_function);
}

/* Return true if all or some pointers into the stack of state L are offsets at present. From 5.4.5
 * on they are offsets while the stack moves. The pointer to the top is the first to become an
 * offset, and the first to become a pointer again. The pointer in the state's own call is the
 * last. */
static inline bool
lua_has_offsets(const struct lua_layout *y, uintptr_t l)
{
    uintptr_t stack;

    if (y->state_own_call == 0)
        return false;
    stack = lua_word(l + y->state_stack);
    return lua_word(l + LUA_STATE_TOP) < stack || lua_word(l + y->state_own_call) < stack;
}

/* Return the bytes in use of the stack of state L, even while it moves. All called functions are
 * there. */
static inline uintptr_t
lua_stack_used(const struct lua_layout *y, uintptr_t l)
{
    uintptr_t stack = lua_word(l + y->state_stack), top = lua_word(l + LUA_STATE_TOP);

    return top < stack ? top : top - stack;
}

/* A prototype's description: its source and position. It identifies the prototype. */
struct lua_proto {
    uintptr_t source, text; // The string object of the source, and its first bytes.
    unsigned line, size;
};

static inline struct lua_proto
lua_proto_at(const struct lua_layout *y, uintptr_t proto)
{
    uintptr_t source = lua_word(proto + y->proto_source);

    // Reading a whole word is safe: the text ends with a zero byte, and strings occupy whole words.
    return (struct lua_proto){source, source != 0 ? lua_word(source + y->string_text) : 0,
                              lua_int(proto + y->proto_line), lua_int(proto + y->proto_size)};
}

static inline bool
lua_proto_is(const struct lua_proto *p, const struct lua_proto *q)
{
    return p->source == q->source && p->text == q->text && p->line == q->line &&
           p->size == q->size;
}

#endif
