/* compiler.c: add the options for counting accesses to the command line of a compiler.
 *
 * A build calls the compiler to compile, to link, to do both and to query features. The user's
 * options may override options placed before them (-g), but not options placed after them
 * (granules, vectorisers). Options that a call does not need do no harm. Only linking needs care:
 * an executable gets the recorder. A shared library does not, because its calls bind to the
 * executable's recorder. A call without input is a query and gets none either.
 *
 * So each argument must be classified as input, option or value of an option
 * (compiler_arguments.c).
 *
 * For gcc, its race detector is enabled, whose calls lead to the recorder (recorder/access/tsan.c).
 *
 * A vectorised loop counts once for all of its elements, at the granule of the first. So granules
 * of 8 and 16 bytes switch the vectorisers off. */
#include "launch/compiler.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

enum { CLANG_OLDEST = 14, CLANG_NEWEST = 40, OPTIONS_MAX = 64 };

struct line {
    struct arena *arena;
    char **items;
    size_t count;
};

static void
compiler_add(struct line *l, const char *text)
{
    l->items[l->count++] = arena_strdup(l->arena, text);
}

static void
compiler_add_all(struct line *l, const char *const *texts)
{
    for (; *texts != NULL; texts++)
        compiler_add(l, *texts);
}

/* --- Files of heaptap ------------------------------------------------------------------------- */

/* Find the file NAME beside this executable, or where make install puts it. *RET_PATH is from
 * ARENA. Returns 0, or a negative heaptap_errc with ERR set. */
static int
compiler_find_file(struct arena *arena, const char *name, const char **ret_path, struct err *err)
{
    static const char *const places[] = {"", "../lib/heaptap/", "../lib/"};
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    if (slash != NULL)
        slash[1] = '\0';
    for (size_t i = 0; i < countof(places); i++) {
        *ret_path = arena_printf(arena, "%s%s%s", self, places[i], name);
        if (access(*ret_path, R_OK) == 0)
            return 0;
    }
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "%s is missing in %s and in ../lib/heaptap beside it; run `make` or `make "
                   "install`",
                   name, self);
}

/* --- The compiler ----------------------------------------------------------------------------- */

/* Return true if NAME, without a slash, is a command in PATH. */
static bool
is_command(struct arena *arena, const char *name)
{
    const char *path = getenv("PATH");

    for (const char *p = path != NULL ? path : "/usr/bin:/bin"; *p != '\0';) {
        size_t length = strcspn(p, ":");

        if (access(arena_printf(arena, "%.*s/%s", (int)length, p, name), X_OK) == 0)
            return true;
        p += length + (p[length] == ':');
    }
    return false;
}

/* Return NAME, clang's plain name, if it is a command, else the latest release found; NULL if none
 * is. */
static const char *
find_clang(struct arena *arena, const char *name)
{
    if (is_command(arena, name))
        return name;
    for (int release = CLANG_NEWEST; release >= CLANG_OLDEST; release--) {
        const char *with_release = arena_printf(arena, "%s-%d", name, release);

        if (is_command(arena, with_release))
            return with_release;
    }
    return NULL;
}

static int
find_compiler(const struct compiler_requests *w, struct arena *arena, const char **ret_path,
              struct err *err)
{
    const char *clang = w->language == COMPILER_CXX ? "clang++" : "clang";

    if (strcmp(w->compiler, "clang") != 0) {
        bool is_plain_gcc = strcmp(w->compiler, "gcc") == 0 && w->language == COMPILER_CXX;

        *ret_path = is_plain_gcc ? "g++" : w->compiler;
        return 0;
    }
    *ret_path = find_clang(arena, clang);
    if (*ret_path != NULL)
        return 0;
    return err_set(err, HEAPTAP_NOT_FOUND,
                   "there is no clang; install release %d or later, or name one with --cc=PATH",
                   CLANG_OLDEST);
}

/* Return true unless COMPILER is clang. Any other compiler counts as gcc. */
static bool
is_gcc(const char *compiler)
{
    const char *slash = strrchr(compiler, '/');

    return strstr(slash != NULL ? slash : compiler, "clang") == NULL;
}

/* --- Purpose of the call ---------------------------------------------------------------------- */

static bool
compiler_is_one_of(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, list[i]) == 0)
            return true;
    return false;
}

/* Return true if ARGUMENTS request an executable. */
static bool
links_executable(int count, char **arguments)
{
    static const char *const no_link[] = {"-c",  "-S",  "-E", "-M", "-MM", "-fsyntax-only", "-r",
                                          "--analyze", "-shared", "-###", "-emit-ast"};
    bool has_input = false;

    for (int i = 0; i < count; i++) {
        const char *a = arguments[i];

        if (compiler_is_one_of(a, no_link, countof(no_link)))
            return false;
        if (argument_takes_value(a))
            i++;
        else if (a[0] != '-' || a[1] == '\0')
            has_input = true;
    }
    return has_input;
}

