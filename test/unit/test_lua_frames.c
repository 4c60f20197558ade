/* test_lua_frames.c: the adapter for Lua with a Lua state that the test builds, in the layouts of
 * the versions that list their calls. The state's stack moves, by realloc or by the host's
 * allocator. Since 5.4.5, offsets replace pointers meanwhile: all of them or, in a handler, some.
 * If this fails, a script with deep calls crashes when it is recorded, or stacks show functions
 * that did not run, or lack Lua functions where Lua begins late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "language/lua_frames.c"
#include "language/lua_layout.c"
#include "language/lua_name.c"
#include "language/lua_state.c"

enum {
    DEPTH = 40,
    DEEP = 5000,
    DEEP_EVENTS = 3000,
    FUNCTIONS = 30,
    STACK_BYTES = 1 << 18,
    SLOT_BYTES = 16,
    SLOTS_APART = 3,
    COLLECTED = 0x40,
    CODE_START = 0x700000,
    CODE_BYTES = 0x10000,
    PROTECTED_START = CODE_START + 0x100,
    RESUME_START = CODE_START + 0x300,
    FUNCTION_BYTES = 0x80,
    L_FROM_END = 24, // Offset within the frame of luaD_rawrunprotected.
    NAMELESS_ID = 999,
};

static struct {
    _Alignas(16) unsigned char state[256], global[256], text[64];
    _Alignas(16) unsigned char closures[DEPTH + 1][64], protos[DEPTH + 1][128];
    // The state's base call, in versions that keep it outside the state.
    _Alignas(16) unsigned char outer[96];
    _Alignas(16) unsigned char calls[DEEP + 1][96];
    unsigned functions[DEEP + 1]; // Function of each call; 0 = the adapter shows none.
    uint64_t random;
    uintptr_t own;       // Address of the state's base call.
    uintptr_t frame[16]; // Frame of luaD_rawrunprotected.
    unsigned count;      // Number of calls, which are numbered from 1.
    char *places[2], *stack, *gone;
    uintptr_t now; // Address of the stack, even if Lua has not stored it yet.
    const void *moved_from, *moved_to;
    size_t moved_bytes;
    unsigned asked; // Number of names requested from lua_getinfo.
    size_t wanted;  // Number of frames that the recorder reads; 0 = half of all.
    struct heaptap_frame frames[HEAPTAP_FRAMES_MAX];
    void *memo;
} fake;

struct lua_code_range lua_code_ranges[LUA_CODE_RANGES] = {{CODE_START, CODE_START + CODE_BYTES}};
size_t lua_code_range_count = 1;

/* --- Functions that the adapter calls --------------------------------------------------------- */

uintptr_t
lua_code_start(uintptr_t pc)
{
    return pc & ~(uintptr_t)(FUNCTION_BYTES - 1);
}

struct lua_code_range
lua_code_execute(void)
{
    return (struct lua_code_range){0, 0};
}

uintptr_t
lua_types_take(uintptr_t *place)
{
    return *place;
}

uintptr_t
lua_types_given(uintptr_t function)
{
    return function;
}

static int
lua_frames_fake_can_read(const void *p, size_t bytes)
{
    const char *at = p;

    return (uintptr_t)p >= 4096 &&
           (fake.gone == NULL || at + bytes <= fake.gone || at >= fake.gone + STACK_BYTES);
}

static const void *
fake_function_of(const void *pc)
{
    return (const void *)lua_code_start((uintptr_t)pc);
}

static const void *
fake_function_end(const void *pc)
{
    return (const void *)(lua_code_start((uintptr_t)pc) + FUNCTION_BYTES);
}

static int
fake_runtime(const void *start, const void *end)
{
    assert_true((uintptr_t)start < (uintptr_t)end);
    return 0;
}

static size_t
fake_moved(const void **from, const void **to)
{
    *from = fake.moved_from;
    *to = fake.moved_to;
    return fake.moved_from != NULL ? fake.moved_bytes : 0;
}

static size_t
lua_frames_fake_wanted(void)
{
    return fake.wanted > 0 ? fake.wanted : HEAPTAP_FRAMES_MAX / 2;
}

