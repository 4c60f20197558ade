/* dwfl.c: open a module's ELF file, find its debug information, and look up frames.
 *
 * Besides debuginfo.c, debug_dirs.c, definitions.c, function_start.c, symbol_table.c and
 * thread_stack.c, this is the only user of elfutils. It follows these rules:
 *
 * The right file or none. A recorded build id must equal the file's, because names from a rebuilt
 * program are plausible and wrong. Places are searched in this order: the recorded path (below the
 * profile's prefix, if any); the user's directories; the recorded path on this system, if there was
 * a prefix; the same path below the process's root (for containers, while the process runs); the
 * debug file of that build id, which also has the symbol table. Without a build id only the first
 * two are searched, the second by name, because an equal name on another system means nothing.
 *
 * Lazy loading. Opening reads headers only. The first request for frames loads debug information,
 * and the first nameless frame loads symbols. This file opens the files named by .gnu_debuglink and
 * .gnu_debugaltlink under the rules of path.h, since libdwfl would open any file. libdwfl
 * handles .gnu_debugdata and, if DEBUGINFOD_URLS is set, the server.
 *
 * Ownership of files. Another user may give a file the build id of any other file. Therefore a
 * separate debug file must belong to root, to us or to the owner of the file that it describes, or
 * lie in a directory that the user named. Split units (debuginfo.c) and the cache (symbol.c) need
 * files that only root or we can have written. The cache also needs the file at the recorded
 * path. */
#include "symbol/dwfl.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "symbol/debug_dirs.h"
#include "symbol/debuginfo.h"
#include "symbol/demangle.h"
#include "symbol/function_start.h"
#include "symbol/symbol_table.h"
#include "util/map.h"
#include "util/path.h"

#define DEBUG_ROOT "/usr/lib/debug"

/* Maximum size of a file that is read for its checksum, which only files without a build id
 * need. */
#define CHECKED_BYTES_MAX (1024 * MIB)

/* Time after which a server that finds nothing is not queried again. libdebuginfod itself waits for
 * 90 s unless DEBUGINFOD_TIMEOUT is set. */
enum { SILENT_S = 5 };

/* Callback for each query to debuginfod. */
static struct {
    void (*report_status)(void *arg, enum symbol_server what, const char *path);
    void *arg;
} server;

/* Result of following .gnu_debugaltlink. */
enum alt_result {
    ALT_ABSENT, // There is no link, or no file at its target.
    ALT_FOUND,
    ALT_REFUSED,
};

struct object {
    struct arena arena;
    Dwfl *dwfl;
    Dwfl_Module *module;
    const char *root, *path; // As given to regular_open.
    uint64_t changed_unix_ns; // Time of the last change of its contents.
    struct debug_dirs *debug_dirs;
    const char *directory;   // Directory of the file with the DWARF, without symbolic links.
    uid_t owner;
    // True if only root or we can have written the file; see "Ownership of files".
    bool trusted;
    bool elsewhere;          // True if this is not the file at the recorded path.
    Dwarf *alt;              // Target of .gnu_debugaltlink, or NULL.
    int alt_fd;              // -1 = none.
    bool debug_loaded;       // debug, debug_bias and detail are valid.
    struct debuginfo *debug; // NULL if there is none.
    Dwarf_Addr debug_bias;   // Address in the file minus address in its DWARF.
    enum symbol_detail detail;
    struct symbol_table symbols;
    struct map names;            // Address of a linkage name to the address of the demangled name.
    bool starts_loaded;
    struct function_starts starts;
};

/* Debug path for libdwfl's own search, which must find nothing: no such file can exist in /proc. */
static char no_place[] = "/proc/heaptap";
static char *debuginfo_path = no_place;

static int find_debug(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                      const char *file, const char *link, GElf_Word crc, char **ret_file);

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debug,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debuginfo_path,
};

static struct object *dwfl_open_file(const char *root, const char *path,
                                     const struct profile_module *m, struct object_failure *ret);
static char *build_id_path(struct arena *arena, const uint8_t *id, size_t id_bytes);
static enum alt_result find_alt(struct object *o, Dwarf *dwarf);
static void load_debug(struct object *o);
static const char *dwfl_demangled(struct object *o, const char *linkage);

