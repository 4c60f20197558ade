/* target.c: read and write the memory of a running process, and find its functions.
 *
 * The functions are found as the dynamic linker finds them: in the order of its list of objects.
 * The program's DT_DEBUG entry leads to this list. The tables are read in the process, because its
 * files may have been replaced since, and because a container may hide them. */
#include "attach/target.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profile/processes.h"

enum { NAME_BYTES = 256, PAGE_BYTES = 4096, HIDDEN_VERSION = 0x8000 };

/* Bounds for loops over tables of the process, which may be damaged or endless. */
enum { MODULES_MAX = 1 << 16, DYNAMIC_MAX = 1 << 10, CHAIN_MAX = 1 << 16 };

#define GAP_MARGIN ((uint64_t)1 << 20)
#define LOWEST_ADDRESS ((uint64_t)64 << 10) // The usual vm.mmap_min_addr.
#define HEAP_BYTES_MAX ((uint64_t)3 << 29)
#define STACK_BYTES_MAX ((uint64_t)16 << 30)
#define JUMP_REACH ((uint64_t)0x7ff00000)

bool
target_read(const struct target *t, uint64_t address, void *buffer, size_t size_bytes)
{
    return target_read_some(t, address, buffer, size_bytes) == size_bytes;
}

size_t
target_read_some(const struct target *t, uint64_t address, void *buffer, size_t size_bytes)
{
    ssize_t n = pread(t->memory_fd, buffer, size_bytes, (off_t)address);

    return n > 0 ? (size_t)n : 0;
}

bool
target_write(const struct target *t, uint64_t address, const void *bytes, size_t size_bytes)
{
    return pwrite(t->memory_fd, bytes, size_bytes, (off_t)address) == (ssize_t)size_bytes;
}

uint64_t
target_word(const struct target *t, uint64_t address)
{
    uint64_t word = 0;

    return target_read(t, address, &word, sizeof word) ? word : 0;
}

/* Return the string at ADDRESS, cut off after NAME_BYTES. From the arena of T. */
static const char *
target_text(struct target *t, uint64_t address)
{
    char text[NAME_BYTES] = "";
    size_t got = target_read_some(t, address, text, sizeof text - 1);

    text[got] = '\0';
    return arena_strdup(&t->arena, text);
}

/* --- Mappings --------------------------------------------------------------------------------- */

static void
add_map(struct target *t, size_t *capacity, char *line)
{
    uint64_t start, end;
    char access[5] = "";
    int path_at = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n", &start, &end, access,
               &path_at) < 3 ||
        start >= end || (t->map_count > 0 && start < t->maps[t->map_count - 1].end))
        return; // The search needs them in order.
    arena_grow(&t->arena, &t->maps, capacity, t->map_count, sizeof *t->maps);
    t->maps[t->map_count++] = (struct target_map){
        .start = start,
        .end = end,
        .access = (access[0] == 'r' ? (uint32_t)TARGET_READ : 0) |
                  (access[1] == 'w' ? (uint32_t)TARGET_WRITE : 0) |
                  (access[2] == 'x' ? (uint32_t)TARGET_EXECUTE : 0),
        .path = path_at != 0 ? arena_strdup(&t->arena, line + path_at) : "",
    };
}

void
target_read_maps(struct target *t)
{
    FILE *f = fopen(arena_printf(&t->arena, "/proc/%u/task/%u/maps", t->pid, t->thread),
                    "re");
    size_t capacity = 0, line_bytes = 0;
    char *line = NULL;

    t->maps = NULL;
    t->map_count = 0;
    while (f != NULL && getline(&line, &line_bytes, f) > 0)
        add_map(t, &capacity, line);
    free(line);
    if (f != NULL)
        fclose(f);
}

