/* core_modules.c: find the modules of a process by a core's list of mapped files.
 *
 * The list has paths and addresses. The load bias and the build id of an object are in its headers,
 * in its first page. The kernel's default filter includes that page in a core, so modules are known
 * even if their files were replaced since. Without the headers, the file on disk is read instead,
 * and the symboliser cannot check that it is the right one. */
#include "layout/core_modules.h"

/* Memory from an address on, as a source of bytes. */
struct window {
    const struct memory_parts *parts;
    uint64_t start;
};

static size_t
core_modules_read_window(void *arg, uint64_t off, void *to, size_t bytes)
{
    const struct window *w = arg;
    uint64_t address = w->start + off;

    for (size_t i = 0; i < w->parts->count; i++) {
        const struct memory_part *p = &w->parts->v[i];
        uint64_t at = address - p->base;

        if (address < p->base || at >= p->size)
            continue;
        if (bytes > p->size - at)
            bytes = p->size - at;
        return p->source->read(p->source->arg, p->off + at, to, bytes);
    }
    return 0;
}

/* Read the headers of the object at START or, if these are missing, of the file PATH. */
static bool
read_object(const struct memory_parts *parts, uint64_t start, const char *path,
            struct arena *arena, struct elf_facts *ret)
{
    struct window w = {parts, start};
    struct byte_source memory = {.read = core_modules_read_window, .arg = &w, .size = UINT64_MAX};
    struct memory_file file;
    struct err err;
    bool known;

    if (elf_facts_is_elf(&memory) && elf_facts_read(&memory, path, arena, ret, &err) == 0)
        return true;
    if (memory_file_open(path, arena, &file, &err) != 0)
        return false;
    known = memory_file_read_elf(&file, arena, &err) == 0;
    *ret = file.facts;
    memory_file_close(&file);
    return known;
}

struct annotated_module *
core_modules(const struct memory_file *core, const struct memory_parts *parts,
             struct arena *arena, size_t *ret_count)
{
    const struct elf_facts *f = &core->facts;
    struct annotated_module *modules = arena_array(arena, f->mapping_count, sizeof *modules);
    size_t count = 0;

    for (size_t i = 0; i < f->mapping_count; i++) {
        const struct elf_mapping *m = &f->mappings[i];
        struct elf_facts *facts;
        uint64_t first;

        if (m->off != 0 || m->path[0] != '/')
            continue;
        facts = arena_alloc(arena, sizeof *facts);
        if (!read_object(parts, m->start, m->path, arena, facts) ||
            !elf_facts_first_address(facts, &first))
            continue;
        modules[count++] = (struct annotated_module){
            .path = m->path, .facts = facts, .bias = m->start - first};
    }
    *ret_count = count;
    return modules;
}