struct symbol_paths
object_paths(const struct profile *p, const struct symbol_options *options)
{
    return (struct symbol_paths){
        // A merged profile has only the earliest start, and a copy of a system has other times.
        .start_unix_ns = p->merged_processes == 0 && p->sysroot == NULL ? p->process.start_unix_ns
                                                                        : 0,
        .sysroot = p->sysroot, .pid = profile_pid_here(p), .debug_dirs = options->debug_dirs};
}

/* Open M in the user's directories: by build id or, without one, by name. */
static struct object *
open_named(const struct profile_module *m, struct debug_dirs *dirs)
{
    const char *slash = strrchr(m->path, '/'), *path;
    struct object_failure ignored;
    struct object *o = NULL;
    size_t cursor = 0;

    while (o == NULL && m->build_id_bytes > 1 &&
           (path = debug_dirs_by_id(dirs, m->build_id, m->build_id_bytes, &cursor)) != NULL)
        o = dwfl_open_file(NULL, path, m, &ignored);
    while (o == NULL && m->build_id_bytes == 0 && slash != NULL &&
           (path = debug_dirs_by_name(dirs, slash + 1, &cursor)) != NULL)
        o = dwfl_open_file(NULL, path, m, &ignored);
    return o;
}

/* Open M at other places, where its build id proves that a file is the right one. */
static struct object *
open_elsewhere(const struct profile_module *m, const struct symbol_paths *paths)
{
    struct arena scratch = {0};
    struct object_failure ignored;
    const char *by_id;
    struct object *o = open_named(m, paths->debug_dirs);

    if (o != NULL || m->build_id_bytes < 2)
        return o;
    by_id = build_id_path(&scratch, m->build_id, m->build_id_bytes);
    if (paths->sysroot != NULL)
        o = dwfl_open_file(NULL, m->path, m, &ignored);
    if (o == NULL && paths->pid != 0 && m->path[0] == '/')
        o = dwfl_open_file(arena_printf(&scratch, "/proc/%u/root", paths->pid), m->path, m,
                           &ignored);
    if (o == NULL && paths->sysroot != NULL)
        o = dwfl_open_file(paths->sysroot, by_id, m, &ignored);
    if (o == NULL)
        o = dwfl_open_file(NULL, by_id, m, &ignored);
    arena_release(&scratch);
    return o;
}

/* Return true if PATH below ROOT is the same file as PATH. */
static bool
is_same_here(const char *root, const char *path)
{
    struct stat there, here;
    int there_fd = regular_open(root, path, &there), here_fd = regular_open(NULL, path, &here);
    bool same = there_fd >= 0 && here_fd >= 0 && there.st_dev == here.st_dev &&
                there.st_ino == here.st_ino;

    if (there_fd >= 0)
        close(there_fd);
    if (here_fd >= 0)
        close(here_fd);
    return same;
}

struct object *
object_open(const struct profile_module *m, const struct symbol_paths *paths,
            struct object_failure *ret_failure)
{
    struct object *o = dwfl_open_file(paths->sysroot, m->path, m, ret_failure);

    if (o != NULL && m->build_id_bytes == 0 && paths->start_unix_ns != 0 &&
        o->changed_unix_ns > paths->start_unix_ns) {
        object_close(o);
        *ret_failure = (struct object_failure){.state = OBJECT_CHANGED};
        return NULL;
    }
    // A service with a private mount namespace still uses the system's files.
    bool elsewhere =
        o == NULL || (paths->sysroot != NULL && !is_same_here(paths->sysroot, m->path));

    if (o == NULL)
        o = open_elsewhere(m, paths);
    if (o != NULL) {
        o->debug_dirs = paths->debug_dirs;
        o->elsewhere = elsewhere;
        *ret_failure = (struct object_failure){0};
    }
    return o;
}

Elf *
object_elf(struct object *o)
{
    GElf_Addr bias;

    return dwfl_module_getelf(o->module, &bias);
}

Dwfl_Module *
object_module(struct object *o)
{
    return o->module;
}

uint64_t
object_function_start(struct object *o, uint64_t address)
{
    GElf_Addr bias;

    if (!o->starts_loaded)
        function_starts_open(dwfl_module_getelf(o->module, &bias), &o->starts);
    o->starts_loaded = true;
    return function_start(&o->starts, address);
}

enum symbol_detail
object_detail(struct object *o)
{
    load_debug(o);
    return o->detail;
}

bool
object_may_be_cached(const struct object *o)
{
    return o->trusted && !o->elsewhere;
}