const struct target_map *
target_map_at(const struct target *t, uint64_t address)
{
    size_t low = 0, high = t->map_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (t->maps[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->map_count && t->maps[low].start <= address ? &t->maps[low] : NULL;
}

/* Return true if mapping I, above 0, continues the program: its file, variables or heap. */
static bool
belongs_to_program(const struct target *t, size_t i)
{
    const struct target_map *map = &t->maps[i];

    return strcmp(map->path, t->maps[0].path) == 0 || strcmp(map->path, "[heap]") == 0 ||
           (*map->path == '\0' && map->start == t->maps[i - 1].end);
}

uint64_t
target_gap(const struct target *t, uint64_t low, uint64_t high, uint64_t size_bytes)
{
    uint64_t needed = size_bytes + 2 * GAP_MARGIN, best = 0, best_distance = UINT64_MAX;
    bool is_programs = true; // The mappings before the gap are the program's.

    for (size_t i = 0; i < t->map_count; i++) {
        uint64_t from = i > 0 ? t->maps[i - 1].end : LOWEST_ADDRESS, to = t->maps[i].start;
        uint64_t at, distance;

        if (i > 1)
            is_programs = is_programs && belongs_to_program(t, i - 1);
        // brk makes the heap grow there, or begins it at a random distance.
        if (i > 0 && is_programs)
            from += HEAP_BYTES_MAX;
        // The stack grows down into the gap before it, from the gap's other end.
        if (to < from || to - from < needed ||
            (strcmp(t->maps[i].path, "[stack]") == 0 && to - from < needed + STACK_BYTES_MAX))
            continue;
        at = round_up(to <= low ? to - size_bytes - GAP_MARGIN : from + GAP_MARGIN, PAGE_BYTES);
        distance = at < low ? high - at : at + size_bytes - low;
        if (distance < JUMP_REACH && distance < best_distance) {
            best = at;
            best_distance = distance;
        }
    }
    return best;
}

/* --- Modules ---------------------------------------------------------------------------------- */

static void
read_dynamic(const struct target *t, uint64_t at, struct target_module *m)
{
    Elf64_Dyn d;

    for (int i = 0; i < DYNAMIC_MAX && target_read(t, at, &d, sizeof d) && d.d_tag != DT_NULL;
         i++, at += sizeof d) {
        // glibc has relocated the addresses, except in the kernel's object.
        uint64_t address = d.d_un.d_ptr < m->bias ? d.d_un.d_ptr + m->bias : d.d_un.d_ptr;

        if (d.d_tag == DT_SYMTAB)
            m->symbols = address;
        else if (d.d_tag == DT_STRTAB)
            m->names = address;
        else if (d.d_tag == DT_VERSYM)
            m->versions = address;
        else if (d.d_tag == DT_GNU_HASH)
            m->gnu_hash = address;
        else if (d.d_tag == DT_HASH)
            m->hash = address;
    }
}

/* Find the program's headers. Return false if the kernel shows none. */
static bool
find_headers(struct target *t, uint64_t *ret_headers, uint64_t *ret_count)
{
    int fd = open(arena_printf(&t->arena, "/proc/%u/task/%u/auxv", t->pid, t->thread),
                  O_RDONLY | O_CLOEXEC);
    uint64_t entry[2];

    *ret_headers = *ret_count = 0;
    while (fd >= 0 && read(fd, entry, sizeof entry) == sizeof entry && entry[0] != AT_NULL) {
        if (entry[0] == AT_PHDR)
            *ret_headers = entry[1];
        if (entry[0] == AT_PHNUM)
            *ret_count = entry[1];
    }
    if (fd >= 0)
        close(fd);
    return *ret_headers != 0 && *ret_count < PAGE_BYTES / sizeof(Elf64_Phdr);
}

/* Return the address of the dynamic linker's struct r_debug; 0 in a static program. */
static uint64_t
find_list(struct target *t)
{
    uint64_t headers, count, bias = 0, dynamic = 0;
    Elf64_Phdr p;
    Elf64_Dyn d;

    if (!find_headers(t, &headers, &count))
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        if (!target_read(t, headers + i * sizeof p, &p, sizeof p))
            return 0;
        if (p.p_type == PT_PHDR)
            bias = headers - p.p_vaddr;
        if (p.p_type == PT_DYNAMIC)
            dynamic = p.p_vaddr;
    }
    if (dynamic == 0)
        return 0;
    dynamic += bias;
    for (int i = 0;
         i < DYNAMIC_MAX && target_read(t, dynamic, &d, sizeof d) && d.d_tag != DT_NULL;
         i++, dynamic += sizeof d)
        if (d.d_tag == DT_DEBUG)
            return d.d_un.d_ptr;
    return 0;
}

/* Read the dynamic linker's list. Return false if there is none. A damaged list may lead back to an
 * earlier entry: one that is noted at each power of two. */
static bool
read_modules(struct target *t)
{
    uint64_t list = find_list(t), at, noted = 0, entries = 0;
    size_t capacity = 0;

    if (list == 0)
        return false;
    for (at = target_word(t, list + offsetof(struct r_debug, r_map));
         at != 0 && at != noted && t->module_count < MODULES_MAX;
         at = target_word(t, at + offsetof(struct link_map, l_next))) {
        struct target_module m = {.bias = target_word(t, at)};

        if ((entries & (entries + 1)) == 0)
            noted = at;
        entries++;
        m.path = target_text(t, target_word(t, at + offsetof(struct link_map, l_name)));
        // The kernel's object defines nothing that others bind to.
        if (strstr(m.path, "linux-vdso") != NULL)
            continue;
        read_dynamic(t, target_word(t, at + offsetof(struct link_map, l_ld)), &m);
        arena_grow(&t->arena, &t->modules, &capacity, t->module_count, sizeof *t->modules);
        t->modules[t->module_count++] = m;
    }
    return t->module_count > 0;
}

/* --- Symbols ---------------------------------------------------------------------------------- */

/* Return true if symbol INDEX of M defines NAME in its default version; store it in *RET. */
static bool
is_definition(const struct target *t, const struct target_module *m, uint32_t index,
              const char *name, struct target_symbol *ret)
{
    char text[NAME_BYTES] = "";
    uint16_t version = 0;
    Elf64_Sym s;

    if (!target_read(t, m->symbols + index * sizeof s, &s, sizeof s) || s.st_shndx == SHN_UNDEF ||
        s.st_value == 0)
        return false;
    text[target_read_some(t, m->names + s.st_name, text, sizeof text - 1)] = '\0';
    if (strcmp(text, name) != 0)
        return false;
    if (m->versions != 0)
        target_read(t, m->versions + index * sizeof version, &version, sizeof version);
    if (version & HIDDEN_VERSION)
        return false;
    *ret = (struct target_symbol){m->bias + s.st_value, s.st_size, ELF64_ST_TYPE(s.st_info), m};
    return true;
}

static bool
find_by_gnu_hash(const struct target *t, const struct target_module *m, const char *name,
                 struct target_symbol *ret)
{
    uint32_t head[4], hash = 5381, index, value; // Buckets, first symbol, words of the filter.
    uint64_t buckets, chain;

    for (const char *c = name; *c != '\0'; c++)
        hash = hash * 33 + (unsigned char)*c;
    if (!target_read(t, m->gnu_hash, head, sizeof head) || head[0] == 0)
        return false;
    buckets = m->gnu_hash + sizeof head + head[2] * (uint64_t)8;
    chain = buckets + head[0] * (uint64_t)4;
    if (!target_read(t, buckets + hash % head[0] * (uint64_t)4, &index, sizeof index) ||
        index < head[1])
        return false;
    for (int i = 0; i < CHAIN_MAX; i++, index++) {
        if (!target_read(t, chain + (index - head[1]) * (uint64_t)4, &value, sizeof value))
            return false;
        if ((value | 1) == (hash | 1) && is_definition(t, m, index, name, ret))
            return true;
        if (value & 1)
            return false;
    }
    return false;
}

static bool
find_by_hash(const struct target *t, const struct target_module *m, const char *name,
             struct target_symbol *ret)
{
    uint32_t head[2], hash = 0, index, steps = 0; // Numbers of buckets and of symbols.

    for (const char *c = name; *c != '\0'; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    if (!target_read(t, m->hash, head, sizeof head) || head[0] == 0 ||
        !target_read(t, m->hash + (2 + hash % head[0]) * (uint64_t)4, &index, sizeof index))
        return false;
    while (index != 0 && steps < CHAIN_MAX && steps++ < head[1]) {
        if (is_definition(t, m, index, name, ret))
            return true;
        if (!target_read(t, m->hash + (2 + (uint64_t)head[0] + index) * 4, &index, sizeof index))
            return false;
    }
    return false;
}

bool
target_find(const struct target *t, const char *name, struct target_symbol *ret)
{
    for (size_t i = 0; i < t->module_count; i++) {
        const struct target_module *m = &t->modules[i];

        if (m->symbols == 0 || m->names == 0)
            continue;
        if (m->gnu_hash != 0 ? find_by_gnu_hash(t, m, name, ret)
                             : m->hash != 0 && find_by_hash(t, m, name, ret))
            return true;
    }
    return false;
}

/* --- Opening ---------------------------------------------------------------------------------- */

const char *
target_status(struct target *t, uint32_t tid, const char *key)
{
    FILE *f = fopen(arena_printf(&t->arena, "/proc/%u/task/%u/status", t->pid, tid), "re");
    const char *found = NULL;
    char line[1024];

    while (f != NULL && found == NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, key, strlen(key)) == 0)
            found = arena_strdup(&t->arena, line + strlen(key) + strspn(line + strlen(key), " \t"));
    }
    if (f != NULL)
        fclose(f);
    return found;
}

