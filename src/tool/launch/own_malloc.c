/* own_malloc.c: recognise allocators inside programs by their function names.
 *
 * The remedy depends on where the name is defined:
 *
 *     exported by a shared library    calls pass the loader's tables: --hook works
 *     as malloc by a library that is preloaded in front of the recorder
 *                                     the library must be behind it
 *     exported by the program         calls inside the program bypass them
 *     only in the full symbol table   as above, and other modules cannot call it
 *     no symbols                      recognised by a text in the program, if any
 *
 * For the last three, only patching the program's code would work, which heaptap does not do.
 * The user must build the program differently, depending on the names by which it calls the
 * allocator:
 *
 *     as malloc        link the recorder first (libheaptap.a); it replaces the allocator
 *     as je_malloc     the recorder never sees a call of malloc, so the linker must redirect these
 *                      calls to it (heaptap/wrap.h, --wrap)
 *
 * Using the system's malloc helps in both cases. Runtimes that manage a heap without malloc have
 * their own messages (symbol/runtime_heap.c). test/run/allocator/own_malloc.sh tests every remedy
 * named here. */
#include "launch/hooks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "launch/launch.h"
#include "symbol/elf_names.h"
#include "symbol/runtime_heap.h"
#include "util/path.h"

struct allocator {
    const char *name;
    const char *preset;     // For --hook; NULL = a runtime, or no function to hook.
    const char *symbols[6]; // Each identifies the allocator. Names of the preset come first.
    const char *text;       // A text that it contains even when stripped; NULL = none.
    const char *remedy;     // Remedy if it cannot be hooked.
};

#define RECORDER "libheaptap" // The start of the name of its library.
#define SYSTEM_MALLOC "build the program so that it uses the system's malloc"

static const struct allocator allocators[] = {
    {"jemalloc",
     "jemalloc",
     {"je_malloc", "_rjem_malloc", "mallocx", "je_arena_init", "_rjem_je_arena_init"},
     "<jemalloc>: ",
     SYSTEM_MALLOC
     " (redis: make MALLOC=libc; Rust: no #[global_allocator], which is the system's)"},
    {"mimalloc",
     "mimalloc",
     {"mi_malloc", "mi_heap_malloc", "mi_malloc_aligned"},
     "mimalloc: warning: ",
     SYSTEM_MALLOC " (mimalloc: do not link it; Rust: no #[global_allocator])"},
    {"tcmalloc",
     "tcmalloc",
     {"tc_malloc", "TCMallocInternalMalloc", "tc_new"},
     "trying to allocate internal tcmalloc data",
     SYSTEM_MALLOC " (without -ltcmalloc)"},
    {"dlmalloc", "dlmalloc", {"dlmalloc", "mspace_malloc"}, NULL, SYSTEM_MALLOC},
    {"rpmalloc", "rpmalloc", {"rpmalloc"}, NULL, SYSTEM_MALLOC},
    {"CPython",
     NULL,
     {"PyObject_Malloc", "PyMem_Malloc"},
     NULL,
     "Python takes memory for small objects from the kernel itself; with PYTHONMALLOC=malloc in "
     "the environment it asks malloc for each"},
    {"the Boehm collector",
     NULL,
     {"GC_malloc"},
     NULL,
     "blocks that a collector frees have no call of free: record them with --language=gc, a Lisp "
     "on ECL with --language=ecl"},
    {"LuaJIT", NULL, {"lj_alloc_create"}, NULL, "LuaJIT's heap is its own; see collectgarbage"},
};

/* An allocator's symbol found in a file. */
struct found {
    enum elf_name kind;
    const char *symbol;
};

enum { SYMBOLS_MAX = countof(((struct allocator *)NULL)->symbols) };

/* Names of all allocators in one file, found in a single pass. */
struct names_in {
    const char *path;
    enum elf_name kinds[countof(allocators)][SYMBOLS_MAX]; // All NONE if the file cannot be read.
};