void
object_close(struct object *o)
{
    if (o == NULL)
        return;
    debuginfo_close(o->debug);
    dwfl_end(o->dwfl);
    if (o->alt != NULL)
        dwarf_end(o->alt);
    if (o->alt_fd >= 0)
        close(o->alt_fd);
    map_release(&o->names);
    arena_release(&o->arena);
    free(o);
}

/* Complete the frame RAW by the symbol at RAW->entry or, if that is unknown and the frame is not
 * inlined, at ADDRESS. */
static void
finish_frame(struct object *o, const struct debug_frame *raw, uint64_t address,
             struct symbol_frame *frame)
{
    const struct symbol *s = NULL;
    const char *linkage;

    *frame = raw->frame;
    if (frame->linkage == NULL && (raw->entry != 0 || !frame->inlined))
        s = symbol_table_find(&o->symbols, o->module,
                              raw->entry != 0 ? raw->entry + o->debug_bias : address, &o->arena);
    if (frame->linkage == NULL && s == NULL) {
        frame->linkage = frame->function;
        return;
    }
    if (frame->linkage == NULL)
        frame->linkage = s->name;
    linkage = frame->linkage;
    // Compilers mark methods of a type in an unnamed namespace as external.
    frame->local = frame->local || strstr(linkage, "_GLOBAL__N_") != NULL;
    // If DWARF has the function's name, a part that the compiler split off has the same name.
    if (frame->function != NULL && s != NULL)
        linkage = demangle_strip_clone(&o->arena, linkage);
    if (frame->function == NULL || strncmp(linkage, "_Z", 2) == 0)
        frame->function = dwfl_demangled(o, linkage);
}

size_t
object_frames(struct object *o, uint64_t address, struct symbol_frame frames[SYMBOL_FRAMES_MAX])
{
    struct debug_frame raw[SYMBOL_FRAMES_MAX];
    size_t count = 0;

    load_debug(o);
    if (o->debug != NULL)
        count = debuginfo_frames(o->debug, address - o->debug_bias, raw);
    if (count == 0) {
        raw[0] = (struct debug_frame){0};
        count = 1;
    }
    for (size_t i = 0; i < count; i++)
        finish_frame(o, &raw[i], address, &frames[i]);
    return count;
}

struct debuginfo *
object_debuginfo(struct object *o, uint64_t *ret_bias)
{
    load_debug(o);
    *ret_bias = o->debug_bias;
    return o->debug;
}

/* Open the ELF file PATH below ROOT. Return a descriptor or a negative error number: -ENOEXEC if it
 * is not an ELF file. libdwfl would also accept compressed files, and unpack them to any size. */
static int
dwfl_open_elf(const char *root, const char *path, struct stat *ret_stat)
{
    char magic[SELFMAG];
    int fd = regular_open(root, path, ret_stat);

    if (fd < 0)
        return fd;
    if (pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
        memcmp(magic, ELFMAG, SELFMAG) == 0)
        return fd;
    close(fd);
    return -ENOEXEC;
}

static struct object_failure
failure_of(int error)
{
    struct object_failure f = {.state = OBJECT_UNREADABLE, .reason = "it cannot be opened"};

    switch (-error) {
    case ENOENT:
    case ENOTDIR:
        f.state = OBJECT_MISSING;
        break;
    case EACCES:
        f.reason = "permission denied";
        break;
    case ENODEV:
        f.reason = "not a regular file";
        break;
    case ENOEXEC:
        f.reason = "not an ELF file";
        break;
    default:
        break;
    }
    return f;
}

/* Return true if the file's build id is the recorded one, or none was recorded. */
static bool
is_recorded_file(Dwfl_Module *module, const struct profile_module *m, struct object_failure *ret)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    const void *id = NULL;
    ssize_t bytes = elf != NULL ? dwelf_elf_gnu_build_id(elf, &id) : -1;

    if (m->build_id_bytes == 0)
        return true;
    if (bytes == (ssize_t)m->build_id_bytes && memcmp(id, m->build_id, (size_t)bytes) == 0)
        return true;
    *ret = (struct object_failure){.state = OBJECT_CHANGED};
    if (bytes > 0 && bytes <= PROFILE_BUILD_ID_MAX) {
        memcpy(ret->build_id, id, (size_t)bytes);
        ret->build_id_bytes = (uint32_t)bytes;
    }
    return false;
}