/* Return true if ARGUMENTS contain an input to compile. */
static bool
compiles(int count, char **arguments)
{
    for (int i = 0; i < count; i++) {
        if (argument_takes_value(arguments[i]))
            i++;
        else if (arguments[i][0] != '-' && !argument_is_for_linker(arguments[i]))
            return true;
    }
    return false;
}

static bool
compiler_has_argument(int count, char **arguments, const char *text)
{
    for (int i = 0; i < count; i++)
        if (strcmp(arguments[i], text) == 0)
            return true;
    return false;
}

/* --- The line --------------------------------------------------------------------------------- */

/* Make options that follow ARGUMENTS options, as they are for clang only in front of "--": remove
 * "--", and put "./" in front of inputs behind it that begin with a dash. ARGUMENTS has *COUNT
 * items. */
static char **
open_end(struct arena *arena, int *count, char **arguments)
{
    char **v = arena_array(arena, (size_t)*count + 1, sizeof *v);
    bool is_open = true;
    int kept = 0;

    for (int i = 0; i < *count; i++) {
        if (is_open && strcmp(arguments[i], "--") == 0) {
            is_open = false;
            continue;
        }
        v[kept++] = is_open || arguments[i][0] != '-' ? arguments[i]
                                                      : arena_printf(arena, "./%s", arguments[i]);
        if (is_open && argument_takes_value(arguments[i]) && i + 1 < *count)
            v[kept++] = arguments[++i];
    }
    *count = kept;
    return v;
}

/* Make each compiled object record its granule and counting mode: include the file MARK
 * (recorder/access/granule_mark.h). */
static void
add_mark(struct line *l, const struct compiler_requests *w, bool reads_writes, const char *mark)
{
    compiler_add(l, arena_printf(l->arena, "-DHEAPTAP_GRANULE=\"%u%s%s\"", w->granule_bytes,
                                 reads_writes ? "_apart" : "", w->exact_threads ? "_exact" : ""));
    compiler_add(l, "-include");
    compiler_add(l, mark);
}

static void
add_counting(struct line *l, const struct compiler_requests *w, const char *mark)
{
    static const char *const calls[] = {"-mllvm", "-memprof-use-callbacks", NULL};
    static const char *const separate[] = {"-fno-vectorize", "-fno-slp-vectorize", NULL};
    // After inserting the counting, clang would replace these calls by loads.
    static const char *const comparisons[] = {"-fno-builtin-memcmp", "-fno-builtin-bcmp", NULL};
    uint32_t scale = w->granule_bytes == 64 ? 3 : w->granule_bytes == 16 ? 1 : 0;

    // heaptap has its own run-time library, and -Werror must not apply to these options.
    compiler_add(l, "-fno-sanitize-link-runtime");
    compiler_add(l, "-Qunused-arguments");
    compiler_add(l, "-mllvm");
    compiler_add(l, arena_printf(l->arena, "-memprof-mapping-granularity=%u", w->granule_bytes));
    compiler_add(l, "-mllvm");
    compiler_add(l, arena_printf(l->arena, "-memprof-mapping-scale=%u", scale));
    compiler_add_all(l, comparisons);
    if (w->exact_threads || w->reads_writes)
        compiler_add_all(l, calls);
    if (w->granule_bytes < 64)
        compiler_add_all(l, separate);
    add_mark(l, w, w->reads_writes, mark);
}

/* Return the length of PATH's directory, including the final slash. */
static int
directory_length(const char *path)
{
    return (int)(strrchr(path, '/') - path) + 1;
}

/* The recorder's files to link into an executable. */
struct recorder {
    const char *archive;
    const char *wrapped; // File with linker options for a static executable; NULL otherwise.
    bool static_cxx;     // The C++ library becomes a part of the executable.
};

static int
find_recorder(struct arena *arena, int count, char **arguments, struct recorder *ret,
              struct err *err)
{
    bool is_static = compiler_has_argument(count, arguments, "-static") ||
                     compiler_has_argument(count, arguments, "-static-pie");
    int r;

    ret->wrapped = NULL;
    ret->static_cxx = compiler_has_argument(count, arguments, "-static-libstdc++");
    if (is_static &&
        (r = compiler_find_file(arena, "libheaptap-access_static.opt", &ret->wrapped, err)) != 0)
        return r;
    return compiler_find_file(arena,
                              is_static ? "libheaptap-access_static.a" : "libheaptap-access.a",
                              &ret->archive, err);
}

/* Functions that gcc replaces by instructions after it has inserted the counting calls, or by calls
 * that become instructions. */
static const char *const stays_call[] = {
    "memcpy", "memmove", "mempcpy", "memset", "bzero",   "bcopy",  "memcmp",  "bcmp",     "strcpy",
    "stpcpy", "strncpy", "strcat",  "strncat", "strcmp", "strncmp", "sprintf", "snprintf",
};