static struct names_in
read_names(const char *path)
{
    const char *names[countof(allocators) * SYMBOLS_MAX];
    enum elf_name kinds[countof(names)] = {ELF_NAME_NONE};
    struct names_in in = {.path = path};
    size_t count = 0;

    for (size_t a = 0; a < countof(allocators); a++)
        for (size_t i = 0; i < SYMBOLS_MAX && allocators[a].symbols[i] != NULL; i++)
            names[count++] = allocators[a].symbols[i];
    if (!elf_names_find(path, names, count, kinds))
        return in;
    count = 0;
    for (size_t a = 0; a < countof(allocators); a++)
        for (size_t i = 0; i < SYMBOLS_MAX && allocators[a].symbols[i] != NULL; i++)
            in.kinds[a][i] = kinds[count++];
    return in;
}

/* Return the symbol of allocator A that IN defines with the highest kind. */
static struct found
look_for(const struct names_in *in, size_t a)
{
    struct found best = {ELF_NAME_NONE, NULL};

    for (size_t i = 0; i < SYMBOLS_MAX; i++)
        if (in->kinds[a][i] != ELF_NAME_IMPORTED && in->kinds[a][i] != ELF_NAME_VARIABLE &&
            in->kinds[a][i] > best.kind)
            best = (struct found){in->kinds[a][i], allocators[a].symbols[i]};
    return best;
}

static bool
own_malloc_is_hooked(const struct hook_list *hooks, const char *symbol)
{
    for (size_t i = 0; i < hooks->count; i++)
        if (strcmp(hooks->hooks[i].symbol, symbol) == 0)
            return true;
    return false;
}

/* Lines of text, from an arena. */
struct lines {
    struct arena *arena;
    const char *text;
};

static void PRINTF(2, 3)
own_malloc_add_line(struct lines *lines, const char *format, ...)
{
    char text[2048];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    lines->text =
        arena_printf(lines->arena, "%s%s%s", lines->text, *lines->text ? "\n" : "", text);
}

/* Return true if the file at PATH defines malloc. */
static bool
has_malloc(const char *path)
{
    static const char *const names[] = {"malloc", "free"};
    enum elf_name kinds[countof(names)];

    return elf_names_find(path, names, countof(names), kinds) &&
           (kinds[0] == ELF_NAME_EXPORTED || kinds[0] == ELF_NAME_HIDDEN);
}

static void
explain_inside(struct lines *lines, const struct allocator *a, const char *path,
               const struct found *f)
{
    if (a->preset == NULL)
        own_malloc_add_line(lines, "%s has %s inside (%s). %s", path, a->name, f->symbol,
                            a->remedy);
    else if (has_malloc(path))
        own_malloc_add_line(
            lines,
            "%s has %s inside as its malloc, which precedes the recorder's: record it while it "
            "runs (heaptap attach PID), link it with libheaptap.a in front of %s (-Wl,-u,malloc "
            "-lheaptap), or %s",
            path, a->name, a->name, a->remedy);
    else if (f->kind == ELF_NAME_NONE)
        own_malloc_add_line(
            lines,
            "%s has %s inside under other names, which preloading and --hook cannot reach: "
            "%s, or wrap its functions when you link it (heaptap/wrap.h, -Wl,--wrap=NAME)",
            path, a->name, a->remedy);
    else
        own_malloc_add_line(
            lines,
            "%s has %s inside and calls it directly, as %s, which preloading and --hook "
            "cannot reach: record it while it runs (heaptap attach --hook %s PID), %s, or wrap its "
            "functions when you link it (heaptap/wrap.h, -Wl,--wrap=%s)",
            path, a->name, f->symbol, a->preset, a->remedy, f->symbol);
}

/* Add a line of advice if the file of IN contains allocator INDEX. Return true if it does so. */
static bool
explain_one(struct lines *lines, size_t index, const struct names_in *in,
            const struct hook_list *hooks)
{
    const struct allocator *a = &allocators[index];
    const char *path = in->path;
    struct found f = look_for(in, index);
    bool program = elf_names_is_program(path);
    bool has_text = f.kind == ELF_NAME_NONE && program && a->text != NULL &&
                    elf_names_has_text(path, a->text);

    if (f.kind == ELF_NAME_NONE && !has_text)
        return false;
    if (a->preset == NULL || program || f.kind != ELF_NAME_EXPORTED) {
        explain_inside(lines, a, path, &f);
        return true;
    }
    if (own_malloc_is_hooked(hooks, f.symbol)) // The blocks of this allocator are recorded already.
        return false;
    own_malloc_add_line(lines, "%s is %s under other names (%s): record it with --hook %s", path,
                        a->name, f.symbol, a->preset);
    return true;
}