/* Check that process PID is a 64-bit program for this processor. */
static int
check_program(struct target *t, struct err *err)
{
    int fd = open(arena_printf(&t->arena, "/proc/%u/task/%u/exe", t->pid, t->thread),
                  O_RDONLY | O_CLOEXEC);
    unsigned char ident[EI_NIDENT] = {0};

    if (fd < 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot read the program of process %u", t->pid);
    if (read(fd, ident, sizeof ident) != sizeof ident || memcmp(ident, ELFMAG, SELFMAG) != 0)
        ident[EI_CLASS] = ELFCLASSNONE;
    close(fd);
    if (ident[EI_CLASS] == ELFCLASS32)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u runs a 32-bit program, which heaptap does not record", t->pid);
    if (ident[EI_CLASS] != ELFCLASS64)
        return err_set(err, HEAPTAP_BAD_INPUT, "process %u runs no ELF program", t->pid);
    return 0;
}

/* Return true if process T runs in the memory of its parent, as the child of a vfork does. */
static bool
is_guest(struct target *t)
{
    enum { KCMP_VM_ = 1 };
    const char *parent = target_status(t, t->pid, "PPid:");
    uint32_t id = parent != NULL ? (uint32_t)strtoul(parent, NULL, 10) : 0;

    return id != 0 && syscall(SYS_kcmp, t->pid, id, KCMP_VM_, 0, 0) == 0;
}

/* Return true if a thread of T has seccomp's mode MODE. */
static bool
any_filter(struct target *t, const char *mode)
{
    DIR *d = opendir(arena_printf(&t->arena, "/proc/%u/task", t->pid));
    struct dirent *entry;
    bool any = false;

    while (d != NULL && !any && (entry = readdir(d)) != NULL) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        const char *its = tid != 0 ? target_status(t, tid, "Seccomp:") : NULL;

        any = its != NULL && strcmp(its, mode) == 0;
    }
    if (d != NULL)
        closedir(d);
    return any;
}