/* Make gcc insert its calls for each access (recorder/access/tsan.c). DIRECTORY has an empty
 * library that replaces gcc's own library for them. Copies and fills must stay calls, because
 * inline instructions would go uncounted. So would the variants of _FORTIFY_SOURCE, which no option
 * affects. gcc rejects -fsanitize together with -static, so it is left out if the call
 * LINKS_STATIC. */
static void
add_gcc(struct line *l, const struct compiler_requests *w, const char *mark,
        bool links_static, const char *directory)
{
    static const char *const options[] = {
        "--param=tsan-instrument-func-entry-exit=0",
        "-U__SANITIZE_THREAD__",
        "-U_FORTIFY_SOURCE",
        "-fno-tree-loop-distribute-patterns",
        NULL,
    };

    if (!links_static)
        compiler_add(l, "-fsanitize=thread");
    compiler_add_all(l, options);
    for (size_t i = 0; i < countof(stays_call); i++)
        compiler_add(l, arena_printf(l->arena, "-fno-builtin-%s", stays_call[i]));
    compiler_add(l, arena_printf(l->arena, "-B%s", directory));
    add_mark(l, w, true, mark);
}

/* Mark the object with the kinds of accesses in its sources that are not counted. Atomic operations
 * matter only if reads are counted separately. */
static void
add_uncounted(struct line *l, const struct compiler_requests *w, int count, char **arguments)
{
    static const char *const no_code[] = {"-E", "-M", "-MM", "-fsyntax-only", "--analyze", "-###",
                                          "-emit-ast"};
    unsigned found;

    for (int i = 0; i < count; i++)
        if (compiler_is_one_of(arguments[i], no_code, countof(no_code)))
            return;
    found = uncounted_code_find(l->items[0], count, arguments, l->arena);
    if (found & UNCOUNTED_STRUCTURES)
        compiler_add(l, "-DHEAPTAP_STRUCTURES_BY_VALUE");
    if ((found & UNCOUNTED_ATOMICS) && w->reads_writes)
        compiler_add(l, "-DHEAPTAP_ATOMIC_OPERATIONS");
    if (found & UNCOUNTED_ASSEMBLER)
        compiler_add(l, "-DHEAPTAP_ASSEMBLER");
}

/* Link the recorder. The reference to malloc does so even if the program never calls malloc.
 * Libraries that count accesses bind to the executable's functions. */
static void
add_recorder(struct line *l, const struct recorder *r)
{
    static const char *const options[] = {
        "-Wl,-u,malloc",
        "-Wl,--export-dynamic-symbol=heaptap_recorder_v1",
        "-Wl,--export-dynamic-symbol=__memprof_*",
        "-Wl,--export-dynamic-symbol=__heaptap_*",
        "-Wl,--export-dynamic-symbol=__tsan_*",
        NULL,
    };

    compiler_add(l, "-Xlinker"); // Prevents reading the archive as an input in the language of -x.
    compiler_add(l, r->archive);
    if (r->wrapped != NULL)
        compiler_add(l, arena_printf(l->arena, "-Wl,@%s", r->wrapped));
    else
        compiler_add_all(l, options);
    // The recorder cannot see that this library, which counts nothing, is in the program.
    if (r->static_cxx)
        compiler_add(l, "-Wl,--defsym=__heaptap_static_cxx=1");
}

int
compiler_line(const struct compiler_requests *w, int count, char **arguments, struct arena *arena,
              char ***ret_line, struct err *err)
{
    struct line l = {.arena = arena,
                     .items = arena_array(arena, (size_t)count + OPTIONS_MAX, sizeof(char *))};
    const char *compiler, *mark, *empty;
    struct recorder recorder;
    int r;

    if ((r = find_compiler(w, arena, &compiler, err)) != 0)
        return r;
    if (!is_gcc(compiler))
        arguments = open_end(arena, &count, arguments);
    if ((r = compiler_find_file(arena, "granule_mark.h", &mark, err)) != 0 ||
        (r = find_recorder(arena, count, arguments, &recorder, err)) != 0 ||
        (r = compiler_find_file(arena, "access-gcc/libtsan.a", &empty, err)) != 0)
        return r;
    if (is_gcc(compiler) && recorder.wrapped != NULL && links_executable(count, arguments) &&
        compiles(count, arguments))
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "gcc refuses what counting needs together with -static; compile with -c, "
                       "and then link the object files");
    compiler_add(&l, compiler);
    compiler_add(&l, "-g");
    if (!is_gcc(compiler))
        compiler_add(&l, "-fmemory-profile");
    for (int i = 0; i < count; i++)
        compiler_add(&l, arguments[i]);
    if (is_gcc(compiler))
        add_gcc(&l, w, mark, recorder.wrapped != NULL && links_executable(count, arguments),
                arena_printf(arena, "%.*s", directory_length(empty), empty));
    else
        add_counting(&l, w, mark);
    if (!is_gcc(compiler) && !w->only_line)
        add_uncounted(&l, w, count, arguments);
    if (links_executable(count, arguments))
        add_recorder(&l, &recorder);
    *ret_line = l.items;
    return 0;
}