/* Use the line as the function's id. */
static unsigned
lua_frames_fake_name(const char *function, const char *file, unsigned line, const char *language)
{
    (void)function;
    assert_string_equal(file, "script");
    assert_string_equal(language, "Lua");
    return line;
}

const struct heaptap_languages heaptap_languages_v1 = {.size = sizeof heaptap_languages_v1,
                                                       .name = lua_frames_fake_name,
                                                       .runtime = fake_runtime,
                                                       .can_read = lua_frames_fake_can_read,
                                                       .function_of = fake_function_of,
                                                       .function_end = fake_function_end,
                                                       .moved = fake_moved,
                                                       .frames_wanted = lua_frames_fake_wanted};

/* Return the function in the call record at CALL, which must point into the stack. */
static uintptr_t
called_in(uintptr_t call)
{
    uintptr_t function = lua_word(call + lua_layout->call_function);

    assert_in_range(function, fake.now, fake.now + STACK_BYTES - SLOT_BYTES);
    return function;
}

/* Like lua_getinfo, which reads the call and its predecessor. */
static int
fake_getinfo(void *l, const char *what, void *debug)
{
    const struct lua_layout *y = lua_layout;
    uintptr_t call = lua_word((uintptr_t)debug + y->debug_call), proto;
    unsigned line;

    assert_ptr_equal(l, fake.state);
    assert_string_equal(what, "nSl");
    called_in(lua_word(call + LUA_CALL_PREVIOUS));
    proto = lua_closure_function(y, lua_word(called_in(call)));
    line = lua_int(proto + y->proto_line);
    memcpy((char *)debug + y->debug_line, &line, sizeof line);
    memcpy((char *)debug + y->debug_short, "script", sizeof "script");
    fake.asked++;
    return 1;
}

/* --- The state -------------------------------------------------------------------------------- */

static void
lua_frames_put(void *p, size_t offset, uintptr_t value)
{
    memcpy((char *)p + offset, &value, sizeof value);
}

/* Return word NUMBER that points into the stack, in the order in which Lua turns pointers into
 * offsets: the top, the functions of the calls from the innermost out, then the function of the
 * base call. */
static void *
pointer(unsigned number)
{
    if (number == 0)
        return fake.state + LUA_STATE_TOP;
    return number <= fake.count ? (void *)fake.calls[fake.count + 1 - number] : (void *)fake.own;
}

static unsigned
pointer_count(void)
{
    return fake.count + 2;
}

static void
add_to(unsigned number, uintptr_t difference)
{
    lua_frames_put(pointer(number), 0, lua_word((uintptr_t)pointer(number)) + difference);
}

static bool
has_offsets(void)
{
    return lua_layout->state_own_call != 0;
}

/* Turn up to COUNT pointers into offsets, like Lua's relstack. */
static void
make_offsets(unsigned count)
{
    for (unsigned i = 0; has_offsets() && i < count; i++)
        add_to(i, -(uintptr_t)fake.stack);
}

/* Turn offsets into pointers, like Lua's correctstack. */
static void
make_pointers(unsigned count)
{
    for (unsigned i = 0; has_offsets() && i < count; i++)
        add_to(i, (uintptr_t)fake.stack);
}

/* Store STACK as the stack in Lua's state. */
static void
put_stack(char *stack)
{
    uintptr_t difference = (uintptr_t)stack - (uintptr_t)fake.stack;

    lua_frames_put(fake.state, lua_layout->state_stack, (uintptr_t)stack);
    for (unsigned i = 0; !has_offsets() && i < pointer_count(); i++)
        add_to(i, difference);
    fake.stack = stack;
}