/* Return the kernel's path of the directory of the open file FD, or NULL. */
static const char *
dwfl_directory_of(struct arena *arena, int fd)
{
    char link[32], path[4096];
    ssize_t length;
    char *slash;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    slash = strrchr(path, '/');
    return slash != NULL ? arena_strndup(arena, path, (size_t)(slash - path)) : NULL;
}

/* Pass FD to libdwfl and return the object; NULL with *RET set if libdwfl cannot use the file. */
static struct object *
make_object(int fd, const char *root, const char *path, const struct stat *st,
            struct object_failure *ret)
{
    struct object *o = xmalloc(sizeof *o);
    void **userdata;

    *o = (struct object){.changed_unix_ns = regular_changed_unix_ns(st),
                         .owner = st->st_uid, .trusted = regular_is_trusted(st), .alt_fd = -1};
    o->root = root != NULL ? arena_strdup(&o->arena, root) : NULL;
    o->path = arena_strdup(&o->arena, path);
    o->directory = dwfl_directory_of(&o->arena, fd);
    o->dwfl = dwfl_begin(&callbacks);
    o->module = o->dwfl != NULL ? dwfl_report_elf(o->dwfl, path, path, fd, 0, true) : NULL;
    if (o->module == NULL) {
        // libdwfl owns the descriptor only on success.
        close(fd);
        *ret = failure_of(-ENOEXEC);
        object_close(o);
        return NULL;
    }
    dwfl_report_end(o->dwfl, NULL, NULL);
    dwfl_module_info(o->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
    *userdata = o;
    return o;
}

static struct object *
dwfl_open_file(const char *root, const char *path, const struct profile_module *m,
               struct object_failure *ret)
{
    struct stat st;
    int fd = dwfl_open_elf(root, path, &st);
    struct object *o;

    if (fd < 0) {
        *ret = failure_of(fd);
        return NULL;
    }
    o = make_object(fd, root, path, &st, ret);
    if (o != NULL && !is_recorded_file(o->module, m, ret)) {
        object_close(o);
        return NULL;
    }
    return o;
}

void
object_report(const struct object *o, Dwfl *dwfl, uint64_t bias)
{
    struct stat st;
    int fd = dwfl_open_elf(o->root, o->path, &st);

    if (fd >= 0 && dwfl_report_elf(dwfl, o->path, o->path, fd, bias, true) == NULL)
        close(fd);
}

/* Return the path where distributions install the debug file of the build id ID. */
static char *
build_id_path(struct arena *arena, const uint8_t *id, size_t id_bytes)
{
    char hex[2 * PROFILE_BUILD_ID_MAX + 1] = "";

    for (size_t i = 1; i < id_bytes && i < PROFILE_BUILD_ID_MAX; i++)
        snprintf(hex + 2 * (i - 1), 3, "%02x", id[i]);
    return arena_printf(arena, DEBUG_ROOT "/.build-id/%02x/%s.debug", id[0], hex);
}

/* Return true if ELF has a section of that NAME (NULL = any) and TYPE (0 = any). */
static bool
has_section(Elf *elf, const char *name, GElf_Word type)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        const char *found;

        if (gelf_getshdr(section, &header) == NULL || (type != 0 && header.sh_type != type))
            continue;
        found = elf_strptr(elf, names, header.sh_name);
        if (name == NULL || (found != NULL && strcmp(found, name) == 0))
            return true;
    }
    return false;
}

/* Return the checksum of the file FD as in .gnu_debuglink. */
static GElf_Word
link_checksum(int fd)
{
    unsigned char chunk[65536];
    GElf_Word crc = UINT32_MAX;
    off_t off = 0;
    ssize_t n;

    while ((n = pread(fd, chunk, sizeof chunk, off)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            crc ^= chunk[i];
            for (unsigned bit = 0; bit < 8; bit++)
                crc = crc >> 1 ^ (UINT32_C(0xedb88320) & -(crc & 1));
        }
        off += n;
    }
    return ~crc;
}

/* Return true if the build id of ELF is the ID_BYTES at ID. */
static bool
has_build_id(Elf *elf, const void *id, ssize_t id_bytes)
{
    const void *found;

    return elf != NULL && id_bytes > 0 && dwelf_elf_gnu_build_id(elf, &found) == id_bytes &&
           memcmp(found, id, (size_t)id_bytes) == 0;
}

/* Return true if the debug file FD with status ST belongs to O, by build id or, if O has none, by
 * the checksum CRC. */