/* Return true if PRELOADED, a value of LD_PRELOAD or NULL, has the library at PATH in front of the
 * recorder. An entry may be a link to PATH that lacks parts of the version. */
static bool
is_in_front(const char *preloaded, const char *path)
{
    static const char separators[] = " :";
    const char *entry = preloaded != NULL ? preloaded : "";

    for (size_t length; *entry != '\0'; entry += length) {
        const char *name = entry;

        entry += strspn(entry, separators);
        length = strcspn(entry, separators);
        for (name = entry + length; name > entry && name[-1] != '/';)
            name--;
        if (strncmp(name, RECORDER, strlen(RECORDER)) == 0)
            return false;
        if (name < entry + length &&
            strncmp(path_basename(path), name, (size_t)(entry + length - name)) == 0)
            return strstr(entry, RECORDER) != NULL;
    }
    return false;
}

/* Add a line for each module of S whose malloc precedes the recorder's, because it was preloaded in
 * front. Return true if there is one. */
static bool
explain_in_front(struct lines *lines, const struct allocator_search *s)
{
    bool known = false;

    for (size_t k = 0; k < s->module_count; k++) {
        const char *path = s->modules[k];

        if (!is_in_front(s->preloaded, path) || !has_malloc(path))
            continue;
        own_malloc_add_line(lines,
                            "the malloc of %s precedes the recorder's: preload this library "
                            "behind the recorder (LD_PRELOAD=$LD_PRELOAD:%s)",
                            path, path_basename(path));
        known = true;
    }
    return known;
}

/* Add a line on the runtime in the file at PATH, if there is one. IS_PROGRAM: PATH is the program.
 * Return true if a line was added. */
static bool
explain_runtime(struct lines *lines, const char *path, bool is_program)
{
    const struct runtime_heap *r =
        is_program ? runtime_heap_of_program(path) : runtime_heap_in(path);

    if (r == NULL)
        return false;
    own_malloc_add_line(lines, "%s%s%s", is_program ? "" : path, is_program ? "" : ": ",
                        runtime_heap_text(r, lines->arena));
    return true;
}

/* Add a line on the runtime that the program of S is; otherwise a line for each runtime in its
 * modules. Return true if there is one. */
static bool
explain_runtimes(struct lines *lines, const struct allocator_search *s)
{
    bool known = false;

    if (s->without_runtime)
        return false;
    if (explain_runtime(lines, s->executable, true))
        return true;
    for (size_t k = 0; k < s->module_count; k++)
        if (strcmp(s->modules[k], s->executable) != 0)
            known |= explain_runtime(lines, s->modules[k], false);
    return known;
}

const char *
own_malloc_advice(const struct allocator_search *s, struct arena *arena)
{
    const char *executable = s->executable;
    struct names_in *in = arena_array(arena, s->module_count + 1, sizeof *in);
    const char *cannot = program_cannot_be_recorded(executable);
    struct lines lines = {arena, ""};
    size_t files = 0;
    bool known = false;

    if (explain_in_front(&lines, s))
        return lines.text;
    in[files++] = read_names(executable);
    for (size_t k = 0; k < s->module_count; k++)
        if (strcmp(s->modules[k], executable) != 0)
            in[files++] = read_names(s->modules[k]);
    for (size_t i = 0; i < countof(allocators); i++)
        for (size_t k = 0; k < files && (cannot == NULL || allocators[i].preset == NULL); k++)
            known |= explain_one(&lines, i, &in[k], s->hooks);
    known |= explain_runtimes(&lines, s);
    // A malloc in the program precedes the recorder's in link order, for calls from libraries as
    // well.
    if (!known && cannot != NULL)
        own_malloc_add_line(&lines, "%s cannot be recorded: %s", executable, cannot);
    else if (!known && has_malloc(executable))
        own_malloc_add_line(
            &lines,
            "%s has its own malloc linked in, which precedes the recorder's: link it with "
            "libheaptap.a in front of that malloc, or " SYSTEM_MALLOC,
            executable);
    else if (!known)
        return NULL;
    return lines.text;
}