/* Call a new function of Lua. */
static void
lua_frames_call(void)
{
    const struct lua_layout *y = lua_layout;
    unsigned n = ++fake.count;
    char *slot = fake.stack + (size_t)n * SLOTS_APART * SLOT_BYTES;
    unsigned char *record = fake.calls[n];
    uint16_t status = y->is_lua;

    lua_frames_put(fake.protos[n], y->proto_source, (uintptr_t)fake.text);
    memcpy(fake.protos[n] + y->proto_line, &n, sizeof n);
    lua_frames_put(fake.closures[n], y->closure_function, (uintptr_t)fake.protos[n]);
    lua_frames_put(slot, 0, (uintptr_t)fake.closures[n]);
    slot[LUA_TYPE] = LUA_IS_FUNCTION | COLLECTED;
    lua_frames_put(record, y->call_function, (uintptr_t)slot);
    lua_frames_put(record, LUA_CALL_PREVIOUS, n > 1 ? (uintptr_t)fake.calls[n - 1] : fake.own);
    lua_frames_put(record, y->call_code, (uintptr_t)fake.protos[n] + 4);
    memcpy(record + y->call_status, &status, sizeof status);
    lua_frames_put(fake.state, y->state_ci, (uintptr_t)record);
    lua_frames_put(fake.state, LUA_STATE_TOP, (uintptr_t)slot + SLOT_BYTES);
}

/* Create a state of VERSION whose stack begins HEAD_BYTES into a block. If OF_LUA is false, the
 * block comes from another allocator than Lua's, and the adapter reads the words' targets at each
 * event. */
static void
begin_state(const char *version, size_t head_bytes, bool of_lua)
{
    const struct lua_layout *y;
    char ident[64];
    const char *unknown;

    snprintf(ident, sizeof ident, "$LuaVersion: Lua %s  Copyright (C) of nobody $", version);
    assert_true(lua_layout_find(ident, false, &unknown));
    y = lua_layout;
    memset(&fake, 0, sizeof fake);
    for (size_t i = 0; i < 2; i++) {
        fake.places[i] =
            mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(fake.places[i], MAP_FAILED);
    }
    fake.stack = fake.places[0] + head_bytes;
    fake.now = (uintptr_t)fake.stack;
    fake.own = (uintptr_t)(has_offsets() ? fake.state + y->state_own_call : fake.outer);
    fake.memo = calloc(1, lua_frames_memo_bytes);
    fake.state[LUA_TYPE] = LUA_IS_THREAD;
    lua_frames_put(fake.state, y->state_global, (uintptr_t)fake.global);
    lua_frames_put(fake.state, y->state_stack, (uintptr_t)fake.stack);
    lua_frames_put(fake.state, y->state_jump, (uintptr_t)&fake.frame[4]);
    lua_frames_put((void *)fake.own, y->call_function, (uintptr_t)fake.stack);
    lua_frames_put(fake.global, y->global_alloc, of_lua ? CODE_START : CODE_START + CODE_BYTES);
    fake.frame[16 - L_FROM_END / 8] = (uintptr_t)fake.state;
    lua_state_off = L_FROM_END;
    lua_name_getinfo = fake_getinfo;
    lua_frames_unnamed = NAMELESS_ID;
    memset(ids, 0, sizeof ids);
    memset(states, 0, sizeof states);
}

static void
end_state(void)
{
    for (size_t i = 0; i < 2; i++)
        munmap(fake.places[i], STACK_BYTES);
    free(fake.memo);
}

/* Return the number of frames in the adapter's answer; store the number of unchanged ones in
 * *RET_SAME. */
static size_t
answer_now(size_t *ret_same)
{
    const unsigned long notes[HEAPTAP_NOTES] = {(uintptr_t)fake.frame,
                                                (uintptr_t)(fake.frame + 16)};

    return lua_frames_again(fake.frames + HEAPTAP_FRAMES_MAX, fake.memo, notes, ret_same);
}

/* Return the id of frame NUMBER of the answer; 0 is the outermost. */
static unsigned
id_at(unsigned number)
{
    return fake.frames[HEAPTAP_FRAMES_MAX - 1 - number].id;
}

/* Check that all calls are shown and that SAME of them are unchanged. */
static void
check_frames(size_t same)
{
    size_t found;

    assert_int_equal(answer_now(&found), fake.count);
    assert_int_equal(found, same);
    for (unsigned i = 0; i < fake.count; i++)
        assert_int_equal(id_at(i), i + 1);
}

