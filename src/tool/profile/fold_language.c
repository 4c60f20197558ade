/* fold_language.c: reduce stacks to the frames of the program's language.
 *
 *     recorded:  main ◄ <module> app.py:3 ◄ _find_and_load ◄ <module> data.py:1 ◄ parse ◄ malloc
 *                ----                       --------------                        -----
 *     shown:     <module> (import data) app.py:3 ◄ <module> data.py:1
 *
 * The author of a script can change the script, but not the C code that it calls. Therefore the C
 * frames of extensions and of the interpreter are removed, and their allocations are charged to the
 * function and line that called them. Stacks without a frame of the language become one
 * frame, "native (no Python frame)", so no byte is lost.
 *
 * Frames of Python's importlib are removed as well. Their allocations are charged to the line with
 * the import statement. That line becomes a separate frame, named by the imported module, so that
 * an import is not summed with other code in the same function. The name comes from the files
 * whose top-level code the import ran. Without such a file, as for modules in C, or with unrelated
 * files, the frame keeps the importing function's name.
 *
 * As in fold_runtime.c, the tree itself is changed, so views need no special case. New frames
 * replace removed nodes, so the tree has no new nodes. */
#include "profile/fold_language.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "profile/time_slice.h"
#include "util/path.h"

// Flags of a removed node that hold for a stack of the language's frames: frames further out are
// missing. Where the walk of C frames was uncertain, named frames are still complete.
enum { FOLD_LANGUAGE_FLAGS = NODE_TRUNCATED | NODE_SHORTENED };

// Name of imports without an importing line: the interpreter itself imports modules at its start.
#define IMPORT_AT_START "import at start"
#define NATIVE_LANGUAGE "native"

/* State of language_only, by node of P unless stated otherwise. */
struct fold_language {
    struct profile *p;
    const char *language;
    uint32_t *to;    // The node that replaces it; 0 = the stack has no named frame.
    uint32_t *lost;  // Flags of removed nodes outside of the outermost named frame.
    bool *whole;     // The stack is unknown in part and stays as recorded.
    bool *imports;   // Represents frames of importlib.
    uint32_t *line;  // For frames of importlib: location of the importing line.
    bool *importlib; // By location.
    const char **modules;  // By location: modules it imported; NULL = none, "" = unclear.
    uint32_t *import_of;   // By location: the location for its imports; 0 = none yet.
    uint32_t native[FOLD_LANGUAGE_FLAGS + 1]; // By flags: the node for native stacks.
    uint32_t native_location, start_location;
};

static uint32_t
language_of_node(const struct profile *p, uint32_t node)
{
    return profile_language(p, &p->locations[p->nodes[node].location]);
}

/* Return true if FILE belongs to Python's import system. */
static bool
is_importlib(const char *file)
{
    static const char *const ends[] = {"/importlib/_bootstrap.py",
                                       "/importlib/_bootstrap_external.py",
                                       "/importlib/__init__.py"};
    size_t length = strlen(file);

    if (strncmp(file, "<frozen importlib", 17) == 0 || strcmp(file, "<frozen zipimport>") == 0)
        return true;
    for (size_t i = 0; i < countof(ends); i++) {
        size_t end = strlen(ends[i]);

        if (length >= end && strcmp(file + length - end, ends[i]) == 0)
            return true;
    }
    return false;
}

/* --- Names of imported modules ---------------------------------------------------------------- */

/* Return the end of the prefix of FILE that leads to a directory of modules, such as
 * "/usr/lib/python3.11/". ASKER is the importing file, whose directory is such a prefix as well. */
static const char *
below_module_path(const char *file, const char *asker)
{
    static const char *const marks[] = {"/site-packages/", "/dist-packages/"};
    const char *digit = strstr(file, "/python");
    size_t length = (size_t)(path_basename(asker) - asker);

    for (size_t i = 0; i < countof(marks); i++) {
        const char *found = strstr(file, marks[i]);

        if (found != NULL)
            return found + strlen(marks[i]);
    }
    if (digit != NULL && isdigit((unsigned char)digit[7]) && strchr(digit + 7, '/') != NULL)
        return strchr(digit + 7, '/') + 1;
    if (length > 0 && strncmp(file, asker, length) == 0)
        return file + length;
    return path_basename(file);
}

