/* lua_code.c: finds Lua's code in the process.
 *
 * All code of a liblua, and of the lua command, is Lua's. A program with Lua linked in also has its
 * own functions, before and after Lua's, and these must be shown. Exported functions, which modules
 * in C require, mark the borders. The names of Lua's public functions are known. Code between two
 * of these, in address order, is Lua's if there is no other exported function between them:
 *
 *     game_draw   lua_absindex … lua_callk … luaV_execute … luaopen_string   game_load   lua_spirit
 *                 |------------------------------------------------------|
 *
 * Before the first public function there are static functions of the same object, which have no
 * name. They are Lua's down to the lowest one that Lua's code refers to, because Lua refers to no
 * static function of the program.
 *
 * This relies on linkers, which place the objects of a library side by side. In other cases, as
 * when the whole program is compiled as one unit, the code is in several ranges, and less of it is
 * recognised as Lua's. Reports then show a C frame too many, never one too few. */
#include "language/lua_adapter.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "heaptap/language.h"

enum {
    STARTS = 1 << 12,
    FUNCTIONS = 256, // Upper bound of the number of public functions.
    SYMBOLS_MAX = 1 << 22,
    EXECUTE_BYTES_MIN = 4000,
    EXECUTE_SIZE_BITS = 24,
    EXECUTE_SHIFT = 64 - EXECUTE_SIZE_BITS,
};

/* Public functions of Lua 5.1 to 5.4, and of Redis's Lua. */
static const struct {
    const char *prefix, *rest;
} api[] = {
    {"lua_", " absindex arith atpanic call callk checkstack close closeslot closethread compare "
             "concat copy cpcall createtable dump enablereadonlytable equal error gc getallocf "
             "getctx getfenv getfield getglobal gethook gethookcount gethookmask geti getinfo "
             "getiuservalue getlocal getmetatable getstack gettable gettop getupvalue "
             "getuservalue insert iscfunction isinteger isnumber isreadonlytable isstring "
             "isuserdata isyieldable len lessthan load newstate newthread newuserdata "
             "newuserdatauv next objlen pcall pcallk pushboolean pushcclosure pushfstring "
             "pushinteger pushlightuserdata pushlstring pushnil pushnumber pushstring pushthread "
             "pushunsigned pushvalue pushvfstring rawequal rawget rawgeti rawgetp rawlen rawset "
             "rawseti rawsetp remove replace resetthread resume rotate setallocf setcstacklimit "
             "setfenv setfield setglobal sethook seti setiuservalue setlevel setlocal "
             "setmetatable settable settop setupvalue setuservalue setwarnf status "
             "stringtonumber toboolean tocfunction toclose tointeger tointegerx tolstring "
             "tonumber tonumberx topointer tothread tounsignedx touserdata type typename "
             "upvalueid upvaluejoin version warning xmove yield yieldk "},
    {"luaL_", " addgsub addlstring addstring addvalue argerror buffinit buffinitsize callmeta "
              "checkany checkinteger checklstring checknumber checkoption checkstack checktype "
              "checkudata checkunsigned checkversion_ error execresult fileresult findtable "
              "getmetafield getsubtable gsub len loadbuffer loadbufferx loadfile loadfilex "
              "loadstring newmetatable newstate openlib openlibs optinteger optlstring optnumber "
              "optunsigned prepbuffer prepbuffsize pushmodule pushresult pushresultsize ref "
              "register requiref setfuncs setmetatable testudata tolstring traceback typeerror "
              "typerror unref where "},
    {"luaopen_", " base bit32 coroutine debug io math os package string table utf8 "},
};

struct lua_code_range lua_code_ranges[LUA_CODE_RANGES];
size_t lua_code_range_count;

/* The loaded object that contains Lua, and its dynamic symbols. */
static struct object {
    uintptr_t base, code_start, code_end;
    bool is_readable; // The segment with the code is mapped readable.
    const ElfW(Sym) * symbols;
    const char *names;
    size_t count;
} lua;

/* Lua's public functions, sorted by address. `cut` is true if a function of the program lies
 * between this function and the next. */
static struct {
    uintptr_t start, end;
    bool cut;
} functions[FUNCTIONS];
static size_t function_count;

enum owner { OWNER_NOBODY, OWNER_LUA, OWNER_PROGRAM };

static enum owner
lua_code_owner_of(const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof api / sizeof *api; i++) {
        size_t prefix = strlen(api[i].prefix);
        const char *at = api[i].rest;

        if (strncmp(name, api[i].prefix, prefix) != 0 || name[prefix] == '\0')
            continue;
        while ((at = strstr(at, name + prefix)) != NULL) {
            if (at[-1] == ' ' && at[length - prefix] == ' ')
                return OWNER_LUA;
            at++;
        }
    }
    // Names such as luaV_execute belong to internal functions, which some builds export. They set
    // no cut. An unknown luaL_ function belongs to the program.
    if (strncmp(name, "lua", 3) == 0 && name[3] >= 'A' && name[3] <= 'Z' && name[3] != 'L' &&
        name[4] == '_')
        return OWNER_NOBODY;
    if (strcmp(name, "_init") == 0 || strcmp(name, "_fini") == 0)
        return OWNER_NOBODY;
    return OWNER_PROGRAM;
}

