/* lua_adapter.h: how the files of the Lua adapter work together. */
#ifndef LANGUAGE_LUA_ADAPTER_H
#define LANGUAGE_LUA_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "heaptap/language.h"
#include "language/lua_layout.h"

struct lua_proto;

/* --- lua_frames.c: turns the calls of the running states into frames; contracts in
 * heaptap/language.h. */

/* Id of the frame for C functions without a name. Set once. */
extern unsigned lua_frames_unnamed;

extern const size_t lua_frames_memo_bytes;
size_t lua_frames_again(struct heaptap_frame *end, void *memo,
                        const unsigned long notes[HEAPTAP_NOTES], size_t *ret_same);
void lua_frames_place(struct heaptap_frame *f, size_t count, const struct heaptap_native *n,
                      size_t native_count);
int lua_frames_place_inner(struct heaptap_frame *f, size_t count, const struct heaptap_native *n,
                           size_t native_count);

/* --- lua_types.c: the types of Lua's objects, as labels; see lua_types.c. */

/* Read from the environment if types are requested. Call once, after lua_layout_find. */
void lua_types_begin(void);

/* Label later blocks of a state with their types, if types are requested. PLACE is the address of
 * the state's allocator function. Return the allocator function that the program gave the state.
 * Call in the thread that runs the state, inside an allocation. */
uintptr_t lua_types_take(uintptr_t *place);

/* Return the program's allocator function that FUNCTION replaced, or FUNCTION if it replaced
 * none. */
uintptr_t lua_types_given(uintptr_t function);

/* --- lua_state.c: finds the states of Lua that run in a thread. */

/* Initialise; RESUME is the address of lua_resume. Call once, before all other functions here. */
void lua_state_begin(uintptr_t resume);

/* Implement `look` of heaptap/language.h. Write notes: the bounds (low, high) of each C frame that
 * identifies a running state, innermost first, terminated by 0. */
void lua_state_probe(const struct heaptap_native *n, size_t count,
                     unsigned long notes[HEAPTAP_NOTES]);
enum { LUA_STATE_NOTES = (HEAPTAP_NOTES - 2) / 2 };

/* Return the state that the C frame between LOW and HIGH identifies at present; 0 if it identifies
 * none. */
uintptr_t lua_state_in(uintptr_t low, uintptr_t high);

/* Distance in bytes from the end of such a frame down to the word that contains the state; 0 =
 * unknown. Atomic. */
extern uintptr_t lua_state_off;

/* Return true if the C frame between LOW and HIGH still identifies the state L. */
static inline bool
lua_state_is(uintptr_t l, uintptr_t low, uintptr_t high)
{
    uintptr_t off = __atomic_load_n(&lua_state_off, __ATOMIC_RELAXED), jump;

    if (l == 0 || high - low <= off || lua_word(high - off) != l)
        return false;
    jump = lua_word(l + lua_layout->state_jump);
    return jump > low && jump < high && *(const unsigned char *)(l + LUA_TYPE) == LUA_IS_THREAD;
}

/* --- lua_code.c: finds Lua's code, and the starts of its functions. */

/* Find the code of the Lua that contains the public function FUNCTION, and report it to the
 * recorder. Call once, before all other functions here. */
void lua_code_find(uintptr_t function);

/* Return true if Lua's object exports a function NAME. dlsym would allocate, and the allocation
 * would be recorded as the program's. */
bool lua_code_exports(const char *name);

/* Return the start of the function that contains the call before PC, from its unwind entry; 0 if no
 * entry covers it. Cached, so repeated calls are fast. Async-signal-safe. */
uintptr_t lua_code_start(uintptr_t pc);

/* Ranges of Lua's code that lua_code_find has found, in ascending order. Each contains whole
 * functions. */
struct lua_code_range {
    uintptr_t start, end;
};
enum { LUA_CODE_RANGES = 24 };
extern struct lua_code_range lua_code_ranges[LUA_CODE_RANGES];
extern size_t lua_code_range_count;

/* Return the bounds of luaV_execute, by far the largest function of any Lua. It is the largest
 * function in Lua's code that lua_code_start has returned so far. Returns zeros if none was large
 * enough yet. */
struct lua_code_range lua_code_execute(void);

/* Return true if PC is in Lua's code. */
static inline bool
lua_code_has(uintptr_t pc)
{
    for (size_t i = 0; i < lua_code_range_count; i++)
        if (pc >= lua_code_ranges[i].start && pc < lua_code_ranges[i].end)
            return true;
    return false;
}

/* --- lua_name.c: names of Lua's functions, as ids. Async-signal-safe; no function here
 * allocates. */

/* A call of a state, as a walk along the calls reads it. */
struct lua_call {
    uintptr_t call, previous;    // Present addresses of this call's record and of the previous one.
    uintptr_t function;          // Present address of the called value.
    intptr_t moved;              // `function` minus the address that the record contains.
    uintptr_t stack, stack_used; // Present address of Lua's stack and its bytes in use, if records
                                 // contain offsets; stack 0 = they contain pointers.
    uintptr_t code;              // Position in the code of a Lua function.
};

/* Return the present address of the called value in the record at CALL, which belongs to the same
 * state as C; 0 if it is outside the stack. While the stack moves, some records may contain offsets
 * and others pointers. */
static inline uintptr_t
lua_call_function(const struct lua_layout *y, const struct lua_call *c, uintptr_t call)
{
    uintptr_t function = lua_word(call + y->call_function);

    if (unlikely(c->stack != 0)) {
        function -= function >= c->stack ? c->stack : 0;
        if (function >= c->stack_used)
            return 0;
        function += c->stack;
    }
    return function + (uintptr_t)c->moved;
}

/* The function lua_getinfo. Set once. */
typedef int lua_name_getinfo_fn(void *l, const char *what, void *debug);
extern lua_name_getinfo_fn *lua_name_getinfo;

/* Return the id of call C of state L. C calls a Lua function with the prototype PROTO, which SAID
 * describes. */
unsigned lua_name_of_lua(uintptr_t l, const struct lua_call *c, uintptr_t proto,
                         const struct lua_proto *said);

/* Return the id of the C function FUNCTION; 0 if it has no name. */
unsigned lua_name_of_c(uintptr_t l, const struct lua_call *c, uintptr_t function);

#endif