/* Move the stack to the other place and make the old one unreadable. If BY_REALLOC, notify the
 * adapter of the moved block, whose first HEAD_BYTES precede the stack. */
static void
move_stack(size_t head_bytes, bool by_realloc)
{
    memcpy(fake.places[1], fake.places[0], STACK_BYTES);
    assert_int_equal(mprotect(fake.places[0], STACK_BYTES, PROT_NONE), 0);
    fake.gone = fake.places[0];
    fake.now = (uintptr_t)fake.places[1] + head_bytes;
    if (by_realloc) {
        fake.moved_from = fake.places[0];
        fake.moved_to = fake.places[1];
        fake.moved_bytes = STACK_BYTES;
    }
}

static const char *const versions[] = {"5.4.8", "5.4.5", "5.4.4", "5.4.0",
                                       "5.3.6", "5.3.0", "5.2.4", "5.2.0"};

/* --- Stacks that move ------------------------------------------------------------------------- */

static void
move_by_realloc(const char *version, size_t head_bytes, bool of_lua)
{
    begin_state(version, head_bytes, of_lua);
    for (unsigned i = 0; i < 10; i++)
        lua_frames_call();
    check_frames(0);
    lua_frames_call();
    make_offsets(pointer_count());
    move_stack(head_bytes, true);
    check_frames(10);
    check_frames(11);
    fake.moved_from = NULL;
    put_stack(fake.places[1] + head_bytes);
    make_pointers(pointer_count());
    check_frames(11);
    lua_frames_call();
    check_frames(11);
    assert_int_equal(fake.asked, 12);
    end_state();
}

/* If this fails, a program crashes when realloc moves a stack of Lua, or loses its functions. */
static void
realloc_moves_a_stack(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        move_by_realloc(versions[i], 0, true);
        move_by_realloc(versions[i], 0, false);
    }
}

/* If this fails, a program crashes if its allocator for Lua puts a size in front of each block. */
static void
realloc_moves_a_block_with_a_stack(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        move_by_realloc(versions[i], 16, false);
}

/* If this fails, a program crashes when a block moves that lies directly in front of a stack, or
 * when a block of unknown size moves. */
static void
a_block_in_front_of_a_stack_moves(void **unused)
{
    size_t same;

    (void)unused;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        begin_state(versions[i], 64, false);
        lua_frames_call();
        lua_frames_call();
        fake.moved_from = fake.places[0];
        fake.moved_to = fake.places[1];
        fake.moved_bytes = 64;
        check_frames(0);
        check_frames(2);
        fake.moved_bytes = SIZE_MAX;
        assert_int_equal(answer_now(&same), 0);
        fake.moved_from = NULL;
        check_frames(0);
        check_frames(2);
        end_state();
    }
}

/* If this fails, a program crashes if its stack stays in place. */
static void
realloc_leaves_a_stack_where_it_is(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        begin_state(versions[i], 0, true);
        lua_frames_call();
        make_offsets(pointer_count());
        fake.moved_from = fake.moved_to = fake.stack;
        fake.moved_bytes = STACK_BYTES;
        check_frames(0);
        check_frames(1);
        end_state();
    }
}

/* If this fails, a program crashes if its allocator for Lua calls malloc, memcpy and free. */
static void
malloc_is_called_to_move_a_stack(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        begin_state(versions[i], 0, false);
        lua_frames_call();
        lua_frames_call();
        check_frames(0);
        make_offsets(pointer_count());
        check_frames(2);
        make_pointers(pointer_count());
        lua_frames_call();
        make_offsets(pointer_count());
        check_frames(2);
        check_frames(3);
        make_pointers(pointer_count());
        check_frames(3);
        end_state();
    }
}

/* If this fails, a program crashes if its handler allocates while Lua turns pointers into offsets
 * or back. */