/* Check that T is alive, has memory, and shares it with no other process. */
static int
check_life(struct target *t, struct err *err)
{
    const char *state, *features;

    t->thread = processes_thread(t->pid);
    state = target_status(t, t->thread, "State:");
    if (state == NULL)
        return err_set(err, HEAPTAP_BAD_INPUT, "there is no process %u", t->pid);
    if (*state == 'Z' || *state == 'X')
        return err_set(err, HEAPTAP_BAD_INPUT, "process %u has ended", t->pid);
    if (target_status(t, t->thread, "VmSize:") == NULL)
        return err_set(err, HEAPTAP_BAD_INPUT, "process %u is a thread of the kernel", t->pid);
    if (is_guest(t))
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u runs in the memory of another process (vfork); attach to the "
                       "parent, or later", t->pid);
    if (any_filter(t, "1"))
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "a thread of process %u has forbidden nearly all system calls (strict "
                       "seccomp)",
                       t->pid);
    t->is_filtered = any_filter(t, "2");
    features = target_status(t, t->thread, "x86_Thread_features:");
    t->has_shadow_stack = features != NULL && strstr(features, "shstk") != NULL;
    return 0;
}

int
target_open(uint32_t pid, struct target *ret, struct err *err)
{
    int r;

    *ret = (struct target){.pid = pid, .memory_fd = -1};
    r = check_life(ret, err);
    if (r == 0)
        ret->memory_fd =
            open(arena_printf(&ret->arena, "/proc/%u/task/%u/mem", pid, ret->thread),
                 O_RDWR | O_CLOEXEC);
    if (r == 0 && ret->memory_fd < 0)
        r = err_errno(err, HEAPTAP_BAD_INPUT,
                      "cannot change the memory of process %u; run heaptap as its user or as root, "
                      "and see kernel.yama.ptrace_scope", pid);
    if (r == 0)
        r = check_program(ret, err);
    if (r == 0) {
        target_read_maps(ret);
        if (!read_modules(ret))
            r = err_set(err, HEAPTAP_BAD_INPUT,
                        "process %u runs a static program; link the recorder into it "
                        "(docs/guide/linking.md)", pid);
    }
    if (r != 0)
        target_close(ret);
    return r;
}

void
target_close(struct target *t)
{
    if (t->memory_fd >= 0)
        close(t->memory_fd);
    t->memory_fd = -1;
    arena_release(&t->arena);
}