/* --- Symbols ---------------------------------------------------------------------------------- */

/* Return the number of symbols in a hash table of GNU format. */
static size_t
count_hashed(const uint32_t *table)
{
    uint32_t buckets = table[0], first = table[1], words = table[2], last = 0;
    const uint32_t *bucket = table + 4 + words * (sizeof(ElfW(Addr)) / sizeof *table);
    const uint32_t *chain = bucket + buckets;

    for (uint32_t i = 0; i < buckets; i++)
        last = bucket[i] > last ? bucket[i] : last;
    if (last < first)
        return first;
    while (last < SYMBOLS_MAX && (chain[last - first] & 1) == 0)
        last++;
    return (size_t)last + 1;
}

static void
read_dynamic(struct object *o, const ElfW(Dyn) * d)
{
    for (; d->d_tag != DT_NULL; d++) {
        // glibc has relocated this word to an address; musl has not.
        const void *at = (const void *)(d->d_un.d_ptr + (d->d_un.d_ptr < o->base ? o->base : 0));

        if (d->d_tag == DT_SYMTAB)
            o->symbols = at;
        else if (d->d_tag == DT_STRTAB)
            o->names = at;
        else if (d->d_tag == DT_HASH)
            o->count = ((const uint32_t *)at)[1];
        else if (d->d_tag == DT_GNU_HASH && o->count == 0)
            o->count = count_hashed(at);
    }
}