/* Return the name of the module in FILE, which the file ASKER imported: "numpy.core" for
 * ".../site-packages/numpy/core/__init__.py". Return "" if FILE is not a module's source. */
static const char *
module_of_file(struct arena *arena, const char *file, const char *asker)
{
    static const char init[] = "/__init__.py";
    char *name = arena_strdup(arena, below_module_path(file, asker));
    size_t length = strlen(name);

    if (length >= sizeof init && strcmp(name + length + 1 - sizeof init, init) == 0)
        name[length + 1 - sizeof init] = '\0';
    else if (strcmp(name, init + 1) == 0)
        return module_of_file(arena, arena_strndup(arena, file, strlen(file) - strlen(init)), "");
    else if (length > 3 && strcmp(name + length - 3, ".py") == 0)
        name[length - 3] = '\0';
    for (char *s = name; *s != '\0'; s++)
        if (*s == '/')
            *s = '.';
    return strncmp(name, "<frozen ", 8) == 0 ? "" : name;
}

/* Return the package that both A and B are in or are; "" = none. From ARENA. */
static const char *
common_package(struct arena *arena, const char *a, const char *b)
{
    size_t end = 0, i = 0;

    while (a[i] != '\0' && a[i] == b[i]) {
        i++;
        if ((a[i] == '\0' || a[i] == '.') && (b[i] == '\0' || b[i] == '.'))
            end = i;
    }
    return arena_strndup(arena, a, end);
}

/* NODE runs in code that the importing line LINE caused. If it is a module's top-level code, add
 * the module to the names of LINE. */
static void
add_import(struct fold_language *f, uint32_t node, uint32_t line)
{
    struct profile *p = f->p;
    const struct profile_frame *frame =
        &p->frames[p->locations[p->nodes[node].location].first_frame];
    const struct profile_frame *asker = &p->frames[p->locations[line].first_frame];
    const char **known = &f->modules[line], *name;

    if (strcmp(profile_string(p, frame->function), "<module>") != 0)
        return;
    name = module_of_file(&p->arena, profile_string(p, frame->file),
                          profile_string(p, asker->file));
    *known = *known == NULL ? name : common_package(&p->arena, *known, name);
}

/* Collect the modules that each line imported. */
static void
find_imports(struct fold_language *f)
{
    struct profile *p = f->p;
    // By node: location of the innermost named frame, and of the line whose import runs; 0 = none.
    uint32_t *caller = xcalloc(p->node_count, sizeof *caller);

    for (uint32_t i = 1; i < p->node_count; i++) {
        uint32_t parent = p->nodes[i].parent, location = p->nodes[i].location;

        caller[i] = caller[parent];
        f->line[i] = f->line[parent];
        if (language_of_node(p, i) == 0)
            continue;
        caller[i] = location;
        if (f->importlib[location]) {
            if (f->line[i] == 0 && !f->importlib[caller[parent]])
                f->line[i] = caller[parent];
            continue;
        }
        if (f->line[i] != 0)
            add_import(f, i, f->line[i]);
        f->line[i] = 0;
    }
    free(caller);
}

/* --- New frames ------------------------------------------------------------------------------- */

/* Append a location with FRAME to P, which has room for it. Return its index. */
static uint32_t
new_location(struct profile *p, const struct profile_frame *frame)
{
    uint32_t location = (uint32_t)p->location_count++;

    p->locations[location] = (struct profile_location){
        .first_frame = (uint32_t)p->frame_count, .frame_count = 1, .same = location};
    profile_add_frame(p, frame);
    return location;
}