static bool
is_debug_file_of(struct object *o, int fd, const struct stat *st, const GElf_Word *crc)
{
    GElf_Addr bias;
    const void *id;
    ssize_t id_bytes = dwelf_elf_gnu_build_id(dwfl_module_getelf(o->module, &bias), &id);
    bool belongs;
    Elf *elf;

    if (id_bytes <= 0)
        return crc != NULL && st->st_size <= (off_t)CHECKED_BYTES_MAX && link_checksum(fd) == *crc;
    elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    belongs = has_build_id(elf, id, id_bytes);
    elf_end(elf);
    return belongs;
}

static int
try_debug(struct object *o, const char *root, const char *path, const GElf_Word *crc)
{
    struct stat st;
    int fd = dwfl_open_elf(root, path, &st);

    if (fd < 0)
        return -1;
    if ((regular_is_trusted(&st) || st.st_uid == o->owner) &&
        is_debug_file_of(o, fd, &st, crc)) {
        o->directory = dwfl_directory_of(&o->arena, fd);
        o->trusted = o->trusted && regular_is_trusted(&st);
        return fd;
    }
    close(fd);
    return -1;
}

/* Open PATH, in a directory that the user named, if it belongs to O. Its owner may be anyone, so
 * O's results must not be cached. */
static int
try_named(struct object *o, const char *path, const GElf_Word *crc)
{
    struct stat st;
    int fd = dwfl_open_elf(NULL, path, &st);

    if (fd < 0)
        return -1;
    if (is_debug_file_of(o, fd, &st, crc)) {
        o->directory = dwfl_directory_of(&o->arena, fd);
        o->trusted = o->trusted && regular_is_trusted(&st);
        o->elsewhere = true;
        return fd;
    }
    close(fd);
    return -1;
}

/* Open the debug file of O, with the build id ID and the LINK, in the user's directories. Return -1
 * if there is none. */
static int
find_named(struct object *o, const void *id, ssize_t id_bytes, const char *link,
           const GElf_Word *crc)
{
    const char *path;
    size_t cursor = 0;
    int fd = -1;

    while (fd < 0 && id_bytes > 1 &&
           (path = debug_dirs_by_id(o->debug_dirs, id, (size_t)id_bytes, &cursor)) != NULL)
        fd = try_named(o, path, NULL);
    while (fd < 0 && id_bytes <= 0 && link != NULL && strchr(link, '/') == NULL &&
           (path = debug_dirs_by_name(o->debug_dirs, link, &cursor)) != NULL)
        fd = try_named(o, path, crc);
    return fd;
}

/* Open the debug file in O's .gnu_debuglink, in the usual places. Return -1 if there is none. The
 * link must be a plain name, so that it cannot lead elsewhere. */
static int
follow_link(struct object *o, Elf *elf)
{
    GElf_Word crc;
    const char *link = dwelf_elf_gnu_debuglink(elf, &crc);
    const char *slash = strrchr(o->path, '/');
    int length = slash != NULL ? (int)(slash - o->path) : 0;
    struct arena scratch = {0};
    int fd = -1;

    if (link != NULL && slash != NULL && strchr(link, '/') == NULL) {
        const char *places[] = {
            arena_printf(&scratch, "%.*s/%s", length, o->path, link),
            arena_printf(&scratch, "%.*s/.debug/%s", length, o->path, link),
            arena_printf(&scratch, DEBUG_ROOT "%.*s/%s", length, o->path, link),
        };

        for (size_t i = 0; i < countof(places) && fd < 0; i++)
            fd = try_debug(o, o->root, places[i], &crc);
    }
    arena_release(&scratch);
    return fd;
}

void
object_report_server(void (*report_status)(void *arg, enum symbol_server what, const char *path),
                     void *arg)
{
    server.report_status = report_status;
    server.arg = arg;
}

static void
report_server(enum symbol_server what, const char *path)
{
    if (server.report_status != NULL)
        server.report_status(server.arg, what, path);
}

static uint64_t
now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec;
}

/* Let libdwfl query the debuginfod servers, if any. After a timeout they are disabled, because they
 * would time out for each module. */