static void
some_are_offsets(void **unused)
{
    unsigned last;

    (void)unused;
    begin_state("5.4.6", 0, true);
    for (unsigned i = 0; i < 10; i++)
        lua_frames_call();
    check_frames(0);
    last = pointer_count();
    for (unsigned n = 0; n <= last; n++) {
        make_offsets(n);
        check_frames(10);
        make_pointers(n);
    }
    make_offsets(last);
    move_stack(0, false);
    put_stack(fake.places[1]);
    for (unsigned n = 0; n <= last; n++) {
        make_pointers(n);
        check_frames(10);
        make_offsets(n);
    }
    end_state();
}

/* If this fails, a program crashes after it has overwritten Lua's records. */
static void
an_offset_leads_out_of_the_stack(void **unused)
{
    size_t same;

    (void)unused;
    begin_state("5.4.6", 0, true);
    for (unsigned i = 0; i < 10; i++)
        lua_frames_call();
    check_frames(0);
    make_offsets(pointer_count());
    lua_frames_put(fake.calls[4], 0, 10 * SLOTS_APART * SLOT_BYTES + SLOT_BYTES);
    memset(fake.memo, 0, lua_frames_memo_bytes);
    memset(ids, 0, sizeof ids);
    // Only inner calls remain; the outermost of them could not be cached, because its caller is
    // unknown.
    assert_int_equal(answer_now(&same), 6);
    assert_int_equal(same, 0);
    assert_int_equal(id_at(0), 0);
    for (unsigned i = 1; i < 6; i++)
        assert_int_equal(id_at(i), 5 + i);
    end_state();
}

/* --- Deep stacks ------------------------------------------------------------------------------ */

static unsigned
lua_frames_chance(unsigned n)
{
    fake.random = fake.random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(fake.random >> 33) % n;
}

/* Make call NUMBER a call of FUNCTION, at the instruction AT. Function 0 belongs to the program. */
static void
put_call(unsigned number, unsigned function, unsigned at)
{
    const struct lua_layout *y = lua_layout;
    char *slot = fake.stack + (size_t)number * SLOT_BYTES;
    unsigned char *record = fake.calls[number];
    uint16_t status = function > 0 ? y->is_lua : y->is_c;

    fake.functions[number] = function;
    lua_frames_put(fake.protos[function], y->proto_source, (uintptr_t)fake.text);
    memcpy(fake.protos[function] + y->proto_line, &function, sizeof function);
    lua_frames_put(fake.closures[function], y->closure_function, (uintptr_t)fake.protos[function]);
    lua_frames_put(slot, 0, function > 0 ? (uintptr_t)fake.closures[function] : (uintptr_t)&fake);
    slot[LUA_TYPE] = function > 0 ? LUA_IS_FUNCTION | COLLECTED : LUA_IS_LIGHT_C;
    lua_frames_put(record, y->call_function, (uintptr_t)slot);
    lua_frames_put(record, LUA_CALL_PREVIOUS,
                   number > 1 ? (uintptr_t)fake.calls[number - 1] : fake.own);
    lua_frames_put(record, y->call_code, (uintptr_t)fake.protos[function] + 4 + 4 * at);
    memcpy(record + y->call_status, &status, sizeof status);
}

static void
change_calls(unsigned depth)
{
    unsigned what = lua_frames_chance(100), n = what < 10 ? lua_frames_chance(depth / 2) : 1;

    if (lua_frames_chance(2) == 0)
        for (; n > 0 && fake.count < depth; n--)
            put_call(++fake.count, lua_frames_chance(FUNCTIONS), lua_frames_chance(3));
    else
        fake.count -= n < fake.count ? n : fake.count;
    // Outer calls continue to run, without an event in between.
    for (unsigned k = lua_frames_chance(4); k > 0 && fake.count > 0; k--) {
        unsigned number =
            lua_frames_chance(4) == 0 ? 1 + lua_frames_chance(fake.count) : fake.count;

        put_call(number,
                 lua_frames_chance(3) == 0 ? lua_frames_chance(FUNCTIONS) : fake.functions[number],
                 lua_frames_chance(3));
    }
    lua_frames_put(fake.state, lua_layout->state_ci,
                   (uintptr_t)(fake.count > 0 ? fake.calls[fake.count] : (void *)fake.own));
    lua_frames_put(fake.state, LUA_STATE_TOP,
                   (uintptr_t)fake.stack + (size_t)(fake.count + 1) * SLOT_BYTES);
}

