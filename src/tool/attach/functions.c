/* functions.c: find functions of a running process by name, in all symbol tables.
 *
 * An exported name is found as the dynamic linker finds it. Other names are searched in the files
 * of all modules, because only these have the names of local and hidden functions; then in their
 * separate debug files. A program and its libraries may have several local functions of one name.
 * Their arguments may differ, so a name that the user gave must be unique. The names of a preset
 * are unusual enough: all functions of such a name are hooked.
 *
 * A file may have changed since the process started. Its build id decides; where there is none, the
 * first bytes of the function must be those in the process. */
#include "attach/functions.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "base/hook_slot.h"
#include "format/attach_request.h"
#include "symbol/definitions.h"
#include "symbol/elf_names.h"

enum { PATH_BYTES = 4096, NOTES_BYTES_MAX = 1 << 16 };

/* Mark of the kernel at the end of a path. */
#define DELETED " (deleted)"

/* The search for the names of hooks. */
struct function_search {
    struct target *t;
    const struct attach_hook *hooks;
    size_t count;
    bool *is_found; // By hook.
    struct function *found;
    size_t found_count, capacity;
    const struct target_module *stripped; // A module without a symbol table; NULL = none. The
                                          // program is preferred.
    const struct target_module *replaced; // A module whose file is gone; NULL = none.
};

/* --- Modules' files --------------------------------------------------------------------------- */

/* Return the path of M's file; "" if it is unknown. */
static const char *
path_of(const struct target *t, const struct target_module *m)
{
    const struct target_map *map = target_map_at(t, m->symbols);

    return map != NULL && *map->path == '/' ? map->path : "";
}

/* Store the build id in the COUNT bytes of NOTES in M. */
static void
read_build_id(const unsigned char *notes, size_t count, struct profile_module *m)
{
    Elf64_Nhdr note;

    for (size_t at = 0; at + sizeof note <= count;) {
        size_t name = at + sizeof note, description;

        memcpy(&note, notes + at, sizeof note);
        description = name + round_up((size_t)note.n_namesz, 4);
        if (description > count || note.n_descsz > count - description)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            memcmp(notes + name, "GNU", sizeof "GNU") == 0 && note.n_descsz <= sizeof m->build_id) {
            memcpy(m->build_id, notes + description, note.n_descsz);
            m->build_id_bytes = note.n_descsz;
            return;
        }
        at = description + round_up((size_t)note.n_descsz, 4);
    }
}

