/* adapter_lua.c: the adapter for Lua 5.1 to 5.4, libheaptap_lua.so.
 *
 * It is loaded beside the recorder into a program that is Lua or embeds Lua. At load time it looks
 * up Lua's functions by name. So it needs no headers and no library, and one file serves all
 * versions. Without Lua, or without a recorder, it does nothing. If it does not know the structures
 * of the version, it prints one message, and the recorder shows C frames instead of Lua's
 * functions.
 *
 * lua_state.c finds the running state, lua_frames.c turns its calls into frames, lua_name.c names
 * them, lua_code.c finds Lua's code, lua_types.c labels objects with their types.
 *
 * LuaJIT is not supported: it has other structures, and a private allocator for its objects. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "heaptap/language.h"
#include "language/adapter_message.h"
#include "language/lua_adapter.h"
#include "language/lua_layout.h"

enum { LINE_BYTES = 200 };

static struct heaptap_language language = {
    .size = sizeof language,
    .name = "Lua",
    .place = lua_frames_place,
    .look = lua_state_probe,
    .place_inner = lua_frames_place_inner,
    .frames_again = lua_frames_again,
};

/* Append "Lua" and the number in VERSION, such as "5.4.6", to the line TO. VERSION may be NULL. */
static void
put_version(char to[LINE_BYTES], const char *version)
{
    size_t length;

    strcat(to, "Lua");
    if (version == NULL)
        return;
    version += strlen("Lua ");
    length = strcspn(version, " \t\n");
    strcat(to, " ");
    strncat(to, version, length < 20 ? length : 20);
}

/* Print one line for the user: the Lua of this process, named VERSION or NULL, is unsupported. */
static void
lua_adapter_report_unknown(const char *version)
{
    char line[LINE_BYTES] = "heaptap: ";

    if (lua_code_exports("luaJIT_setmode")) {
        strcat(line, "LuaJIT maps memory for its objects itself and hides its functions: stacks "
                     "show C functions\n");
    } else {
        put_version(line, version);
        strcat(line, " is not supported, so its functions are not shown; 5.1 to 5.4 are\n");
    }
    adapter_message(line, strlen(line));
}

/* Functions and data of Lua, NULL in other programs. The dynamic linker resolves them: dlsym would
 * allocate in the program's heap, and leave an error for the program's dlerror. */
extern __attribute__((weak)) const char lua_getinfo[], lua_resume[], lua_ident[];

__attribute__((constructor)) static void
lua_adapter_begin(void)
{
    const void *function = lua_getinfo, *resume = lua_resume;
    const char *version = NULL, *ident;

    if (function == NULL)
        return;
    lua_code_find((uintptr_t)function);
    // LuaJIT does not export lua_ident.
    ident = lua_code_exports("luaJIT_setmode") ? NULL : lua_ident;
    *(const void **)&lua_name_getinfo = function;
    if (!lua_layout_find(ident, lua_code_exports("lua_enablereadonlytable"), &version) ||
        resume == NULL) {
        lua_adapter_report_unknown(version);
        return;
    }
    lua_state_begin((uintptr_t)resume);
    lua_types_begin();
    lua_frames_unnamed = heaptap_frame_name("?", "[C]", 0, "Lua");
    language.memo_bytes = lua_frames_memo_bytes;
    heaptap_language_add(&language);
}