/* Compare an answer with the calls. On a deep stack, only the WANTED frames are compared. */
static void
check_wanted(bool *is_whole)
{
    static struct heaptap_frame before[HEAPTAP_FRAMES_MAX];
    static unsigned right[DEEP + 1];
    size_t count = 0, same, found;

    for (unsigned i = fake.count; i > 0; i--)
        if (fake.functions[i] > 0)
            right[count++] = fake.functions[i];
    memcpy(before, fake.frames, sizeof before);
    found = answer_now(&same);
    *is_whole = count <= fake.wanted;
    if (*is_whole) {
        assert_int_equal(found, count);
    } else {
        assert_true(found > fake.wanted);
    }
    for (size_t i = 0; i < (*is_whole ? count : fake.wanted); i++)
        assert_int_equal(fake.frames[HEAPTAP_FRAMES_MAX - found + i].id, right[i]);
    assert_true(same <= found);
    assert_memory_equal(&fake.frames[HEAPTAP_FRAMES_MAX - same],
                        &before[HEAPTAP_FRAMES_MAX - same], same * sizeof *before);
}

static void
try_deep(const char *version, bool of_lua, unsigned depth, size_t wanted)
{
    unsigned deep = 0;
    bool is_whole = true;

    begin_state(version, 0, of_lua);
    fake.wanted = wanted;
    fake.random = wanted + of_lua;
    while (fake.count < depth / 2)
        put_call(++fake.count, lua_frames_chance(FUNCTIONS), lua_frames_chance(3));
    for (unsigned i = 0; i < DEEP_EVENTS; i++) {
        change_calls(depth);
        check_wanted(&is_whole);
        deep += !is_whole;
    }
    assert_true(deep > DEEP_EVENTS / 4);
    end_state();
}

/* If this fails, a recursion deeper than a profile's stacks shows functions that did not run, or a
 * truncated stack looks whole. */
static void
deep_lua_stacks_are_answered_as_they_are(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        try_deep(versions[i], true, DEEP, HEAPTAP_FRAMES_MAX / 2);
        try_deep(versions[i], false, DEEP, HEAPTAP_FRAMES_MAX / 2);
        try_deep(versions[i], true, 600, 13);
    }
}

/* --- Versions --------------------------------------------------------------------------------- */

/* If this fails, a version is read by the layout of another one. */
static void
versions_have_their_layouts(void **unused)
{
    static const struct {
        const char *version;
        unsigned stack, jump, own_call, code, registry, nodes, text;
    } right[] = {{"5.4.8", 48, 88, 96, 32, 64, 24, 24}, {"5.4.5", 48, 88, 96, 32, 64, 24, 24},
                 {"5.4.4", 48, 88, 0, 32, 64, 24, 24},  {"5.4.3", 48, 88, 0, 32, 64, 24, 24},
                 {"5.4.2", 48, 80, 0, 32, 64, 24, 24},  {"5.4.1", 48, 80, 0, 32, 64, 24, 24},
                 {"5.4.0", 56, 88, 0, 32, 64, 24, 24},  {"5.3.6", 56, 88, 0, 40, 64, 24, 24},
                 {"5.3.1", 56, 88, 0, 40, 64, 24, 24},  {"5.3.0", 56, 88, 0, 40, 64, 24, 32},
                 {"5.2.4", 56, 112, 0, 56, 64, 24, 24}, {"5.2.3", 56, 112, 0, 56, 64, 32, 24},
                 {"5.2.1", 56, 112, 0, 56, 64, 32, 24}, {"5.2.0", 56, 112, 0, 48, 56, 32, 24},
                 {"5.1.5", 64, 168, 0, 24, 160, 32, 24}};
    const char *unknown;

    (void)unused;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        char ident[64];

        snprintf(ident, sizeof ident, "$Lua: Lua %s Copyright $", right[i].version);
        assert_true(lua_layout_find(ident, false, &unknown));
        assert_int_equal(lua_layout->state_stack, right[i].stack);
        assert_int_equal(lua_layout->state_jump, right[i].jump);
        assert_int_equal(lua_layout->state_own_call, right[i].own_call);
        assert_int_equal(lua_layout->call_code, right[i].code);
        assert_int_equal(lua_layout->global_registry, right[i].registry);
        assert_int_equal(lua_layout->table_nodes, right[i].nodes);
        assert_int_equal(lua_layout->string_text, right[i].text);
    }
    assert_false(lua_layout_find("$LuaVersion: Lua 5.5.0  Copyright $", false, &unknown));
    assert_false(lua_layout_find(NULL, false, &unknown));
}