/* Return the location for imports by the line LOCATION; 0 if the module is unclear. */
static uint32_t
import_location(struct fold_language *f, uint32_t location)
{
    struct profile *p = f->p;
    struct profile_frame frame = p->frames[p->locations[location].first_frame];
    const char *module = f->modules[location];

    if (module == NULL || *module == '\0')
        return 0;
    if (f->import_of[location] == 0) {
        frame.function = strtab_id(
            &p->strings, arena_printf(&p->arena, "%s (import %s)",
                                      profile_string(p, frame.function), module));
        f->import_of[location] = new_location(p, &frame);
    }
    return f->import_of[location];
}

/* Return the node for native stacks with the flags of NODE, which may become that node. */
static uint32_t
native_node(struct fold_language *f, uint32_t node)
{
    struct profile *p = f->p;
    uint32_t flags = f->lost[node], *known = &f->native[flags];

    if (*known != 0)
        return *known;
    if (f->native_location == 0) {
        struct profile_frame frame = {.language = strtab_id(&p->strings, NATIVE_LANGUAGE)};

        frame.function = strtab_id(&p->strings, arena_printf(&p->arena, "native (no %s frame)",
                                                             f->language));
        f->native_location = new_location(p, &frame);
    }
    *known = node;
    p->nodes[node] = (struct profile_node){.location = f->native_location, .flags = flags};
    return node;
}

/* NODE is a frame of importlib. Return the node that replaces it. */
static uint32_t
fold_import(struct fold_language *f, uint32_t node)
{
    struct profile *p = f->p;
    struct profile_node *n = &p->nodes[node];
    uint32_t outer = f->to[n->parent], location;

    if (outer != 0 && f->imports[outer])
        return outer;
    if (outer != 0) {
        location = import_location(f, p->nodes[outer].location);
        if (location == 0)
            return outer;
        *n = (struct profile_node){
            .parent = p->nodes[outer].parent, .location = location, .flags = p->nodes[outer].flags};
    } else {
        if (f->start_location == 0) {
            struct profile_frame frame = p->frames[p->locations[n->location].first_frame];

            frame.function = strtab_id(&p->strings, IMPORT_AT_START);
            frame.file = frame.line = 0; // A line of importlib explains nothing.
            f->start_location = new_location(p, &frame);
        }
        *n = (struct profile_node){.location = f->start_location, .flags = f->lost[node]};
    }
    f->imports[node] = true;
    return node;
}

/* --- The tree --------------------------------------------------------------------------------- */

/* Set the node that replaces NODE, after those further out. */
static void
fold_node(struct fold_language *f, uint32_t node)
{
    struct profile *p = f->p;
    struct profile_node *n = &p->nodes[node];
    uint32_t outer = f->to[n->parent];

    f->whole[node] = f->whole[n->parent] || (n->flags & (NODE_OTHER | NODE_CALLERLESS)) != 0;
    f->lost[node] = f->lost[n->parent] | (n->flags & FOLD_LANGUAGE_FLAGS);
    if (f->whole[node]) {
        f->to[node] = node;
    } else if (language_of_node(p, node) == 0) {
        f->to[node] = outer;
    } else if (f->importlib[n->location]) {
        f->to[node] = fold_import(f, node);
    } else {
        n->parent = outer;
        if (outer == 0)
            n->flags = f->lost[node];
        f->to[node] = node;
    }
}

static void
move_reference(struct fold_language *f, uint32_t *node)
{
    if (*node != 0)
        *node = f->to[*node] != 0 ? f->to[*node] : native_node(f, *node);
}

static void
move_references(struct fold_language *f)
{
    struct profile *p = f->p;

    for (size_t i = 0; i < p->site_count; i++) {
        uint32_t before = p->sites[i].node;

        move_reference(f, &p->sites[i].node);
        p->sites[i].by_language |= p->sites[i].node != before;
    }
    for (size_t i = 0; i < p->backing_count; i++)
        move_reference(f, &p->backings[i].node);
    for (size_t i = 0; i < p->unknown_free_count; i++) {
        move_reference(f, &p->unknown_frees[i].node);
        move_reference(f, &p->unknown_frees[i].site_node);
    }
    for (size_t i = 0; i < p->corruption_count; i++) {
        move_reference(f, &p->corruptions[i].node);
        move_reference(f, &p->corruptions[i].site_node);
        move_reference(f, &p->corruptions[i].front_node);
    }
}

