/* suppress.c: read and apply suppressions.
 *
 * The parser reads arbitrary bytes from a file. It takes a length and never reads beyond it. A NUL
 * ends a pattern as it would end a string. Lines are independent, and errors name their line.
 *
 * The built-in list is short on purpose. It covers allocations that the C and C++ run-time
 * libraries and the dynamic linker make once and keep for the life of the process. Its patterns
 * match only the requesting function, because the dynamic linker also calls a program's
 * constructors, whose leaks must be shown. This file does no I/O; cmd_leaks.c reads the files. */
#include "analyse/leaks.h"

#include <string.h>

#include "analyse/fold.h"
#include "analyse/frame_name.h"

static const struct {
    const char *pattern;
    uint64_t size;
} builtin[] = {
    // Buffers of the standard streams and of files still open.
    {"^_IO_file_doallocate$", 0},
    {"^_IO_default_doallocate$", 0},
    {"^_IO_wfile_doallocate$", 0},
    // Loaded libraries, thread-local storage, and the list of exit handlers.
    {"/ld-linux-x86-64.so.2$", 0},
    {"^_dl_*", 0},
    {"^allocate_dtv$", 0},
    {"^__new_exitfn$", 0},
    {"^__cxa_atexit$", 0},
    {"^__cxa_thread_atexit_impl$", 0},
    // libgcc's index of registered unwind tables, in static executables from gcc 13 on.
    {"^btree_allocate_node$", 0},
    // Locale, character sets, time zone, name services, message catalogues: read once.
    {"^_nl_*", 0},
    {"^setlocale$", 0},
    {"^read_alias_file$", 0},
    {"^extend_alias_table$", 0},
    {"^__gconv_*", 0},
    {"^tzset_internal$", 0},
    {"^__tzfile_*", 0},
    {"^__tzset*", 0},
    {"^__nss_*", 0},
    // libstdc++'s emergency pool for exceptions: by name, and by its size up to version 12 and from
    // 13 on.
    {"^(anonymous namespace)::pool::pool()", 0},
    {"/libstdc++.so.6", 72704},
    {"/libstdc++.so.6", 73728},
    {"^std::locale::_S_initialize*", 0},
    {"^std::locale::_Impl::_Impl(", 0},
};

static void
suppress_add(struct suppressions *s, struct suppression new, struct arena *arena)
{
    new.counters = COUNTERS_ZERO;
    arena_grow(arena, &s->v, &s->capacity, s->count, sizeof *s->v);
    s->v[s->count++] = new;
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int
suppress_parse_line(struct suppressions *s, const char *line, size_t length, const char *origin,
                    struct arena *arena, struct err *err)
{
    static const char prefix[] = "leak:";
    size_t prefix_bytes = sizeof prefix - 1;
    const char *pattern;

    while (length > 0 && is_blank(line[0])) {
        line++;
        length--;
    }
    while (length > 0 && is_blank(line[length - 1]))
        length--;
    if (length == 0 || *line == '#')
        return 0;
    if (length < prefix_bytes || memcmp(line, prefix, prefix_bytes) != 0)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s: '%.*s' is no suppression; write leak:PATTERN", origin,
                       (int)(length < 60 ? length : 60), line);
    pattern = arena_strndup(arena, line + prefix_bytes, length - prefix_bytes);
    if (*pattern == '\0')
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s: the pattern is empty and would suppress everything", origin);
    suppress_add(s, (struct suppression){.pattern = pattern, .origin = origin}, arena);
    return 0;
}

int
suppress_parse(struct suppressions *s, const char *text, size_t length, const char *name,
               struct arena *arena, struct err *err)
{
    const char *end = text + length;

    for (size_t number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *line_end = newline ? newline : end;
        int rc = suppress_parse_line(s, text, (size_t)(line_end - text),
                                     arena_printf(arena, "%s:%zu", name, number), arena, err);

        if (rc != 0)
            return rc;
        text = newline ? newline + 1 : end;
    }
    return 0;
}

void
suppress_add_builtin(struct suppressions *s, struct arena *arena)
{
    for (size_t i = 0; i < countof(builtin); i++)
        suppress_add(s,
                     (struct suppression){
                .pattern = builtin[i].pattern,
                .origin = "built-in",
                .innermost = true,
                .size = builtin[i].size,
                     },
                     arena);
}

/* Return true if PATTERN matches TEXT. An unknown text (empty) matches no pattern, not even "*". */
static bool
suppress_matches(const char *pattern, const char *text)
{
    return *text != '\0' && glob_match(pattern, text);
}

static bool
matches_frame(const char *pattern, const struct profile *p, const struct profile_frame *f,
              uint32_t location)
{
    const char *function = profile_string(p, f->function);

    // Most patterns have no address, and such a pattern need not be compared with substitute names.
    if (f->function == 0 && strstr(pattern, "0x") != NULL) {
        struct unsymbolized_text name = frame_unsymbolized(p, location);

        if (suppress_matches(pattern, name.shown) || suppress_matches(pattern, name.bare))
            return true;
    }
    return suppress_matches(pattern, function) ||
           suppress_matches(pattern, function + fold_alias_length(function)) ||
           suppress_matches(pattern, profile_string(p, f->linkage)) ||
           suppress_matches(pattern, profile_string(p, f->file)) ||
           suppress_matches(pattern, p->modules[f->module].path);
}

/* Return the number of frames in the function that requested the memory, inlined functions
 * included. Wrappers are skipped: *RET_FIRST is the index of its first frame. */
static size_t
innermost_frames(const struct profile *p, const uint32_t *frames, size_t depth, size_t *ret_first)
{
    size_t first = 0, end;

    while (first + 1 < depth &&
           fold_is_wrapper(profile_string(p, p->frames[frames[first]].function)))
        first++;
    for (end = first; end + 1 < depth && p->frames[frames[end]].inlined; end++)
        continue;
    *ret_first = first;
    return depth ? end + 1 - first : 0;
}

/* Return true if X has no size, or all blocks of SITE have that size. */
static bool
matches_size(const struct suppression *x, const struct profile_site *site)
{
    return x->size == 0 ||
           (profile_site_size_min(site) == x->size && profile_site_size_max(site) == x->size);
}

struct suppression *
suppress_find(struct suppressions *s, const struct profile *p, const struct profile_site *site,
              const uint32_t *frames, const uint32_t *locations, size_t depth)
{
    size_t first, count = innermost_frames(p, frames, depth, &first);

    for (size_t i = 0; i < s->count; i++) {
        struct suppression *x = &s->v[i];
        size_t begin = x->innermost ? first : 0, end = x->innermost ? first + count : depth;

        if (!matches_size(x, site))
            continue;
        for (size_t k = begin; k < end; k++)
            if (matches_frame(x->pattern, p, &p->frames[frames[k]], locations[k]))
                return x;
    }
    return NULL;
}