/* If this fails, C functions of the program appear among Lua functions that they did not call. */
static void
versions_have_their_marks_of_fresh_calls(void **unused)
{
    static const struct {
        const char *version;
        unsigned status;
        bool fresh;
    } right[] = {{"5.4.8", 0, false},  {"5.4.8", 4, true},   {"5.4.2", 0, false},
                 {"5.4.2", 4, true},   {"5.4.1", 0, true},   {"5.4.1", 4, true},
                 {"5.4.0", 0, true},   {"5.4.0", 4, true},   {"5.3.6", 2, false},
                 {"5.3.6", 10, true},  {"5.3.2", 2, false},  {"5.3.2", 10, true},
                 {"5.3.1", 2, true},   {"5.3.1", 10, false}, {"5.3.0", 2, true},
                 {"5.3.0", 10, false}, {"5.2.4", 1, true},   {"5.2.4", 5, false}};
    const char *unknown;

    (void)unused;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        char ident[64];

        snprintf(ident, sizeof ident, "$LuaVersion: Lua %s  Copyright $", right[i].version);
        assert_true(lua_layout_find(ident, false, &unknown));
        assert_int_equal(is_fresh(lua_layout, NULL, right[i].status), right[i].fresh);
    }
}

/* --- Which state runs ------------------------------------------------------------------------- */

/* If this fails, a program that allocates for a long time before it starts Lua has no functions of
 * Lua in its stacks. */
static void
lua_may_begin_late(void **unused)
{
    const struct heaptap_native before[] = {{(uintptr_t)&fake.frame[0], 0x1000},
                                            {(uintptr_t)&fake.frame[16], 0x2000}};
    const struct heaptap_native protected_run[] = {
        {(uintptr_t)&fake.frame[0], PROTECTED_START + 0x10}, {(uintptr_t)&fake.frame[16], 0x2000}};
    unsigned long notes[HEAPTAP_NOTES] = {0};

    (void)unused;
    begin_state("5.4.6", 0, true);
    lua_state_off = 0;
    lua_state_begin(RESUME_START);
    for (unsigned i = 0; i < 2 * LEARN_MAX; i++)
        lua_state_probe(before, 2, notes);
    assert_int_equal(notes[0], 0);
    lua_state_probe(protected_run, 2, notes);
    assert_int_equal(notes[0], (uintptr_t)&fake.frame[0]);
    assert_int_equal(notes[1], (uintptr_t)&fake.frame[16]);
    assert_int_equal(lua_state_off, L_FROM_END);
    assert_int_equal(lua_state_in(notes[0], notes[1]), (uintptr_t)fake.state);
    end_state();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(realloc_moves_a_stack),
        cmocka_unit_test(realloc_moves_a_block_with_a_stack),
        cmocka_unit_test(a_block_in_front_of_a_stack_moves),
        cmocka_unit_test(realloc_leaves_a_stack_where_it_is),
        cmocka_unit_test(malloc_is_called_to_move_a_stack),
        cmocka_unit_test(some_are_offsets),
        cmocka_unit_test(an_offset_leads_out_of_the_stack),
        cmocka_unit_test(deep_lua_stacks_are_answered_as_they_are),
        cmocka_unit_test(versions_have_their_layouts),
        cmocka_unit_test(versions_have_their_marks_of_fresh_calls),
        cmocka_unit_test(lua_may_begin_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