/* Return M's path and its build id, which is in the process. */
static struct profile_module
file_of(struct target *t, const struct target_module *m)
{
    struct profile_module file = {.path = path_of(t, m)};
    const struct target_map *first = NULL;
    Elf64_Ehdr header;
    Elf64_Phdr segment;

    for (size_t i = 0; first == NULL && *file.path != '\0' && i < t->map_count; i++)
        if (strcmp(t->maps[i].path, file.path) == 0)
            first = &t->maps[i];
    if (first == NULL || !target_read(t, first->start, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return file;
    for (uint32_t i = 0; i < header.e_phnum && file.build_id_bytes == 0; i++) {
        unsigned char *notes;

        if (!target_read(t, first->start + header.e_phoff + i * sizeof segment, &segment,
                         sizeof segment))
            break;
        if (segment.p_type != PT_NOTE || segment.p_filesz > NOTES_BYTES_MAX)
            continue;
        notes = arena_alloc(&t->arena, segment.p_filesz);
        read_build_id(notes, target_read_some(t, m->bias + segment.p_vaddr, notes,
                                              segment.p_filesz), &file);
    }
    return file;
}

/* Return a path that opens M's file from here. */
static const char *
reachable(struct target *t, const struct target_module *m)
{
    if (m == t->modules)
        return arena_printf(&t->arena, "/proc/%u/exe", t->pid);
    return arena_printf(&t->arena, "/proc/%u/root%s", t->pid, path_of(t, m));
}

/* Return true if D, which is in M's file, is a function in the process too. */
static bool
is_present(const struct target *t, const struct target_module *m, const struct definition *d)
{
    const struct target_map *map = target_map_at(t, m->bias + d->address);
    uint8_t code[DEFINITION_CODE_BYTES];

    return (d->type == STT_FUNC || d->type == STT_NOTYPE) && map != NULL &&
           (map->access & TARGET_EXECUTE) &&
           target_read(t, m->bias + d->address, code, d->code_bytes) &&
           memcmp(code, d->code, d->code_bytes) == 0;
}

/* --- Names of hooks --------------------------------------------------------------------------- */

/* Add the function of hook INDEX at SYMBOL, unless it is there already. */
static void
functions_add(struct function_search *s, size_t index, struct target_symbol symbol)
{
    s->is_found[index] = true;
    for (size_t i = 0; i < s->found_count; i++)
        if (s->found[i].symbol.address == symbol.address &&
            strcmp(s->found[i].name, s->hooks[index].symbol) == 0)
            return;
    arena_grow(&s->t->arena, &s->found, &s->capacity, s->found_count, sizeof *s->found);
    s->found[s->found_count++] =
        (struct function){s->hooks[index].symbol, s->hooks[index].shape, symbol};
}

/* Find the exported names. */
static int
find_exported(struct function_search *s, struct err *err)
{
    for (size_t i = 0; i < s->count; i++) {
        struct target_symbol symbol;

        if (!target_find(s->t, s->hooks[i].symbol, &symbol))
            continue;
        if (symbol.type == STT_FUNC || symbol.type == STT_NOTYPE)
            functions_add(s, i, symbol);
        else if (s->hooks[i].preset == NULL)
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "%.100s is %s in process %u; hook functions only", s->hooks[i].symbol,
                           symbol.type == STT_GNU_IFUNC ? "chosen by a resolver" : "a variable",
                           s->t->pid);
    }
    return 0;
}

/* Store the names that are not found yet in *RET_NAMES, and their hooks in *RET_HOOKS. Return their
 * number. */
static size_t
missing_names(struct function_search *s, const char ***ret_names, size_t **ret_hooks)
{
    size_t count = 0;

    *ret_names = arena_array(&s->t->arena, s->count, sizeof **ret_names);
    *ret_hooks = arena_array(&s->t->arena, s->count, sizeof **ret_hooks);
    for (size_t i = 0; i < s->count; i++) {
        if (s->is_found[i])
            continue;
        (*ret_names)[count] = s->hooks[i].symbol;
        (*ret_hooks)[count++] = i;
    }
    return count;
}

/* Return true if M's file defines one of the COUNT NAMES. */
static bool
file_defines(struct target *t, const struct target_module *m, const char *const *names,
             size_t count)
{
    enum elf_name *kinds = arena_array(&t->arena, count, sizeof *kinds);
    bool any = false;

    if (!elf_names_find(reachable(t, m), names, count, kinds))
        return false;
    for (size_t i = 0; i < count; i++)
        any |= kinds[i] == ELF_NAME_HIDDEN || kinds[i] == ELF_NAME_EXPORTED;
    return any;
}

/* Find the missing names in the files of all modules, or with DEBUG in their debug files. */
static void
find_in_files(struct function_search *s, bool debug)
{
    const char **names;
    size_t *hooks, count = missing_names(s, &names, &hooks);

    for (size_t i = 0; count > 0 && i < s->t->module_count; i++) {
        const struct target_module *m = &s->t->modules[i];
        struct profile_module file;
        struct definition *found;
        size_t found_count;

        if (debug ? elf_names_has_section(reachable(s->t, m), ".symtab")
                  : !file_defines(s->t, m, names, count))
            continue;
        file = file_of(s->t, m);
        if (s->replaced == NULL && strstr(file.path, DELETED) != NULL)
            s->replaced = m;
        if (*file.path == '\0')
            continue;
        found_count =
            definitions_find(&file, s->t->pid, names, count, &s->t->arena, &found);
        for (size_t k = 0; k < found_count; k++)
            if (is_present(s->t, m, &found[k]))
                functions_add(s, hooks[found[k].name],
                              (struct target_symbol){m->bias + found[k].address,
                                                     found[k].size_bytes, STT_FUNC, m});
        if (debug && s->stripped == NULL && definitions_are_stripped(&file, s->t->pid))
            s->stripped = m;
    }
}

/* --- Refusals --------------------------------------------------------------------------------- */

/* Return the error for NAME, a symbol or the functions of a preset, which the process lacks. */
static int
report_missing(const struct function_search *s, const char *what, const char *name,
               struct err *err)
{
    if (s->replaced != NULL)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u has no known %s %.100s, because %.1000s has been replaced since "
                       "it started; start it again", s->t->pid, what, name,
                       path_of(s->t, s->replaced));
    if (s->stripped != NULL)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u has no %s %.100s, but %.1000s is stripped; install its debug "
                       "symbols, or name exported functions", s->t->pid, what, name,
                       path_of(s->t, s->stripped));
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "process %u has no %s %.100s; `nm` shows the names in a file, and a function "
                   "that is inlined everywhere has none", s->t->pid, what, name);
}