/* Make room for the new locations: one for each recorded location, and two without a line. */
static void
reserve_locations(struct profile *p)
{
    struct profile_location *v =
        arena_array(&p->arena, 2 * p->location_count + 2, sizeof *v);

    memcpy(v, p->locations, p->location_count * sizeof *v);
    p->locations = v;
}

/* --- The profile's language ------------------------------------------------------------------- */

/* Return the language with most bytes in P, as a string id; 0 = none. *RET_SHARE is the share of
 * all bytes in stacks with a frame of any language. */
static uint32_t
main_language(const struct profile *p, double *ret_share)
{
    uint32_t *language = xcalloc(p->node_count, sizeof *language), best = 0;
    double *bytes = xcalloc(p->strings.count, sizeof *bytes), all = 0;

    *ret_share = 0;
    for (uint32_t i = 1; i < p->node_count; i++) {
        language[i] = language_of_node(p, i);
        if (language[i] == 0)
            language[i] = language[p->nodes[i].parent];
    }
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *s = &p->sites[i];
        double amount = (double)(s->counters.partial ? s->whole_allocated_bytes
                                                     : s->counters.allocated_bytes);
        uint32_t of = language[s->node];

        all += amount;
        bytes[of] += amount;
        if (of != 0 && (best == 0 || bytes[of] > bytes[best]))
            best = of;
    }
    if (all > 0)
        *ret_share = 1 - bytes[0] / all;
    free(language);
    free(bytes);
    return best;
}

/* Return true if the file NAME is called after LANGUAGE: "python3.11". */
static bool
is_named_after(const char *name, const char *language)
{
    return strncasecmp(name, language, strlen(language)) == 0;
}

bool
profile_is_of_interpreter(const struct profile *p)
{
    double share;
    uint32_t language = main_language(p, &share);

    if (language == 0 || share <= 0.5)
        return false;
    for (uint32_t i = 1; i < p->module_count; i++)
        if (profile_is_program(p, i) &&
            (p->modules[i].runtime || is_named_after(path_basename(p->modules[i].path),
                                                     profile_string(p, language))))
            return true;
    return false;
}

void
language_only(struct profile *p)
{
    struct fold_language f = {.p = p};
    size_t nodes = p->node_count, locations = p->location_count;
    double share;
    uint32_t language = main_language(p, &share);

    if (language == 0 || p->language_only != 0)
        return;
    p->language_only = language;
    f.language = profile_string(p, language);
    reserve_locations(p);
    f.to = xcalloc(nodes, sizeof *f.to);
    f.lost = xcalloc(nodes, sizeof *f.lost);
    f.whole = xcalloc(nodes, sizeof *f.whole);
    f.imports = xcalloc(nodes, sizeof *f.imports);
    f.line = xcalloc(nodes, sizeof *f.line);
    f.importlib = xcalloc(2 * locations + 2, sizeof *f.importlib);
    f.modules = xcalloc(2 * locations + 2, sizeof *f.modules);
    f.import_of = xcalloc(2 * locations + 2, sizeof *f.import_of);
    for (size_t i = 1; i < locations; i++)
        f.importlib[i] =
            profile_language(p, &p->locations[i]) != 0 &&
            is_importlib(profile_string(p, p->frames[p->locations[i].first_frame].file));
    find_imports(&f);
    for (uint32_t i = 1; i < nodes; i++)
        fold_node(&f, i);
    move_references(&f);
    free(f.to);
    free(f.lost);
    free(f.whole);
    free(f.imports);
    free(f.line);
    free(f.importlib);
    free(f.modules);
    free(f.import_of);
}
