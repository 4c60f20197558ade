/* suppress.c: read and apply suppressions.
 *
 * The parser reads arbitrary bytes from a file. It takes a length and never reads beyond it. A NUL
 * ends a pattern as it would end a string. Lines are independent, and errors name their line. This
 * file does no I/O; cmd_leaks.c reads the files.
 *
 * The built-in list covers allocations that the C and C++ run-time libraries and the dynamic linker
 * make and keep. A program may have functions of the same names, so each pattern is bound to a
 * library, and the path of a frame's module must be that library's. In a static program the library
 * is not loaded. There, functions without a source file match as well, because distributions ship
 * static libraries without debug information.
 *
 * Most patterns match only the requesting function, because the dynamic linker also calls a
 * program's constructors, whose leaks must be shown. The functions in `keeping` match anywhere in
 * the innermost frames of libc, up to the program's call of libc: the name of the static function
 * that allocates is unknown without debug information, and differs between releases. The list has
 * no function that returns memory to its caller, such as strdup, fopen, getaddrinfo or newlocale,
 * because the caller must free that memory. */
#include "analyse/leaks.h"

#include <string.h>

#include "analyse/fold.h"
#include "analyse/frame_name.h"
#include "util/path.h"

/* Library of a built-in pattern. */
enum suppress_home {
    HOME_ANY, // The pattern itself identifies the code.
    HOME_LIBC, // libc and its parts: the dynamic linker, libpthread, name services and so on.
    HOME_LIBGCC,
    HOME_LIBSTDCXX,
};

struct suppress_binding {
    const char *pattern; // "" = a function without a name, called by CALLER.
    enum suppress_home home;
    uint64_t size;      // Match only blocks of this size; 0 = any.
    const char *source; // Source file of the function; NULL = any file is the program's own.
    const char *caller; // In linked code, a further frame must match this; NULL = none.
};

#define POOL_SOURCE "eh_alloc.cc"

static const struct suppress_binding builtin[] = {
    // Buffers of the standard streams and of files still open.
    {"^_IO_file_doallocate$", HOME_LIBC, 0, NULL, NULL},
    {"^_IO_default_doallocate$", HOME_LIBC, 0, NULL, NULL},
    {"^_IO_wfile_doallocate$", HOME_LIBC, 0, NULL, NULL},
    // Loaded libraries, thread-local storage, and the list of exit handlers.
    {"/ld-linux-x86-64.so.2$", HOME_LIBC, 0, NULL, NULL},
    {"^_dl_*", HOME_LIBC, 0, NULL, NULL},
    {"^allocate_dtv$", HOME_LIBC, 0, NULL, NULL},
    {"^__new_exitfn$", HOME_LIBC, 0, NULL, NULL},
    {"^__cxa_atexit$", HOME_LIBC, 0, NULL, NULL},
    {"^__cxa_thread_atexit_impl$", HOME_LIBC, 0, NULL, NULL},
    // libgcc's index of registered unwind tables, in static executables from gcc 13 on.
    {"^btree_allocate_node$", HOME_LIBGCC, 0, "unwind-dw2-btree.h", "^__register_frame"},
    // Locale, character sets, time zone, name services, message catalogues: read once.
    {"^_nl_*", HOME_LIBC, 0, NULL, NULL},
    {"^setlocale$", HOME_LIBC, 0, NULL, NULL},
    {"^read_alias_file$", HOME_LIBC, 0, NULL, NULL},
    {"^extend_alias_table$", HOME_LIBC, 0, NULL, NULL},
    {"^tzset_internal$", HOME_LIBC, 0, NULL, NULL},
    {"^__tzfile_*", HOME_LIBC, 0, NULL, NULL},
    {"^__tzset*", HOME_LIBC, 0, NULL, NULL},
    {"^__nss_*", HOME_LIBC, 0, NULL, NULL},
    // libstdc++'s emergency pool for exceptions: by name, and by its size up to version 12 and from
    // 13 on. In a static program, the compiler inlines the pool's constructor into the initialiser
    // of its source file.
    {"^(anonymous namespace)::pool::pool()", HOME_LIBSTDCXX, 0, POOL_SOURCE,
     "^_GLOBAL__sub_I_" POOL_SOURCE "$"},
    {"/libstdc++.so.6", HOME_LIBSTDCXX, 72704, NULL, NULL},
    {"/libstdc++.so.6", HOME_LIBSTDCXX, 73728, NULL, NULL},
    {"^_GLOBAL__sub_I_" POOL_SOURCE "$", HOME_ANY, 72704, NULL, NULL},
    {"^_GLOBAL__sub_I_" POOL_SOURCE "$", HOME_ANY, 73728, NULL, NULL},
    {"^_GLOBAL__sub_I__ZN9__gnu_cxx9__freeresEv$", HOME_ANY, 72704, NULL, NULL},
    {"^_GLOBAL__sub_I__ZN9__gnu_cxx9__freeresEv$", HOME_ANY, 73728, NULL, NULL},
    // The same in a stripped program: the initial functions are called by libc.
    {"", HOME_LIBSTDCXX, 72704, NULL, "^call_init$"},
    {"", HOME_LIBSTDCXX, 72704, NULL, "^__libc_start_main"},
    {"", HOME_LIBSTDCXX, 73728, NULL, "^call_init$"},
    {"", HOME_LIBSTDCXX, 73728, NULL, "^__libc_start_main"},
    {"^std::locale::_S_initialize*", HOME_LIBSTDCXX, 0, NULL, NULL},
    {"^std::locale::_Impl::_Impl(", HOME_LIBSTDCXX, 0, NULL, NULL},
};

