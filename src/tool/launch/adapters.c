/* adapters.c: choose the language adapters to preload into a program.
 *
 * An adapter is a library beside the recorder, preloaded like the recorder. A program gets the
 * adapter of each language that it interprets or embeds. Its dynamic symbols show which: an
 * embedded runtime exports them, as Lua's commands do, or imports them from a library. For a
 * script, the interpreter in its first line decides. Adapters that the user names are always
 * preloaded, into child processes as well; without a runtime an adapter does nothing.
 *
 * A shell script that replaces an interpreter, such as pyenv's, has the interpreter's name or
 * contains "pyenv". It gets the adapter as well and passes it on through exec.
 *
 * Each adapter checks the version of its runtime itself and reports a version that it cannot
 * read.
 *
 * A user's own adapter is a file that uses heaptap/language.h. Any other file is refused, because
 * the loader would preload it without effect.
 *
 * There is no adapter for node. V8 itself writes the names of its functions into a file, if options
 * in NODE_OPTIONS enable it. The options and the file change the program, so they are never the
 * default, and a hint names them. */
#include "launch/launch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/recording.h"
#include "symbol/elf_names.h"

/* If the interpreter of a script is a script, its interpreter is not looked up. */
enum { LINE_BYTES = 256, SCRIPT_BYTES = 2048, SYMBOLS_MAX = 6 };

static const struct {
    // Name of the language for messages; NULL = no language, so C stacks are complete.
    const char *name, *title;
    const char *symbols[SYMBOLS_MAX]; // Functions that identify an interpreter, then NULL.
} languages[] = {
    {"lua", "Lua", {"lua_newstate", "luaL_newstate", "lua_close"}},
    {"ecl", "Lisp (ECL)", {"cl_boot", "cl_shutdown", "ecl_make_codeblock"}},
    // ECL contains this collector. Guile has its own names for the collector's functions.
    {"gc", NULL, {"GC_malloc", "GC_init", "scm_boot_guile"}},
    {"python", "Python",
     {"Py_BytesMain", "Py_Initialize", "Py_InitializeFromConfig", "Py_InitializeEx", "Py_Main",
      "_Py_UnixMain"}}, // The last name is that of version 3.7.
    {"node", NULL, {"_ZN4node5StartEiPPc"}},
};
enum { ADAPTER_ECL = 1, ADAPTER_GC = 2, ADAPTER_NODE = 4 };

#define NODE_PERF_MAP "--perf-basic-prof"
// The first option enables the file. With the second one, each interpreted function has a copy of
// the interpreter's entry, so the file names it as well.
#define NODE_NAMES NODE_PERF_MAP " --interpreted-frames-native-stack"

/* Return the interpreter in the first line of the file at PATH; PATH if it has none. */
static const char *
interpreter_of(const char *path, struct arena *arena)
{
    char line[LINE_BYTES + 1] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, line, LINE_BYTES) : 0;
    char *name = line + 2;
    size_t end;

    if (fd >= 0)
        close(fd);
    line[length > 0 ? length : 0] = '\0';
    if (strncmp(line, "#!", 2) != 0)
        return path;
    name += strspn(name, " \t");
    end = strcspn(name, " \t\n");
    // The NAME in "env NAME", possibly behind options, is looked up in /usr/bin only.
    if (end >= 4 && strncmp(name + end - 4, "/env", 4) == 0) {
        do {
            name += end + strspn(name + end, " \t");
            end = strcspn(name, " \t\n");
        } while (*name == '-');
        return arena_printf(arena, "/usr/bin/%s", arena_strndup(arena, name, end));
    }
    return arena_strndup(arena, name, end);
}

/* Return true if the file at PATH is a shell script that runs the interpreter NAME, of any
 * version. */
static bool
adapters_is_shim(const char *path, const char *name)
{
    const char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    char text[SCRIPT_BYTES + 1] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, SCRIPT_BYTES) : 0;

    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    if (strncmp(text, "#!", 2) != 0 ||
        memmem(text, strcspn(text, "\n"), "sh", strlen("sh")) == NULL)
        return false;
    return strncmp(base, name, strlen(name)) == 0 ||
           (strcmp(name, "python") == 0 && strstr(text, "pyenv") != NULL);
}

/* Return the best match of elf_names_find for the functions of language I in PROGRAM. */
static enum elf_name
inside(const char *program, size_t i)
{
    enum elf_name kinds[SYMBOLS_MAX], best = ELF_NAME_NONE;
    size_t count = 0;

    while (count < SYMBOLS_MAX && languages[i].symbols[count] != NULL)
        count++;
    if (!elf_names_find(program, languages[i].symbols, count, kinds))
        return ELF_NAME_NONE;
    for (size_t k = 0; k < count; k++)
        best = kinds[k] > best ? kinds[k] : best;
    return best;
}

static bool
adapters_is_asked(const struct adapter_choice *choice, size_t i)
{
    for (size_t k = 0; k < choice->count; k++)
        if (strcmp(choice->names[k], languages[i].name) == 0)
            return true;
    return false;
}

const char *
adapters_name(size_t i)
{
    return i < countof(languages) ? languages[i].name : NULL;
}

