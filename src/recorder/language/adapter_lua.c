/* adapter_lua.c: the functions of Lua 5.3 and 5.4 that run, for heaptap/language.h.
 *
 * What Lua has. A state (of the main program or a coroutine) has a list of calls, innermost first,
 * on the heap: L->ci, then ci->previous. A call has the function, and one of Lua's where it is in
 * its code. One C frame of luaV_execute runs many of them, up to the one that is marked as fresh.
 *
 * Which state runs is known to nobody but its C stack: there is no pointer to it anywhere. But
 * whatever runs was begun by luaD_rawrunprotected, for pcall, resume or the program, and its frame
 * holds L and what L->errorJmp points to:
 *
 *     lua_resume ─► luaD_rawrunprotected(L)   { …, L, …, struct lua_longjmp } ◄─ L->errorJmp
 *
 * So the innermost such frame tells the running state, and the one outside of each lua_resume the
 * state that resumed it. Which function that is, and where in its frame L lies, is learnt when it
 * is first met: a word of a frame that is a state whose errorJmp points into the very same frame.
 * From then on each answer is checked by that property. The frame is known by its unwind entry, so
 * stripped programs do.
 *
 * Where frames stand. A C function of Lua's own stands inside of its own C frame: that function
 * begins where its pointer says. Functions of Lua stand inside of a frame of luaV_execute, which is
 * by far the largest function of any Lua; the next frame of it begins after a fresh one.
 *
 * Names. A function of Lua is known by its prototype and place in the code. Both may be freed and
 * used again, so an id that is known is checked by what the prototype says of itself. A name is
 * asked of Lua by its public functions, which neither allocate nor change anything.
 *
 * Frames in the middle of a change. Lua moves its stack by realloc, and at that moment its pointers
 * are to the old place; the recorder tells of that. A call that was left by an error is in the list
 * until pcall returns. The line is that of the last instruction that Lua has written down: it does
 * so wherever an error or a call may come, and not at a table constructor.
 *
 * Not here: Lua 5.1, 5.2 and LuaJIT, which have other structures.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heaptap/language.h"

enum {
    BOUNDARIES = (HEAPTAP_NOTES - 2) / 2,
    IDS = 1 << 14, // Places, a power of two.
    STARTS = 1 << 12,
    STATES = 1 << 10,
    LATEST = 64,
    LEARN_MAX = 20000,
    FRAME_BYTES_MAX = 1024, // Of luaD_rawrunprotected.
    EXECUTE_BYTES_MIN = 4000,
    TYPE_THREAD = 8,
    TYPE_LIGHT_C = 22, // Without the bit that says that it is collected.
    TYPE_LUA = 6,
    TYPE_C = 38,
    TYPE_TABLE = 5,
    TYPE_STRING = 4, // A short one.
    TYPE_MASK = 0x3f,
    TABLE_SHIFT_MAX = 16, // Larger ones are no modules.
    NAME_BYTES = 160,
    KIND_LUA = 0,
    KIND_FRESH = 1,
    KIND_C = 2,
};

/* Where members are, in bytes, and what the bits of callstatus mean. */
struct layout {
    const char *version;
    unsigned state_ci, state_stack, state_jump;
    unsigned call_status, call_code;
    unsigned is_lua, is_c, fresh; // Bits; 0 = there is none.
    unsigned proto_line, proto_code, proto_source, proto_size;
    unsigned node_bytes, key_type, key_value; // Of a table's node; its value comes first.
    unsigned debug_name, debug_what, debug_line, debug_defined, debug_short, debug_call;
};

/* The same in all of them. */
enum {
    CALL_FUNCTION = 0,
    CALL_PREVIOUS = 16,
    CLOSURE_FUNCTION = 24,
    TYPE = 8,
    TEXT = 24,
    STATE_GLOBAL = 24,
    GLOBAL_REGISTRY = 64,
    TABLE_SHIFT = 11, // Log2 of the number of nodes.
    TABLE_NODES = 24,
};