/* Functions of libc below which all memory is libc's: caches, and results in static memory. Names
 * without leading underscores. */
static const char *const keeping[] = {
    // Time zone.
    "^tz_convert$", "^tzset$", "^localtime$", "^localtime_r$", "^mktime$", "^strftime$",
    "^strftime_l$", "^wcsftime$", "^wcsftime_l$", "^ctime$", "^ctime_r$", "^getdate$",
    // Locale, messages and character sets, without newlocale and the descriptor of iconv_open.
    "^setlocale$", "^textdomain$", "^bindtextdomain$", "^bind_textdomain_codeset$",
    "^dcigettext$", "^*gettext$", "^gconv_find_*", "^gconv_lookup_*", "^gconv_load_*",
    "^wcsmbs_load_conv$", "^strerror$", "^strerror_l$", "^strsignal$",
    // Name services.
    "^nss_*", "^resolv_conf_*", "^resolv_context_get*", "^res_init$", "^check_pf$", "^getpwnam*",
    "^getpwuid*", "^getpwent*", "^getgrnam*", "^getgrgid*", "^getgrent*", "^getspnam*",
    "^getspent*", "^getgrouplist$", "^initgroups$", "^gethostby*", "^gethostent*", "^getnetby*",
    "^getnetent*", "^getnetgrent*", "^innetgr$", "^getservby*", "^getservent*", "^getprotoby*",
    "^getprotoent*", "^getrpcby*", "^getrpcent*", "^getaliasby*", "^getaliasent*", "^set*ent$",
    "^fgetpwent$", "^fgetgrent$", "^fgetspent$", "^getpass$", "^getusershell$",
    // Environment and logs.
    "^setenv$", "^add_to_environ$", "^putenv$", "^syslog*", "^vsyslog*", "^openlog*",
    // Libraries, and exit and fork handlers.
    "^dlopen*", "^dlmopen*", "^dlclose*", "^dlsym*", "^dlvsym*", "^dlerror*", "^dladdr*",
    "^cxa_at_quick_exit$", "^on_exit$", "^register_atfork$", "^pthread_setspecific$",
    // Buffers with static results.
    "^getmntent$", "^getfsent*", "^getttyent$", "^ttyname$", "^getlogin$", "^getutline$",
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
    static const struct suppress_binding keeps = {.home = HOME_LIBC};

    for (size_t i = 0; i < countof(builtin); i++)
        suppress_add(s,
                     (struct suppression){
                         .pattern = builtin[i].pattern[0] != '\0' ? builtin[i].pattern
                                                                  : "libstdc++, without a name",
                         .origin = "built-in",
                         .binding = &builtin[i],
                     },
                     arena);
    for (size_t i = 0; i < countof(keeping); i++)
        suppress_add(s,
                     (struct suppression){
                         .pattern = keeping[i],
                         .origin = "built-in",
                         .binding = &keeps,
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

/* Return true if B has no size, or all blocks of SITE have that size. */
static bool
matches_size(const struct suppress_binding *b, const struct profile_site *site)
{
    return b->size == 0 ||
           (profile_site_size_min(site) == b->size && profile_site_size_max(site) == b->size);
}

/* Return the library that the module at PATH is. */
static enum suppress_home
home_of(const char *path)
{
    static const struct {
        const char *name;
        enum suppress_home home;
    } libraries[] = {
        {"libc.so", HOME_LIBC},         {"libc-2", HOME_LIBC},
        {"ld-linux", HOME_LIBC},        {"ld-2", HOME_LIBC},
        {"libpthread.so", HOME_LIBC},   {"libpthread-2", HOME_LIBC},
        {"libdl.so", HOME_LIBC},        {"libdl-2", HOME_LIBC},
        {"librt.so", HOME_LIBC},        {"librt-2", HOME_LIBC},
        {"libresolv", HOME_LIBC},       {"libnss_", HOME_LIBC},
        {"libgcc_s.so", HOME_LIBGCC},   {"libstdc++.so", HOME_LIBSTDCXX},
    };
    const char *name = path_basename(path);

    for (size_t i = 0; i < countof(libraries); i++)
        if (strncmp(name, libraries[i].name, strlen(libraries[i].name)) == 0)
            return libraries[i].home;
    return HOME_ANY;
}

static bool
is_loaded(const struct profile *p, enum suppress_home home)
{
    for (size_t i = 0; i < p->module_count; i++)
        if (home_of(p->modules[i].path) == home)
            return true;
    return false;
}

/* A site to match with suppressions. */
struct suppress_site {
    const struct profile *p;
    const struct profile_site *site;
    const uint32_t *frames, *locations;
    size_t depth;
    size_t first, count; // Frames of the requesting function.
    size_t libc_end;     // Frames from FIRST up to this one are in libc.
    size_t matched;      // The outermost frame that a match depends on.
};

static const char *
suppress_function(const struct suppress_site *s, size_t frame)
{
    return profile_string(s->p, s->p->frames[s->frames[frame]].function);
}

static bool
has_caller(struct suppress_site *s, const char *caller)
{
    for (size_t i = s->first + s->count; i < s->depth; i++)
        if (suppress_matches(caller, suppress_function(s, i))) {
            s->matched = i;
            return true;
        }
    return false;
}

/* Return true if frame I, whose name matches B, is code of B's library. */
static bool
is_at_home(struct suppress_site *s, const struct suppress_binding *b, size_t i)
{
    const struct profile_frame *f = &s->p->frames[s->frames[i]];
    const char *file = profile_string(s->p, f->file);

    s->matched = i;
    if (b->home == HOME_ANY || home_of(s->p->modules[f->module].path) == b->home)
        return true;
    if (*file != '\0')
        return b->source != NULL && strcmp(path_basename(file), b->source) == 0;
    return home_of(s->p->modules[f->module].path) == HOME_ANY && !is_loaded(s->p, b->home) &&
           (b->caller == NULL || has_caller(s, b->caller));
}

/* Return true if the requesting function has no name and B's caller has called it, in a program
 * that B's library is linked into. */
static bool
matches_unnamed(struct suppress_site *s, const struct suppress_binding *b)
{
    size_t next = s->first + s->count;
    bool matches =
        s->count == 1 && next < s->depth && *suppress_function(s, s->first) == '\0' &&
        s->site->counters.allocations == 1 &&
        suppress_matches(b->caller, suppress_function(s, next)) &&
        home_of(s->p->modules[s->p->frames[s->frames[next]].module].path) == HOME_LIBC &&
        is_at_home(s, &(struct suppress_binding){.home = b->home}, s->first);

    s->matched = next;
    return matches;
}

static bool
matches_binding(struct suppress_site *s, const struct suppress_binding *b)
{
    if (!matches_size(b, s->site))
        return false;
    if (b->pattern[0] == '\0')
        return matches_unnamed(s, b);
    for (size_t i = s->first; i < s->first + s->count; i++)
        if (matches_frame(b->pattern, s->p, &s->p->frames[s->frames[i]], s->locations[i]) &&
            is_at_home(s, b, i))
            return true;
    return false;
}

/* Return true if PATTERN matches a function of libc in the innermost frames. */
static bool
is_kept(struct suppress_site *s, const char *pattern)
{
    for (size_t i = s->first; i < s->libc_end; i++) {
        const char *name = suppress_function(s, i);

        name += fold_alias_length(name);
        name += strspn(name, "_");
        if (suppress_matches(pattern, name)) {
            s->matched = i;
            return true;
        }
    }
    return false;
}

static struct suppress_site
suppress_site_of(const struct profile *p, const struct profile_site *site, const uint32_t *frames,
                 const uint32_t *locations, size_t depth)
{
    struct suppress_site s = {p, site, frames, locations, depth, 0, 0, 0, 0};

    s.count = innermost_frames(p, frames, depth, &s.first);
    for (s.libc_end = s.first; s.libc_end < depth; s.libc_end++)
        if (home_of(p->modules[p->frames[frames[s.libc_end]].module].path) != HOME_LIBC)
            break;
    return s;
}

static bool
matches_anywhere(const struct suppression *x, struct suppress_site *s)
{
    for (size_t k = 0; k < s->depth; k++)
        if (matches_frame(x->pattern, s->p, &s->p->frames[s->frames[k]], s->locations[k])) {
            s->matched = k;
            return true;
        }
    return false;
}

struct suppression *
suppress_find(struct suppressions *s, const struct profile *p, const struct profile_site *site,
              const uint32_t *frames, const uint32_t *locations, size_t depth, size_t *ret_frame)
{
    struct suppress_site where = suppress_site_of(p, site, frames, locations, depth);

    for (size_t i = 0; i < s->count; i++) {
        struct suppression *x = &s->v[i];
        bool matches = x->binding == NULL            ? matches_anywhere(x, &where)
                       : x->binding->pattern == NULL ? is_kept(&where, x->pattern)
                                                     : matches_binding(&where, x->binding);

        if (matches) {
            *ret_frame = where.matched;
            return x;
        }
    }
    return NULL;
}