static int
check_names(const struct adapter_choice *choice, struct err *err)
{
    for (size_t k = 0; k < choice->count; k++) {
        bool known = false;

        for (size_t i = 0; i < countof(languages); i++)
            known |= strcmp(choice->names[k], languages[i].name) == 0;
        if (!known)
            return err_set(err, HEAPTAP_USAGE,
                           "--language %s: only lua, python, ecl, gc and node are supported",
                           choice->names[k]);
    }
    return 0;
}

/* Fill in CHOSEN for node, which is or is not among the languages that the user ASKED for. */
static void
choose_node(struct adapters_chosen *chosen, bool asked, const char *program, struct arena *arena)
{
    const char *options = getenv("NODE_OPTIONS");

    options = options != NULL ? options : "";
    if (asked)
        chosen->node_options =
            arena_printf(arena, "%s%s" NODE_NAMES, options, *options != '\0' ? " " : "");
    else if (strstr(options, NODE_PERF_MAP) == NULL &&
             inside(program, ADAPTER_NODE) != ELF_NAME_NONE)
        chosen->hint = "--language node names JavaScript functions: it adds options to "
                       "NODE_OPTIONS, and node then writes /tmp/perf-PID.map";
}

/* Add the adapter of language I to CHOSEN; the user ASKED for it, or PROGRAM needs it. Returns 0,
 * or HEAPTAP_USAGE with ERR set. */
static int
adapters_add(struct adapters_chosen *chosen, size_t i, bool asked, const char *library,
             struct arena *arena, struct err *err)
{
    const char *directory = arena_strndup(arena, library, strlen(library) -
                                                              strlen(strrchr(library, '/')));
    const char *path = arena_printf(arena, "%s/libheaptap_%s.so", directory, languages[i].name);

    if (access(path, R_OK) == 0)
        chosen->paths =
            arena_printf(arena, "%s:%s", chosen->paths, recording_preload_entry(arena, path));
    else if (asked)
        return err_set(err, HEAPTAP_USAGE, "--language %s: there is no %s", languages[i].name,
                       path);
    else if (languages[i].title != NULL)
        chosen->hint = arena_printf(arena,
                                    "the program runs %s, but there is no %s: stacks show the "
                                    "interpreter's functions",
                                    languages[i].title, path);
    return 0;
}

/* Add the user's adapter FILE to CHOSEN. Returns 0, or HEAPTAP_USAGE with ERR set if it is none. */
static int
add_file(struct adapters_chosen *chosen, const char *file, struct arena *arena, struct err *err)
{
    static const char *const table[] = {"heaptap_languages_v1"};
    enum elf_name kind = ELF_NAME_NONE;
    char *path = realpath(file, NULL);
    int r = 0;

    if (path == NULL || access(path, R_OK) != 0)
        r = err_set(err, HEAPTAP_USAGE, "--adapter %s: there is no such file to read", file);
    else if (!elf_names_is_library(path) ||
             !elf_names_find(path, table, 1, &kind))
        r = err_set(err, HEAPTAP_USAGE, "--adapter %s: it is no shared library for x86-64", file);
    else if (kind != ELF_NAME_IMPORTED)
        r = err_set(err, HEAPTAP_USAGE,
                    "--adapter %s: it is no adapter, because it does not use heaptap/language.h",
                    file);
    else if (strpbrk(path, " :") != NULL)
        r = err_set(err, HEAPTAP_USAGE,
                    "--adapter %s: the loader cannot preload %s, because of the blank or colon in "
                    "its path",
                    file, path);
    else
        chosen->paths = arena_printf(arena, "%s:%s", chosen->paths, path);
    free(path);
    return r;
}

static int
add_files(struct adapters_chosen *chosen, const struct adapter_choice *choice, struct arena *arena,
          struct err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < choice->file_count; i++)
        r = add_file(chosen, choice->files[i], arena, err);
    return r;
}

int
adapters_choose(const struct adapter_choice *choice, const char *program, const char *library,
                struct arena *arena, struct adapters_chosen *ret, struct err *err)
{
    const char *given = program;
    bool has_ecl = false;

    *ret = (struct adapters_chosen){.paths = ""};
    if (choice->none)
        return add_files(ret, choice, arena, err);
    if (check_names(choice, err) < 0)
        return HEAPTAP_USAGE;
    program = interpreter_of(program, arena);
    for (size_t i = 0; i < ADAPTER_NODE; i++) {
        bool asked = adapters_is_asked(choice, i);
        enum elf_name what = asked ? ELF_NAME_NONE : inside(program, i);
        const char *before = ret->paths;

        if (!asked && what == ELF_NAME_HIDDEN && languages[i].title != NULL)
            ret->hint = arena_printf(arena,
                                     "the program has %s inside, but does not export its "
                                     "functions: stacks show the interpreter's",
                                     languages[i].title);
        if (!asked && what != ELF_NAME_IMPORTED && what != ELF_NAME_EXPORTED &&
            !(languages[i].title != NULL && adapters_is_shim(given, languages[i].name)))
            continue;
        if (i == ADAPTER_GC && has_ecl)
            continue;
        if (adapters_add(ret, i, asked, library, arena, err) < 0)
            return HEAPTAP_USAGE;
        has_ecl |= i == ADAPTER_ECL && ret->paths != before;
    }
    choose_node(ret, adapters_is_asked(choice, ADAPTER_NODE), program, arena);
    return add_files(ret, choice, arena, err);
}