static int
find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t function = *(const uintptr_t *)arg;
    struct object o = {.base = info->dlpi_addr};

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + h->p_vaddr;

        if (h->p_type == PT_LOAD && (h->p_flags & PF_X) && function - start < h->p_memsz) {
            o.code_start = start;
            o.code_end = start + h->p_memsz;
            o.is_readable = (h->p_flags & PF_R) != 0;
        }
    }
    if (o.code_end == 0)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(&o, (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
    if (o.symbols == NULL || o.names == NULL || o.count > SYMBOLS_MAX)
        o.count = 0;
    lua = o;
    return 1;
}

/* Return symbol number I of O if it is a function in O's code; else NULL. */
static const ElfW(Sym) * function_at(const struct object *o, size_t i)
{
    const ElfW(Sym) *s = &o->symbols[i];
    uintptr_t at = o->base + s->st_value;

    return s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == STT_FUNC &&
                   at >= o->code_start && at < o->code_end
               ? s
               : NULL;
}

/* --- Ranges ----------------------------------------------------------------------------------- */

static void
lua_code_add_function(uintptr_t start, uintptr_t end)
{
    size_t i = function_count;

    if (function_count == FUNCTIONS)
        return;
    for (; i > 0 && functions[i - 1].start > start; i--)
        functions[i] = functions[i - 1];
    functions[i].start = start;
    functions[i].end = end;
    function_count++;
}

/* Set `cut` of the function before ADDRESS: a function of the program begins there. */
static void
cut_at(uintptr_t address)
{
    size_t low = 0, high = function_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (functions[middle].start < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0)
        functions[low - 1].cut = true;
}

static void
add_range(uintptr_t start, uintptr_t end)
{
    if (lua_code_range_count == LUA_CODE_RANGES)
        return;
    lua_code_ranges[lua_code_range_count++] = (struct lua_code_range){start, end};
    heaptap_runtime_code((const void *)start, (const void *)end);
}

/* Fill `functions` from O's symbols, and set `cut` at the program's functions. Return false if O
 * has no function of Lua. */
static bool
lua_code_divide(const struct object *o)
{
    const ElfW(Sym) * s;
    bool divided = false;

    for (size_t i = 0; i < o->count; i++)
        if ((s = function_at(o, i)) != NULL &&
            lua_code_owner_of(o->names + s->st_name) == OWNER_LUA)
            lua_code_add_function(o->base + s->st_value, o->base + s->st_value + s->st_size);
    for (size_t i = 0; i < o->count; i++)
        if ((s = function_at(o, i)) != NULL &&
            lua_code_owner_of(o->names + s->st_name) == OWNER_PROGRAM) {
            cut_at(o->base + s->st_value);
            divided = true;
        }
    return divided;
}

/* Return the end of the last function of the program before START. */
static uintptr_t
program_end(const struct object *o, uintptr_t start)
{
    const ElfW(Sym) * s;
    uintptr_t end = o->code_start;

    for (size_t i = 0; i < o->count; i++)
        if ((s = function_at(o, i)) != NULL && o->base + s->st_value < start &&
            o->base + s->st_value + s->st_size > end)
            end = o->base + s->st_value + s->st_size;
    return end;
}

/* Return the address that the instruction at P calls, jumps to or loads; 0 for any other
 * instruction. The code ends BYTES after P. */
static uintptr_t
refers_to(const unsigned char *p, size_t bytes)
{
    bool takes = bytes >= 7 && (p[0] & 0xfb) == 0x48 && p[1] == 0x8d && (p[2] & 0xc7) == 0x05;
    size_t length = takes ? 7 : 5;
    int32_t off;

    if (!takes && (bytes < 5 || (p[0] != 0xe8 && p[0] != 0xe9)))
        return 0;
    memcpy(&off, p + length - sizeof off, sizeof off);
    return (uintptr_t)p + length + (uintptr_t)(intptr_t)off;
}

/* Return the start of Lua's code that contains START. No named function is between LOW and START.
 * RANGES has COUNT elements. Data may look like an instruction, but very rarely like one that
 * refers exactly to the start of a function. */
static uintptr_t
begin_of(const struct lua_code_range *ranges, size_t count, uintptr_t low, uintptr_t start)
{
    for (size_t i = 0; i < count; i++)
        for (uintptr_t at = ranges[i].start; at < ranges[i].end; at++) {
            uintptr_t to = refers_to((const unsigned char *)at, ranges[i].end - at);

            if (to >= low && to < start && heaptap_function_of((const void *)to) == (void *)to)
                start = to;
        }
    return start;
}

void
lua_code_find(uintptr_t function)
{
    struct lua_code_range found[LUA_CODE_RANGES];
    const struct object *o = &lua;
    uintptr_t start = 0;
    size_t count = 0;

    if (dl_iterate_phdr(find_object, &function) == 0)
        return;
    if (!lua_code_divide(o)) {
        add_range(o->code_start, o->code_end);
        return;
    }
    for (size_t i = 0; i < function_count; i++) {
        start = i == 0 || functions[i - 1].cut ? functions[i].start : start;
        if ((functions[i].cut || i + 1 == function_count) && count < LUA_CODE_RANGES)
            found[count++] = (struct lua_code_range){start, functions[i].end};
    }
    for (size_t i = 0; i < count; i++)
        add_range(o->is_readable
                      ? begin_of(found, count, program_end(o, found[i].start), found[i].start)
                      : found[i].start,
                  found[i].end);
}

bool
lua_code_exports(const char *name)
{
    const ElfW(Sym) * s;

    for (size_t i = 0; i < lua.count; i++)
        if ((s = function_at(&lua, i)) != NULL && strcmp(lua.names + s->st_name, name) == 0)
            return true;
    return false;
}

/* --- Functions -------------------------------------------------------------------------------- */

/* The largest function of Lua found so far. One word contains both its size (high bits) and its
 * offset in the object's code (low bits), so that threads cannot mix two functions. Atomic. */
static uint64_t largest;

static void
learn_execute(uintptr_t pc, uintptr_t start)
{
    uint64_t before = __atomic_load_n(&largest, __ATOMIC_RELAXED), bytes, word;

    if (start < lua.code_start || !lua_code_has(pc - 1))
        return;
    bytes = (uintptr_t)heaptap_function_end((const void *)(pc - 1)) - start;
    if (bytes >> EXECUTE_SIZE_BITS != 0)
        return;
    word = bytes << EXECUTE_SHIFT | (start - lua.code_start);
    while (word > before && !__atomic_compare_exchange_n(&largest, &before, word, true,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

struct lua_code_range
lua_code_execute(void)
{
    uint64_t word = __atomic_load_n(&largest, __ATOMIC_RELAXED), bytes = word >> EXECUTE_SHIFT;
    uintptr_t start = lua.code_start + (word & (((uint64_t)1 << EXECUTE_SHIFT) - 1));

    return bytes >= EXECUTE_BYTES_MIN ? (struct lua_code_range){start, start + bytes}
                                      : (struct lua_code_range){0, 0};
}

struct known_start {
    uintptr_t pc, start;
};

/* Return true if K is the entry for PC, and store its function's start in *RET_START. Several
 * threads may write the same entry, each a correct pair, so the check rejects two halves from
 * different pairs. */
static inline bool
lua_code_is_known(const struct known_start *k, uintptr_t pc, uintptr_t *ret_start)
{
    if (__atomic_load_n(&k->pc, __ATOMIC_ACQUIRE) != pc)
        return false;
    *ret_start = __atomic_load_n(&k->start, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&k->pc, __ATOMIC_ACQUIRE) == pc;
}

/* Look PC up in two places of the cache. With one place, two addresses that are always on the stack
 * could displace each other at each lookup. A lookup by unwind entry takes hundreds of times longer
 * than a hit. */
uintptr_t
lua_code_start(uintptr_t pc)
{
    static struct known_start known[STARTS];
    size_t i = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> 52;
    struct known_start *k = &known[i];
    uintptr_t start;

    if (lua_code_is_known(k, pc, &start) || lua_code_is_known(&known[i ^ 1], pc, &start))
        return start;
    if (__atomic_load_n(&k->pc, __ATOMIC_RELAXED) != 0)
        k = &known[i ^ 1];
    start = (uintptr_t)heaptap_function_of((const void *)(pc - 1));
    learn_execute(pc, start);
    __atomic_store_n(&k->pc, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&k->start, start, __ATOMIC_RELEASE);
    __atomic_store_n(&k->pc, pc, __ATOMIC_RELEASE);
    return start;
}