static const struct layout layouts[] = {
    {"5.4.0", 32, 48, 80, 62, 32, 0, 2, 4, 44, 64, 112, 24, 24, 9, 16, 8, 24, 48, 52, 68, 128},
    {"5.4.1", 32, 48, 80, 62, 32, 0, 2, 4, 44, 64, 112, 24, 24, 9, 16, 8, 24, 48, 52, 68, 128},
    {"5.4.2", 32, 48, 80, 62, 32, 0, 2, 4, 44, 64, 112, 24, 24, 9, 16, 8, 24, 48, 52, 68, 128},
    {"5.4.", 32, 48, 88, 62, 32, 0, 2, 4, 44, 64, 112, 24, 24, 9, 16, 8, 24, 48, 52, 68, 128},
    {"5.3.", 32, 56, 88, 66, 40, 2, 0, 8, 40, 56, 104, 20, 32, 24, 16, 8, 24, 40, 44, 56, 120},
};

typedef void lua_state;
typedef int getinfo_fn(lua_state *l, const char *what, void *debug);

static const struct layout *lay;
static getinfo_fn *getinfo;
static uintptr_t resume_start;
static uintptr_t runtime_start, runtime_end;
static unsigned nameless; // The id of C functions without a name.

/* What was learnt. Atomic. */
static uintptr_t protected_start; // luaD_rawrunprotected.
static uintptr_t state_off;       // Bytes from the end of its frame down to L.
static uintptr_t execute_start, execute_bytes;
static unsigned learn_tries;

static inline uintptr_t
word(uintptr_t address)
{
    return *(const uintptr_t *)address;
}

static inline unsigned
int_at(uintptr_t address)
{
    return *(const unsigned *)address;
}

/* --- Functions of C --------------------------------------------------------------------------- */

/* Where the function begins that is called from before PC. Several threads may fill in the same
 * place, each with a pair that is right: the halves are checked. */
static uintptr_t
start_of(uintptr_t pc)
{
    static struct {
        uintptr_t pc, start;
    } known[STARTS];
    size_t i = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> 52;
    uintptr_t start;

    if (__atomic_load_n(&known[i].pc, __ATOMIC_ACQUIRE) == pc) {
        start = __atomic_load_n(&known[i].start, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&known[i].pc, __ATOMIC_ACQUIRE) == pc)
            return start;
    }
    start = (uintptr_t)heaptap_function_of((const void *)(pc - 1));
    __atomic_store_n(&known[i].pc, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&known[i].start, start, __ATOMIC_RELEASE);
    __atomic_store_n(&known[i].pc, pc, __ATOMIC_RELEASE);
    return start;
}

static inline bool
is_runtime(uintptr_t pc)
{
    return pc >= runtime_start && pc < runtime_end;
}

/* --- States ----------------------------------------------------------------------------------- */

static uintptr_t states[STATES]; // Atomic: those that were seen, by hash.

