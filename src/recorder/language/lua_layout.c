/* lua_layout.c: the structures of Lua 5.1 to 5.4 on x86-64.
 *
 * lua_ident, a string that PUC-Rio's Lua exports and LuaJIT does not, contains the version. A
 * version outside the table is unsupported: layouts are never guessed. Redis contains a modified
 * Lua 5.1 with read-only tables; a function that only this variant exports identifies it. */
#include "language/lua_layout.h"

#include <stddef.h>
#include <string.h>

const struct lua_layout *lua_layout;

#define CALLS_5_4 .call_status = 62, .call_code = 32, .call_bytes = 64, .is_c = 2
#define PROTO_5_4 .proto_line = 44, .proto_code = 64, .proto_source = 112, .proto_size = 24
#define TABLE_5_4                                                                                  \
    .table_shift = 11, .table_nodes = 24, .node_bytes = 24, .key_type = 9, .key_value = 16
#define DEBUG_5_4                                                                                  \
    .debug_name = 8, .debug_what = 24, .debug_line = 48, .debug_defined = 52, .debug_short = 68,   \
    .debug_call = 128
#define ROW_5_4                                                                                    \
    CALLS_5_4, PROTO_5_4, TABLE_5_4, DEBUG_5_4, .state_global = 24, .state_ci = 32,                \
        .closure_function = 24, .string_text = 24, .global_registry = 64

#define ROW_5_3                                                                                    \
    .state_global = 24, .state_ci = 32, .state_stack = 56, .state_jump = 88, .call_status = 66,    \
    .call_code = 40, .call_bytes = 72, .is_lua = 2, .closure_function = 24, .proto_line = 40,      \
    .proto_code = 56, .proto_source = 104, .proto_size = 24, .global_registry = 64,                \
    .table_shift = 11, .table_nodes = 24, .node_bytes = 32, .key_type = 24, .key_value = 16,       \
    .debug_name = 8, .debug_what = 24, .debug_line = 40, .debug_defined = 44, .debug_short = 56,   \
    .debug_call = 120

#define ROW_5_2                                                                                    \
    .state_global = 24, .state_ci = 32, .state_stack = 56, .state_jump = 112, .call_status = 34,   \
    .call_bytes = 80, .is_lua = 1, .not_fresh = 4, .closure_function = 24, .string_text = 24,      \
    .proto_line = 104, .proto_code = 24, .proto_source = 72, .proto_size = 88, .table_shift = 11,  \
    .node_bytes = 40, .key_type = 24, .key_value = 16, .debug_name = 8, .debug_what = 24,          \
    .debug_line = 40, .debug_defined = 44, .debug_short = 56, .debug_call = 120

#define ROW_5_1                                                                                    \
    .has_array = true, .state_global = 32, .state_ci = 40, .state_stack = 64, .state_jump = 168,   \
    .state_calls = 80, .state_code = 48, .call_function = 8, .call_code = 24, .call_bytes = 40,    \
    .closure_function = 32, .closure_is_c = 10, .string_text = 24, .proto_line = 96,               \
    .proto_code = 24, .proto_source = 64, .proto_size = 80, .global_registry = 160,                \
    .global_alloc = 16, .node_bytes = 40, .key_type = 24, .key_value = 16, .debug_name = 8,        \
    .debug_what = 24, .debug_line = 40, .debug_defined = 48, .debug_short = 56, .debug_call = 116

/* The first layout whose version matches applies. In 5.4.0 and 5.4.1 all calls of Lua functions are
 * fresh: calls without the bit of C functions. */
static const struct lua_layout layouts[] = {
    {.version = "5.4.0", .state_stack = 56, .state_jump = 88, .not_fresh = 2, ROW_5_4},
    {.version = "5.4.1", .state_stack = 48, .state_jump = 80, .not_fresh = 2, ROW_5_4},
    {.version = "5.4.2", .state_stack = 48, .state_jump = 80, .fresh = 4, ROW_5_4},
    {.version = "5.4.3", .state_stack = 48, .state_jump = 88, .fresh = 4, ROW_5_4},
    {.version = "5.4.4", .state_stack = 48, .state_jump = 88, .fresh = 4, ROW_5_4},
    {.version = "5.4.",
     .state_stack = 48, .state_jump = 88, .state_own_call = 96, .fresh = 4, ROW_5_4},
    {.version = "5.3.0", .not_fresh = 8, .string_text = 32, ROW_5_3},
    {.version = "5.3.1", .not_fresh = 8, .string_text = 24, ROW_5_3},
    {.version = "5.3.", .fresh = 8, .string_text = 24, ROW_5_3},
    {.version = "5.2.0", .call_code = 48, .global_registry = 56, .table_nodes = 32, ROW_5_2},
    {.version = "5.2.1", .call_code = 56, .global_registry = 64, .table_nodes = 32, ROW_5_2},
    {.version = "5.2.2", .call_code = 56, .global_registry = 64, .table_nodes = 32, ROW_5_2},
    {.version = "5.2.3", .call_code = 56, .global_registry = 64, .table_nodes = 32, ROW_5_2},
    {.version = "5.2.", .call_code = 56, .global_registry = 64, .table_nodes = 24, ROW_5_2},
    {.version = "5.1", .table_shift = 11, .table_nodes = 32, ROW_5_1},
    {.version = "5.1", .is_redis = true, .table_shift = 16, .table_nodes = 40, ROW_5_1},
};

bool
lua_layout_find(const char *ident, bool is_redis, const char **ret_version)
{
    const char *version = ident != NULL ? strstr(ident, "Lua 5.") : NULL;

    *ret_version = version;
    if (version == NULL)
        return false;
    version += strlen("Lua ");
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const struct lua_layout *y = &layouts[i];

        if (strncmp(version, y->version, strlen(y->version)) == 0 && y->is_redis == is_redis) {
            lua_layout = y;
            return true;
        }
    }
    return false;
}
