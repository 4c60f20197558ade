/* python_layout.c: for each version, the parts of CPython's structures that the adapter reads.
 *
 * Within a minor version these structures are constant: extensions are compiled against some of
 * them, and the others have never changed so far. The numbers come from the headers of each
 * version; run/python_layout compiles the installed headers and compares. So the build of the
 * adapter needs no headers, and one library serves all versions.
 *
 * A version outside the table is never guessed: an interpreter with unknown structures is recorded
 * with its C frames alone. */
#include "language/python_layout.h"

#include <string.h>

static const struct python_layout layouts[] = {
    {
        .minor = 9,
        .chain = PYTHON_CHAIN_OBJECTS,
        .lines = PYTHON_LINES_TABLE,
        .thread_id = 176,
        .thread_top = 24,
        .thread_interp = 16,
        .cframe_top = PYTHON_NONE,
        .cframe_previous = PYTHON_NONE,
        .thread_cframe = PYTHON_NONE,
        .thread_root = PYTHON_NONE,
        .thread_tracing = PYTHON_NONE,
        .frame_code = 32,
        .frame_previous = 24,
        .frame_at = 104,
        .frame_owner = PYTHON_NONE,
        .frame_entry = PYTHON_NONE,
        .frame_bytes = 112,
        .frame_head = 16,
        .code_begin = 48,
        .code_first = PYTHON_NONE,
        .code_function = 112,
        .code_file = 104,
        .code_line = 40,
        .code_lines = 120,
        .text_bytes = 48,
        .wide_bytes = 72,
        .arena_bytes = 256 << 10,
    },
    {
        .minor = 10,
        .chain = PYTHON_CHAIN_CFRAMES,
        .lines = PYTHON_LINES_RANGES,
        .thread_id = 176,
        .thread_top = 24,
        .thread_interp = 16,
        .cframe_top = PYTHON_NONE,
        .cframe_previous = 8,
        .thread_cframe = 48,
        .thread_root = 264,
        .thread_tracing = PYTHON_NONE,
        .frame_code = 32,
        .frame_previous = 24,
        .frame_at = 96,
        .frame_owner = PYTHON_NONE,
        .frame_entry = PYTHON_NONE,
        .frame_bytes = 112,
        .frame_head = 16,
        .code_begin = 48,
        .code_first = PYTHON_NONE,
        .code_function = 112,
        .code_file = 104,
        .code_line = 40,
        .code_lines = 120,
        .text_bytes = 48,
        .wide_bytes = 72,
        .arena_bytes = 1 << 20,
    },
    {
        .minor = 11,
        .chain = PYTHON_CHAIN_ENTRIES,
        .lines = PYTHON_LINES_LOCATIONS,
        .thread_id = 152,
        .thread_top = 56,
        .thread_interp = 16,
        .cframe_top = 8,
        .cframe_previous = 16,
        .thread_cframe = PYTHON_NONE,
        .thread_root = 336,
        .thread_tracing = 44,
        .frame_code = 32,
        .frame_previous = 48,
        .frame_at = 56,
        .frame_owner = 69,
        .frame_entry = 68,
        .frame_bytes = 80,
        .frame_head = 96,
        .code_begin = 184,
        .code_first = 168,
        .code_function = 128,
        .code_file = 112,
        .code_line = 72,
        .code_lines = 136,
        .text_bytes = 48,
        .wide_bytes = 72,
        .arena_bytes = 1 << 20,
    },
    {
        .minor = 12,
        .chain = PYTHON_CHAIN_SHIMS,
        .lines = PYTHON_LINES_LOCATIONS,
        .thread_id = 136,
        .thread_top = 56,
        .thread_interp = 16,
        .cframe_top = 0,
        .cframe_previous = 8,
        .thread_cframe = PYTHON_NONE,
        .thread_root = 272,
        .thread_tracing = 44,
        .frame_code = 0,
        .frame_previous = 8,
        .frame_at = 56,
        .frame_owner = 70,
        .frame_entry = PYTHON_NONE,
        .frame_bytes = 80,
        .frame_head = 88,
        .code_begin = 192,
        .code_first = 176,
        .code_function = 128,
        .code_file = 112,
        .code_line = 68,
        .code_lines = 136,
        .text_bytes = 40,
        .wide_bytes = 56,
        .arena_bytes = 1 << 20,
    },
    {
        .minor = 13,
        .chain = PYTHON_CHAIN_SHIMS,
        .lines = PYTHON_LINES_LOCATIONS,
        .thread_id = 152,
        .thread_top = 72,
        .thread_interp = 16,
        .cframe_top = PYTHON_NONE,
        .cframe_previous = PYTHON_NONE,
        .thread_cframe = PYTHON_NONE,
        .thread_root = PYTHON_NONE,
        .thread_tracing = 60,
        .frame_code = 0,
        .frame_previous = 8,
        .frame_at = 56,
        .frame_owner = 70,
        .frame_entry = PYTHON_NONE,
        .frame_bytes = 80,
        .frame_head = 88,
        .code_begin = 200,
        .code_first = 184,
        .code_function = 128,
        .code_file = 112,
        .code_line = 68,
        .code_lines = 136,
        .text_bytes = 40,
        .wide_bytes = 56,
        .arena_bytes = 1 << 20,
    },
};

const struct python_layout *
python_layout_of(unsigned minor)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor)
            return &layouts[i];
    return NULL;
}

unsigned
python_layout_minor(const char *version)
{
    unsigned minor = 0;

    // A build with free threading has other object headers and another allocator.
    if (strncmp(version, "3.", 2) != 0 || strstr(version, "free-threading") != NULL)
        return 0;
    for (version += 2; *version >= '0' && *version <= '9' && minor < 1000; version++)
        minor = minor * 10 + (unsigned)(*version - '0');
    return minor;
}