static inline uintptr_t *
state_place(uintptr_t l)
{
    return &states[(l * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* Is L the state whose protected call is in the frame between LOW and HIGH? */
static bool
is_state(uintptr_t l, uintptr_t low, uintptr_t high)
{
    uintptr_t jump;

    if (l < 4096 || (l & 7) != 0)
        return false;
    if (__atomic_load_n(state_place(l), __ATOMIC_RELAXED) != l &&
        !heaptap_can_read((const void *)l, 128))
        return false;
    jump = word(l + lay->state_jump);
    if (jump <= low || jump >= high || *(const unsigned char *)(l + TYPE) != TYPE_THREAD)
        return false;
    __atomic_store_n(state_place(l), l, __ATOMIC_RELAXED);
    return true;
}

/* Find out which function luaD_rawrunprotected is, and where it keeps L. */
static void
learn(const struct heaptap_native *n, size_t count)
{
    if (__atomic_add_fetch(&learn_tries, 1, __ATOMIC_RELAXED) > LEARN_MAX)
        return;
    for (size_t i = 0; i + 1 < count; i++) {
        uintptr_t low = n[i].slot, high = n[i + 1].slot;

        if (!is_runtime(n[i].pc - 1) || low == 0 || high <= low || high - low > FRAME_BYTES_MAX)
            continue;
        for (uintptr_t at = low + 8; at < high; at += 8) {
            if (!is_state(word(at), low, high))
                continue;
            __atomic_store_n(&state_off, high - at, __ATOMIC_RELAXED);
            __atomic_store_n(&protected_start, start_of(n[i].pc), __ATOMIC_RELEASE);
            return;
        }
    }
}

/* The frame of luaV_execute is that of the largest function. */
static void
learn_execute(uintptr_t pc, uintptr_t start)
{
    uintptr_t bytes;

    if (start == 0 || start == __atomic_load_n(&execute_start, __ATOMIC_RELAXED))
        return;
    bytes = (uintptr_t)heaptap_function_end((const void *)(pc - 1)) - start;
    if (bytes <= __atomic_load_n(&execute_bytes, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&execute_bytes, bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&execute_start, start, __ATOMIC_RELAXED);
}

/* Note the bounds of the frames that tell which states run, innermost first. */
static void
look(const struct heaptap_native *n, size_t count, unsigned long notes[HEAPTAP_NOTES])
{
    uintptr_t start = __atomic_load_n(&protected_start, __ATOMIC_ACQUIRE);
    bool wanted = true;
    size_t k = 0;

    if (start == 0) {
        learn(n, count);
        start = __atomic_load_n(&protected_start, __ATOMIC_ACQUIRE);
    }
    if (start == 0)
        return;
    for (size_t i = 0; i + 1 < count && k < BOUNDARIES; i++) {
        uintptr_t of;

        if (!is_runtime(n[i].pc - 1))
            continue;
        of = start_of(n[i].pc);
        wanted |= of == resume_start;
        if (of != start || !wanted || n[i + 1].slot <= n[i].slot)
            continue;
        notes[2 * k] = n[i].slot;
        notes[2 * k + 1] = n[i + 1].slot;
        k++;
        wanted = false;
    }
}

/* --- Names ------------------------------------------------------------------------------------ */

/* What is known of a place in the code of a function, or of a C function: what the prototype said
 * of itself then. */
struct known {
    uintptr_t key, code; // The prototype and the instruction, or the C function; 0 = unused.
    uintptr_t source;    // Of the chunk, and the beginning of its text.
    uintptr_t text;
    unsigned line, size;
    unsigned id;
};

static struct known ids[IDS];
static char ids_busy; // Atomic: a thread is writing one.

static const char *
text_at(uintptr_t address)
{
    return (const char *)word(address);
}

/* --- Names of C functions --------------------------------------------------------------------- */

/* The nodes of the table at T, and their number. */
static uintptr_t
nodes_of(uintptr_t t, size_t *ret_count)
{
    unsigned shift = *(const unsigned char *)(t + TABLE_SHIFT);

    *ret_count = shift <= TABLE_SHIFT_MAX ? (size_t)1 << shift : 0;
    return word(t + TABLE_NODES);
}

/* The text of the key of NODE; NULL if it is no short string. */
static const char *
key_of(uintptr_t node)
{
    if ((*(const unsigned char *)(node + lay->key_type) & TYPE_MASK) != TYPE_STRING)
        return NULL;
    return (const char *)(word(node + lay->key_value) + TEXT);
}

static unsigned
type_of(uintptr_t value)
{
    return *(const unsigned char *)(value + TYPE) & TYPE_MASK;
}

/* Is the value at NODE the C function FUNCTION? */
static bool
is_function(uintptr_t node, uintptr_t function)
{
    return (type_of(node) == TYPE_LIGHT_C && word(node) == function) ||
           (type_of(node) == TYPE_C && word(word(node) + CLOSURE_FUNCTION) == function);
}

/* The table that table T has under KEY, or 0. */
static uintptr_t
table_in(uintptr_t t, const char *key)
{
    size_t count;
    uintptr_t node = nodes_of(t, &count);

    for (size_t i = 0; i < count; i++, node += lay->node_bytes) {
        const char *text = key_of(node);

        if (text != NULL && type_of(node) == TYPE_TABLE && strcmp(text, key) == 0)
            return word(node);
    }
    return 0;
}

/* Put "MODULE.NAME" to TO, or "NAME" if it is a global. */
static void
put_name(char to[NAME_BYTES], const char *module, const char *name)
{
    size_t length = strcmp(module, "_G") == 0 ? 0 : strnlen(module, NAME_BYTES / 2 - 2);

    memcpy(to, module, length);
    if (length > 0)
        to[length++] = '.';
    to[length] = '\0';
    strncat(to, name, NAME_BYTES / 2 - 1);
}

/* The name under which a module of L that is loaded has FUNCTION; false if none has. */
static bool
find_name(uintptr_t l, uintptr_t function, char to[NAME_BYTES])
{
    uintptr_t registry = word(l + STATE_GLOBAL) + GLOBAL_REGISTRY, loaded, module;
    size_t modules, count;
    bool found = false;

    if (type_of(registry) != TYPE_TABLE || (loaded = table_in(word(registry), "_LOADED")) == 0)
        return false;
    module = nodes_of(loaded, &modules);
    for (size_t i = 0; i < modules; i++, module += lay->node_bytes) {
        uintptr_t node;

        if (type_of(module) != TYPE_TABLE || key_of(module) == NULL)
            continue;
        node = nodes_of(word(module), &count);
        for (size_t k = 0; k < count; k++, node += lay->node_bytes) {
            if (key_of(node) == NULL || !is_function(node, function))
                continue;
            put_name(to, key_of(module), key_of(node));
            if (strcmp(key_of(module), "_G") == 0) // The shortest that there can be.
                return true;
            found = true;
        }
    }
    return found;
}

/* "function@FILE:LINE" to TO. Without stdio, which may take locks. */
static void
put_place(char to[NAME_BYTES], const char *file, unsigned line)
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

/* The id of the call CALL of L: what it is called where it was called from, its file and line. 0:
 * it is a C function without a name. */
static unsigned
make_id(uintptr_t l, uintptr_t call, uintptr_t c_function)
{
    _Alignas(8) unsigned char debug[256] = {0};
    uintptr_t d = (uintptr_t)debug;
    const char *name, *what, *file = (const char *)debug + lay->debug_short;
    char text[NAME_BYTES];
    int line;

    memcpy(debug + lay->debug_call, &call, sizeof call);
    if (getinfo((lua_state *)l, "nSl", debug) == 0)
        return 0;
    name = text_at(d + lay->debug_name);
    if (c_function != 0) {
        if (find_name(l, c_function, text))
            name = text;
        return name != NULL ? heaptap_frame_name(name, "[C]", 0, "Lua") : 0;
    }
    what = text_at(d + lay->debug_what);
    line = (int)int_at(d + lay->debug_line);
    if (what != NULL && strcmp(what, "main") == 0) {
        name = "main-chunk";
    } else if (name == NULL || name[0] == '?' || name[0] == '(') {
        put_place(text, file, int_at(d + lay->debug_defined));
        name = text;
    }
    return heaptap_frame_name(name, file, line > 0 ? (unsigned)line : 0, "Lua");
}

static inline struct known *
known_place(uintptr_t key, uintptr_t code)
{
    return &ids[((key ^ code << 7 ^ code) * UINT64_C(0x9e3779b97f4a7c15)) >> 50];
}

static __attribute__((noinline)) void
keep(struct known *k, const struct known *made)
{
    if (__atomic_test_and_set(&ids_busy, __ATOMIC_ACQUIRE))
        return; // A thread, or what we have interrupted, is at it.
    __atomic_store_n(&k->key, 0, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    k->code = made->code;
    k->source = made->source;
    k->text = made->text;
    k->line = made->line;
    k->size = made->size;
    k->id = made->id;
    __atomic_store_n(&k->key, made->key, __ATOMIC_RELEASE);
    __atomic_clear(&ids_busy, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) unsigned
new_id_of_lua(uintptr_t l, uintptr_t call, struct known *k, const struct known *said)
{
    struct known now = *said;

    now.id = make_id(l, call, 0);
    keep(k, &now);
    return now.id;
}

static inline unsigned
id_of_lua(const struct layout *y, uintptr_t l, uintptr_t call, uintptr_t proto, uintptr_t code)
{
    struct known *k = known_place(proto, code);
    uintptr_t source = word(proto + y->proto_source);
    // A text ends with a zero byte, and strings take whole words.
    struct known now = {.key = proto,
                        .code = code,
                        .source = source,
                        .text = source != 0 ? word(source + TEXT) : 0,
                        .line = int_at(proto + y->proto_line),
                        .size = int_at(proto + y->proto_size)};
    unsigned id = k->id;

    if (__atomic_load_n(&k->key, __ATOMIC_ACQUIRE) == proto && k->code == code &&
        k->source == source && k->text == now.text && k->line == now.line &&
        k->size == now.size && id == k->id)
        return id;
    return new_id_of_lua(l, call, k, &now);
}

/* The first name that a C function is called by is its name from then on. */
static unsigned
id_of_c(uintptr_t l, uintptr_t call, uintptr_t function)
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
    now.id = make_id(l, call, function);
    keep(k, &now);
    return now.id;
}

/* --- Frames ----------------------------------------------------------------------------------- */

/* The call CALL of L, whose function is at FUNCTION, into TO. False if it is not to be shown. */
static inline bool
put_call(const struct layout *y, uintptr_t l, uintptr_t call, uintptr_t function,
         struct heaptap_frame *to)
{
    unsigned status = *(const unsigned short *)(call + y->call_status);
    unsigned type = *(const unsigned char *)(function + TYPE) & TYPE_MASK;
    bool is_lua = ((status ^ y->is_c) & (y->is_lua | y->is_c)) != 0; // Only one of them is there.
    uintptr_t value = word(function);

    if (is_lua && type == TYPE_LUA) {
        uintptr_t proto = word(value + CLOSURE_FUNCTION);

        to->id = id_of_lua(y, l, call, proto, word(call + y->call_code));
        to->extra = status & y->fresh ? KIND_FRESH : KIND_LUA;
        to->at = 0;
        return true;
    }
    if (is_lua)
        return false;
    if (type != TYPE_LIGHT_C)
        value = word(value + CLOSURE_FUNCTION);
    if (!is_runtime(value))
        return false; // It has a C frame that is shown.
    to->id = id_of_c(l, call, value);
    to->extra = KIND_C;
    to->at = value; // For `place`.
    if (to->id == 0)
        to->id = nameless;
    return true;
}

/* Calls that the latest answer of this thread had. What has the same function at the same place in
 * the next one is the same: to make another function there takes an allocation, which would have
 * asked. So what the prototype says of itself need not be looked at. */
struct latest {
    uintptr_t call, function, code;
    uintptr_t serial; // Of the answer.
    struct heaptap_frame frame;
};

static __thread struct {
    uintptr_t serial;
    struct latest v[LATEST];
} latest;

/* The same as put_call, if the call was in the latest answer. */
static inline bool
put_again(const struct layout *y, uintptr_t call, uintptr_t function, struct heaptap_frame *to)
{
    struct latest *e = &latest.v[(call >> 4 ^ call >> 10) % LATEST];
    uintptr_t value = word(function), code = word(call + y->call_code);

    if (e->call == call && e->function == value && e->code == code &&
        e->serial + 1 == latest.serial) {
        e->serial++;
        *to = e->frame;
        return true;
    }
    return false;
}

static void
note_latest(const struct layout *y, uintptr_t call, uintptr_t function,
            const struct heaptap_frame *f)
{
    struct latest *e = &latest.v[(call >> 4 ^ call >> 10) % LATEST];

    e->serial = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    e->call = call;
    e->function = word(function);
    e->code = word(call + y->call_code);
    e->frame = *f;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    e->serial = latest.serial;
}

/* The calls of L. */
static size_t
put_state(uintptr_t l, struct heaptap_frame *to, size_t max)
{
    const struct layout *y = lay;
    const void *from = NULL, *moved = NULL;
    uintptr_t call = word(l + lay->state_ci), off = 0, function;
    size_t n = 0;

    if (heaptap_is_moved(&from, &moved) && word(l + lay->state_stack) == (uintptr_t)from)
        off = (uintptr_t)moved - (uintptr_t)from;
    // A state that is being made has none yet.
    for (size_t steps = 0; call != 0 && n < max && steps < 4 * max; steps++) {
        uintptr_t previous = word(call + CALL_PREVIOUS);

        if (previous == 0) // That is the state's own.
            break;
        function = word(call + CALL_FUNCTION) + off;
        if (put_again(y, call, function, &to[n])) {
            n++;
        } else if (put_call(y, l, call, function, &to[n])) {
            note_latest(y, call, function, &to[n]);
            n++;
        }
        call = previous;
    }
    // The outermost are the program's own, which call Lua, and have C frames that are shown.
    while (n > 0 && to[n - 1].id == nameless)
        n--;
    return n;
}

static size_t
frames_noted(struct heaptap_frame *to, size_t max, const unsigned long notes[HEAPTAP_NOTES])
{
    uintptr_t done = 0, off = __atomic_load_n(&state_off, __ATOMIC_RELAXED);
    size_t n = 0;

    latest.serial++;
    for (size_t k = 0; k < BOUNDARIES && notes[2 * k] != 0; k++) {
        uintptr_t low = notes[2 * k], high = notes[2 * k + 1];
        uintptr_t l = high - low > off ? word(high - off) : 0;

        if (l == done || !is_state(l, low, high))
            continue;
        done = l;
        n += put_state(l, to + n, max - n);
    }
    return n;
}

static size_t
frames(struct heaptap_frame *to, size_t max)
{
    (void)to;
    (void)max;
    return 0;
}

static void
place(struct heaptap_frame *f, size_t count, const struct heaptap_native *n, size_t native_count)
{
    uintptr_t execute;
    size_t at = 0;
    bool next = true; // The next frame of Lua is in another one of luaV_execute.

    for (size_t i = 0; i < native_count; i++)
        if (is_runtime(n[i].pc - 1))
            learn_execute(n[i].pc, start_of(n[i].pc));
    execute = __atomic_load_n(&execute_bytes, __ATOMIC_RELAXED) >= EXECUTE_BYTES_MIN
                  ? __atomic_load_n(&execute_start, __ATOMIC_RELAXED)
                  : 0;
    for (size_t i = 0; i < count; i++) {
        uintptr_t start = f[i].extra == KIND_C ? f[i].at : execute;
        size_t found = at;

        f[i].at = 0;
        if (f[i].extra == KIND_C || next) {
            while (found < native_count && start_of(n[found].pc) != start)
                found++;
            if (start != 0 && found < native_count) {
                f[i].at = n[found].slot + 1;
                at = found + 1;
            }
        }
        next = f[i].extra != KIND_LUA;
    }
}

static const struct heaptap_language language = {
    .size = sizeof language,
    .name = "Lua",
    .frames = frames,
    .place = place,
    .look = look,
    .frames_noted = frames_noted,
};

/* --- Beginning -------------------------------------------------------------------------------- */

/* The code of the object that has FUNCTION. */
static int
find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t function = *(const uintptr_t *)arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *s = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + s->p_vaddr;

        if (s->p_type == PT_LOAD && (s->p_flags & PF_X) && function - start < s->p_memsz) {
            runtime_start = start;
            runtime_end = start + s->p_memsz;
            return 1;
        }
    }
    return 0;
}

/* The layout of the Lua that is loaded; NULL, and *RET_VERSION, if it is not known. */
static const struct layout *
find_layout(const char **ret_version)
{
    const char *ident = dlsym(RTLD_DEFAULT, "lua_ident");
    const char *version = ident != NULL ? strstr(ident, "Lua 5.") : NULL;

    *ret_version = version;
    if (version == NULL)
        return NULL;
    version += strlen("Lua ");
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (strncmp(version, layouts[i].version, strlen(layouts[i].version)) == 0)
            return &layouts[i];
    return NULL;
}

/* One line to stderr: VERSION, which may be NULL, is not known here. */
static void
say_unknown(const char *version)
{
    char text[160];
    int length = version != NULL ? (int)strcspn(version, " (\t\n") : 0;

    if (version != NULL && strncmp(version, "Lua ", 4) == 0)
        length = 4 + (int)strcspn(version + 4, " \t\n");
    length = snprintf(text, sizeof text,
                      "heaptap: %.*s is not known to libheaptap_lua.so (5.3 and 5.4 are): stacks "
                      "show the interpreter's functions\n",
                      version != NULL ? length : 9, version != NULL ? version : "This Lua ");
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        return;
}

__attribute__((constructor)) static void
begin(void)
{
    void *function = dlsym(RTLD_DEFAULT, "lua_getinfo");
    const char *version;
    uintptr_t address = (uintptr_t)function;

    if (function == NULL)
        return;
    lay = find_layout(&version);
    getinfo = (getinfo_fn *)function;
    resume_start = (uintptr_t)dlsym(RTLD_DEFAULT, "lua_resume");
    if (lay == NULL || resume_start == 0) {
        say_unknown(version);
        return;
    }
    dl_iterate_phdr(find_code, &address);
    nameless = heaptap_frame_name("?", "[C]", 0, "Lua");
    heaptap_runtime_code((const void *)runtime_start, (const void *)runtime_end);
    heaptap_language_add(&language);
}