static int
ask_libdwfl(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
            const char *file, GElf_Word crc, char **ret_file)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    bool is_asked = urls != NULL && *urls != '\0', is_silent;
    uint64_t before = now_s();
    int fd;

    if (is_asked) {
        report_server(SERVER_ASKED, file);
        // By default libdebuginfod would wait three times.
        setenv("DEBUGINFOD_RETRY_LIMIT", "0", 0);
    }
    fd = dwfl_standard_find_debuginfo(module, userdata, name, base, file, NULL, crc, ret_file);
    is_silent = is_asked && fd < 0 && now_s() - before >= SILENT_S;
    if (is_silent)
        setenv("DEBUGINFOD_URLS", "", 1);
    if (is_asked)
        report_server(is_silent ? SERVER_SILENT : SERVER_ANSWERED, file);
    return fd;
}

/* Find a separate debug file, as libdwfl's callback. libdwfl also calls this for .gnu_debugaltlink,
 * which find_alt handles instead. */
static int
find_debug(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
           const char *file, const char *link, GElf_Word crc, char **ret_file)
{
    struct object *o = *userdata;
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    GElf_Word own_crc;
    const char *own_link = elf != NULL ? dwelf_elf_gnu_debuglink(elf, &own_crc) : NULL;
    struct arena scratch = {0};
    const void *id;
    ssize_t id_bytes;
    int fd = -1;

    if (o == NULL || elf == NULL ||
        (link != NULL && (own_link == NULL || strcmp(link, own_link) != 0)))
        return -1;
    id_bytes = dwelf_elf_gnu_build_id(elf, &id);
    fd = find_named(o, id, id_bytes, own_link, &own_crc);
    if (fd < 0 && id_bytes > 1 && id_bytes <= PROFILE_BUILD_ID_MAX) {
        const char *path = build_id_path(&scratch, id, (size_t)id_bytes);

        fd = try_debug(o, o->root, path, NULL);
        if (fd < 0 && o->root != NULL)
            fd = try_debug(o, NULL, path, NULL);
    }
    if (fd < 0)
        fd = follow_link(o, elf);
    arena_release(&scratch);
    return fd >= 0 ? fd : ask_libdwfl(module, userdata, name, base, file, crc, ret_file);
}

/* Open PATH as O->alt if its build id is ID. */
static enum alt_result
try_alt(struct object *o, const char *root, const char *path, const void *id, ssize_t id_bytes)
{
    struct stat st;
    int fd = dwfl_open_elf(root, path, &st);

    if (fd < 0)
        return fd == -ENOENT || fd == -ENOTDIR ? ALT_ABSENT : ALT_REFUSED;
    if (regular_is_trusted(&st) || st.st_uid == o->owner)
        o->alt = dwarf_begin(fd, DWARF_C_READ);
    if (o->alt != NULL && has_build_id(dwarf_getelf(o->alt), id, id_bytes)) {
        o->alt_fd = fd;
        return ALT_FOUND;
    }
    dwarf_end(o->alt);
    o->alt = NULL;
    close(fd);
    return ALT_REFUSED;
}

/* Open the file that dwz shares between debug files. If a wrong file is there, DWARF is unusable,
 * because libdw would search for it and use it. If no file is there, libdw does not find one
 * either. */
static enum alt_result
find_alt(struct object *o, Dwarf *dwarf)
{
    const char *name;
    const void *id;
    ssize_t id_bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
    struct arena scratch = {0};
    const char *by_id;
    enum alt_result result;

    if (id_bytes <= 0)
        return ALT_ABSENT;
    if (id_bytes == 1 || id_bytes > PROFILE_BUILD_ID_MAX)
        return ALT_REFUSED;
    by_id = build_id_path(&scratch, id, (size_t)id_bytes);
    result = try_alt(o, o->root, by_id, id, id_bytes);
    if (result == ALT_ABSENT && o->root != NULL)
        result = try_alt(o, NULL, by_id, id, id_bytes);
    if (result == ALT_ABSENT && name[0] == '/')
        result = try_alt(o, o->root, name, id, id_bytes);
    else if (result == ALT_ABSENT && o->directory != NULL)
        result =
            try_alt(o, NULL, arena_printf(&scratch, "%s/%s", o->directory, name), id, id_bytes);
    if (result == ALT_FOUND)
        dwarf_setalt(dwarf, o->alt);
    arena_release(&scratch);
    return result;
}

