/* program.c: find the file to run and check that it can be recorded.
 *
 * The recorder is preloaded, which requires the dynamic linker that the recorder was built for. A
 * program with a recorder linked in needs no preload. Other programs are refused here with a
 * remedy, because the loader would ignore the recorder silently. */
#include "launch/launch.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "symbol/elf_names.h"
#include "symbol/runtime_heap.h"
#include "util/path.h"

#define MUSL_LINKER "ld-musl-"

enum { DYNAMIC_MAX = 256 };

static const char static_other[] = "it is statically linked, so nothing can be preloaded into it; "
                                   "link it with libheaptap_static.a";
static const char static_go[] = "it is a static Go program, and Go allocates objects from its own "
                                "heap, which heaptap does not see: runtime/pprof writes a profile "
                                "of them";

static const char needs_glibc[] = "its C library is musl, and libheaptap.so needs glibc; link it "
                                  "statically with musl/libheaptap_static.a";

static bool
is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Return true if SEGMENT of the ELF file FD names musl's dynamic linker. */
static bool
is_musl(int fd, const Elf64_Phdr *segment)
{
    char path[64] = "";
    size_t length = segment->p_filesz < sizeof path ? segment->p_filesz : sizeof path - 1;

    return pread(fd, path, length, (off_t)segment->p_offset) > 0 && strstr(path, "/" MUSL_LINKER);
}

/* Return true if the dynamic section of the ELF file FD, in SEGMENT, names a shared object. The
 * dynamic linker itself has such a name, and preloads into the program that it is passed. A static
 * executable may have a dynamic section, but no name. */
static bool
is_dynamic_linker(int fd, const Elf64_Phdr *segment)
{
    Elf64_Dyn entries[DYNAMIC_MAX];
    size_t bytes = segment->p_filesz < sizeof entries ? segment->p_filesz : sizeof entries;
    ssize_t got = pread(fd, entries, bytes, (off_t)segment->p_offset);

    for (size_t i = 0; got > 0 && i < (size_t)got / sizeof *entries; i++)
        if (entries[i].d_tag == DT_SONAME)
            return true;
    return false;
}

const char *
program_cannot_be_recorded(const char *path)
{
    union {
        unsigned char ident[EI_NIDENT];
        Elf64_Ehdr header;
    } u = {{0}};
    Elf64_Phdr segment;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const char *why = NULL;
    bool dynamic = false;

    if (fd < 0)
        return NULL;
    if (pread(fd, &u, sizeof u, 0) < EI_NIDENT || memcmp(u.ident, ELFMAG, SELFMAG) != 0)
        dynamic = true;
    else if (u.ident[EI_CLASS] != ELFCLASS64 || u.header.e_machine != EM_X86_64)
        why = "it is built for another architecture than this heaptap";
    else if (strncmp(path_basename(path), MUSL_LINKER, strlen(MUSL_LINKER)) == 0)
        why = needs_glibc; // musl's dynamic linker has no name inside.
    for (int i = 0; why == NULL && !dynamic && i < u.header.e_phnum; i++) {
        off_t off = (off_t)(u.header.e_phoff + (uint64_t)i * u.header.e_phentsize);

        if (pread(fd, &segment, sizeof segment, off) != sizeof segment)
            break;
        dynamic = segment.p_type == PT_INTERP ||
                  (segment.p_type == PT_DYNAMIC && is_dynamic_linker(fd, &segment));
        if (segment.p_type == PT_INTERP && is_musl(fd, &segment))
            why = needs_glibc;
    }
    if (why == NULL && !dynamic && !linked_note_in(fd, &u.header))
        why = elf_names_has_section(path, GO_SECTION) ? static_go : static_other;
    close(fd);
    return why;
}

bool
program_has_more_rights(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 &&
           (((st.st_mode & S_ISUID) != 0 && st.st_uid != getuid()) ||
            ((st.st_mode & S_ISGID) != 0 && st.st_gid != getgid()) ||
            (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0));
}

int
program_find(const char *program, struct arena *arena, const char **ret_path, struct err *err)
{
    const char *set = getenv("PATH");
    const char *path = set ? set : "/usr/local/bin:/usr/bin:/bin";
    const char *why;

    *ret_path = NULL;
    if (strchr(program, '/') != NULL)
        *ret_path = access(program, F_OK) == 0 ? program : NULL;
    while (*ret_path == NULL && strchr(program, '/') == NULL && path != NULL) {
        size_t length = strcspn(path, ":");
        // As in execvp, an empty entry is the current directory.
        const char *dir = length ? arena_strndup(arena, path, length) : ".";
        const char *candidate = arena_printf(arena, "%s/%s", dir, program);

        if (is_program(candidate))
            *ret_path = candidate;
        path = path[length] == ':' ? path + length + 1 : NULL;
    }
    if (*ret_path == NULL)
        return err_set(err, HEAPTAP_NOT_FOUND, "no such program: %s", program);
    if (!is_program(*ret_path))
        return err_set(err, HEAPTAP_NO_PROGRAM, "%s cannot be executed", *ret_path);
    why = program_cannot_be_recorded(*ret_path);
    return why ? err_set(err, HEAPTAP_BAD_INPUT, "%s cannot be recorded: %s", *ret_path, why) : 0;
}

/* Return the number of arguments that the dynamic linker's OPTION takes up, itself included. */
static size_t
linker_option_length(const char *option)
{
    static const char *const with_value[] = {
        "--library-path", "--inhibit-rpath", "--audit", "--preload", "--argv0",
        "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask",
    };

    for (size_t i = 0; i < countof(with_value); i++)
        if (strcmp(option, with_value[i]) == 0)
            return 2;
    return 1;
}

const char *
program_loaded(const char *path, char **arguments)
{
    const char *name = path_basename(path);

    if (strncmp(name, "ld-linux", 8) != 0 && strncmp(name, "ld-2", 4) != 0 &&
        strcmp(name, "ld.so") != 0)
        return path;
    for (size_t i = 1; arguments[i] != NULL;) {
        if (strncmp(arguments[i], "--", 2) != 0)
            return is_program(arguments[i]) ? arguments[i] : path;
        for (size_t n = linker_option_length(arguments[i]); n > 0 && arguments[i] != NULL; n--)
            i++;
    }
    return path;
}