/* Check that the user's hook INDEX has exactly one function. */
static int
check_hook(const struct function_search *s, size_t index, struct err *err)
{
    const struct function *first = NULL;

    if (!s->is_found[index])
        return report_missing(s, "function", s->hooks[index].symbol, err);
    for (size_t i = 0; i < s->found_count; i++) {
        const struct function *f = &s->found[i];

        if (strcmp(f->name, s->hooks[index].symbol) != 0)
            continue;
        if (first != NULL)
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "process %u has several functions named %.100s, in %.1000s and in "
                           "%.1000s; heaptap hooks unique names only", s->t->pid, f->name,
                           path_of(s->t, first->symbol.module), path_of(s->t, f->symbol.module));
        first = f;
    }
    return 0;
}

/* Check that at least one function of the preset of hook INDEX exists. */
static int
check_preset(const struct function_search *s, size_t index, struct err *err)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->is_found[i] && s->hooks[i].preset == s->hooks[index].preset)
            return 0;
    return report_missing(s, "function of", s->hooks[index].preset, err);
}

int
functions_find(struct target *t, const struct attach_hook *hooks, size_t count,
               struct function **ret, size_t *ret_count, struct err *err)
{
    struct function_search s = {.t = t, .hooks = hooks, .count = count};
    int r;

    *ret = NULL;
    *ret_count = 0;
    if (count == 0)
        return 0;
    s.is_found = arena_alloc(&t->arena, count);
    r = find_exported(&s, err);
    if (r != 0)
        return r;
    find_in_files(&s, false);
    r = 0;
    for (size_t i = 0; r == 0 && i < count; i++)
        r = hooks[i].preset == NULL ? check_hook(&s, i, NULL) : check_preset(&s, i, NULL);
    if (r != 0) // Debug files take long to read.
        find_in_files(&s, true);
    r = 0;
    for (size_t i = 0; r == 0 && i < count; i++)
        r = hooks[i].preset == NULL ? check_hook(&s, i, err) : check_preset(&s, i, err);
    *ret = s.found;
    *ret_count = s.found_count;
    return r;
}

/* --- The program's allocator ------------------------------------------------------------------ */

#define NEW_OR_DELETE(name) {#name, #name[2] == 'n' ? HOOK_MALLOC : HOOK_FREE, NULL},
static const struct attach_hook usual[] = {
    {"malloc", HOOK_MALLOC, NULL},
    {"free", HOOK_FREE, NULL},
    {"calloc", HOOK_CALLOC, NULL},
    {"realloc", HOOK_REALLOC, NULL},
    {"reallocarray", HOOK_REALLOCARRAY, NULL},
    {"posix_memalign", HOOK_POSIX_MEMALIGN, NULL},
    {"aligned_alloc", HOOK_MEMALIGN, NULL},
    {"memalign", HOOK_MEMALIGN, NULL},
    {"valloc", HOOK_MALLOC, NULL},
    {"pvalloc", HOOK_MALLOC, NULL},
    {"free_sized", HOOK_FREE, NULL},
    {"free_aligned_sized", HOOK_FREE, NULL},
    {"cfree", HOOK_FREE, NULL},
    ATTACH_OPERATORS(NEW_OR_DELETE)};

size_t
functions_of_program(struct target *t, struct function **ret)
{
    const char *names[countof(usual)];
    enum elf_name kinds[countof(usual)];
    const struct target_module *m = t->modules;
    struct definition *found;
    struct profile_module file;
    size_t count, kept = 0;

    *ret = NULL;
    for (size_t i = 0; i < countof(usual); i++)
        names[i] = usual[i].symbol;
    if (!elf_names_find(reachable(t, m), names, countof(names), kinds))
        return 0;
    for (size_t i = 0; i < 2; i++)
        if (kinds[i] != ELF_NAME_HIDDEN && kinds[i] != ELF_NAME_EXPORTED)
            return 0;
    file = file_of(t, m);
    count = definitions_find(&file, t->pid, names, countof(names), &t->arena, &found);
    *ret = arena_array(&t->arena, count, sizeof **ret);
    for (size_t i = 0; i < count; i++)
        if (is_present(t, m, &found[i]))
            (*ret)[kept++] = (struct function){
                names[found[i].name], usual[found[i].name].shape,
                {m->bias + found[i].address, found[i].size_bytes, STT_FUNC, m}};
    return kept;
}