static void
load_debug(struct object *o)
{
    Dwarf *dwarf;
    GElf_Addr bias;
    Elf *elf;

    if (o->debug_loaded)
        return;
    o->debug_loaded = true;
    dwarf = dwfl_module_getdwarf(o->module, &o->debug_bias);
    if (dwarf != NULL && find_alt(o, dwarf) != ALT_REFUSED)
        o->debug = debuginfo_open(dwarf, o->trusted ? o->directory : NULL, &o->arena);
    elf = dwfl_module_getelf(o->module, &bias);
    if (o->debug != NULL && debuginfo_has_code(o->debug))
        o->detail = DETAIL_DEBUG;
    else if (elf != NULL && has_section(elf, NULL, SHT_SYMTAB))
        o->detail = DETAIL_SYMBOLS;
    else if (dwfl_module_getsymtab(o->module) > 1)
        o->detail = DETAIL_EXPORTS;
}

/* Return LINKAGE demangled, cached by the address of the string. */
static const char *
dwfl_demangled(struct object *o, const char *linkage)
{
    bool is_new;
    uint64_t *name = map_put(&o->names, (uintptr_t)linkage, &is_new);

    if (is_new)
        *name = (uintptr_t)demangle(&o->arena, linkage);
    return (const char *)(uintptr_t)*name;
}

/* Return true if the file PATH below ROOT exists and is readable. */
static bool
exists(const char *root, const char *path)
{
    struct stat st;
    int fd = regular_open(root, path, &st);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Return true if the file in ELF's .gnu_debuglink exists in a usual place for PATH, below ROOT. */
static bool
debug_link_exists(Elf *elf, const char *root, const char *path)
{
    struct arena scratch = {0};
    GElf_Word crc;
    const char *link = dwelf_elf_gnu_debuglink(elf, &crc);
    const char *slash = strrchr(path, '/');
    bool found = false;

    if (link != NULL && slash != NULL && strchr(link, '/') == NULL) {
        int length = (int)(slash - path);

        found = exists(root, arena_printf(&scratch, "%.*s/%s", length, path, link)) ||
                exists(root, arena_printf(&scratch, "%.*s/.debug/%s", length, path, link)) ||
                exists(root, arena_printf(&scratch, DEBUG_ROOT "%.*s/%s", length, path, link));
    }
    arena_release(&scratch);
    return found;
}

/* Return true if the debug file of M exists in the user's directories or the usual ones. */
static bool
debug_file_exists(const struct profile_module *m, const struct symbol_paths *paths)
{
    struct arena scratch = {0};
    const char *path;
    size_t cursor = 0;
    bool found;

    if (m->build_id_bytes < 2)
        return false;
    path = build_id_path(&scratch, m->build_id, m->build_id_bytes);
    found = exists(NULL, path) || (paths->sysroot != NULL && exists(paths->sysroot, path));
    arena_release(&scratch);
    while (!found && (path = debug_dirs_by_id(paths->debug_dirs, m->build_id, m->build_id_bytes,
                                              &cursor)) != NULL)
        found = exists(NULL, path);
    return found;
}

/* Return true if ELF, of the file O, has debug information or a link to some. */
static bool
has_debug(const struct object *o, Elf *elf, const struct profile_module *m)
{
    return has_section(elf, ".debug_info", 0) || has_section(elf, ".zdebug_info", 0) ||
           debug_link_exists(elf, o->root, m->path);
}

enum profile_symbols
object_probe(const struct profile_module *m, const struct symbol_paths *paths,
             struct object_failure *ret_failure)
{
    struct object *o = object_open(m, paths, ret_failure);
    enum profile_symbols found = SYMBOLS_UNKNOWN;
    GElf_Addr bias;
    Elf *elf = o != NULL ? dwfl_module_getelf(o->module, &bias) : NULL;

    if (elf != NULL) {
        if (has_debug(o, elf, m) || debug_file_exists(m, paths))
            found = SYMBOLS_DEBUG;
        else if (has_section(elf, NULL, SHT_SYMTAB))
            found = SYMBOLS_TABLE;
        else
            found = has_section(elf, NULL, SHT_DYNSYM) ? SYMBOLS_EXPORTS : SYMBOLS_NONE;
    }
    object_close(o);
    return found;
}

bool
object_debug_exists(const struct profile_module *m, const struct symbol_paths *paths)
{
    struct object_failure ignored;
    struct object *o;
    bool found = debug_file_exists(m, paths);
    GElf_Addr bias;
    Elf *elf;

    o = found ? NULL : dwfl_open_file(paths->sysroot, m->path, m, &ignored);
    elf = o != NULL ? dwfl_module_getelf(o->module, &bias) : NULL;
    found = found || (elf != NULL && has_debug(o, elf, m));
    object_close(o);
    return found;
}
