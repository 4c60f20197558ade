/* executable.c: recognises programs into which no recorder can be preloaded.
 *
 * `run --fail-on` needs this for the programs that the recorded processes execute. The tools check
 * the program that the user names (launch/program.c), with more care and better remedies. Here the
 * headers suffice: an ELF file without a dynamic linker is static, unless a recorder is linked into
 * it, which a note shows. A script is executed by its interpreter, so that file counts.
 *
 * The check runs in a stranger's process before each exec, perhaps in a vfork child. It changes no
 * memory but the stack. Nothing in the file is trusted: the number of headers, notes and
 * interpreters is bounded. */
#include "platform/executable.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fmt.h"
#include "platform/host.h"
#include "platform/sys.h"

enum { HEADERS_MAX = 64, NOTES_BYTES = 1024, LINE_BYTES = 257, INTERPRETERS_MAX = 4 };

#define MUSL_LINKER "ld-musl-"

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool
begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Return true if the segment of notes S in the file FD has the note of a linked-in recorder. */
static bool
has_recorder_note(int fd, const Elf64_Phdr *s)
{
    unsigned char notes[NOTES_BYTES];
    size_t bytes = s->p_filesz < sizeof notes ? s->p_filesz : sizeof notes, at = 0;
    long got = sys_pread(fd, notes, bytes, s->p_offset);

    while (got > 0 && at + sizeof(Elf64_Nhdr) + sizeof DORMANT_NOTE_OWNER <= (size_t)got) {
        Elf64_Nhdr n;

        memcpy(&n, notes + at, sizeof n);
        if (n.n_type == DORMANT_NOTE_TYPE && n.n_namesz == sizeof DORMANT_NOTE_OWNER &&
            memcmp(notes + at + sizeof n, DORMANT_NOTE_OWNER, sizeof DORMANT_NOTE_OWNER) == 0)
            return true;
        at += sizeof n + round_up((uint64_t)n.n_namesz, 4) + round_up((uint64_t)n.n_descsz, 4);
    }
    return false;
}

/* Return true if the segment S of the file FD names musl's dynamic linker. */
static bool
names_musl(int fd, const Elf64_Phdr *s)
{
    char path[64];
    size_t bytes = s->p_filesz < sizeof path ? s->p_filesz : sizeof path - 1;
    long got = sys_pread(fd, path, bytes, s->p_offset);

    path[got > 0 ? got : 0] = '\0';
    return begins_with(base_name(path), MUSL_LINKER);
}

/* Return the result for the ELF file FD, at PATH, with HEADER. */
static enum unrecordable
elf_unrecordable(int fd, const char *path, const Elf64_Ehdr *header)
{
    const char *name = base_name(path);
    bool is_dynamic = begins_with(name, "ld-linux") || begins_with(name, "ld-2") ||
                      begins_with(name, "ld.so");

    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64)
        return UNRECORDABLE_FOREIGN;
    if (begins_with(name, MUSL_LINKER))
        return UNRECORDABLE_MUSL;
    for (uint32_t i = 0; i < header->e_phnum && i < HEADERS_MAX; i++) {
        Elf64_Phdr s;

        if (sys_pread(fd, &s, sizeof s, header->e_phoff + (uint64_t)i * header->e_phentsize) !=
            sizeof s)
            return UNRECORDABLE_NO;
        if (s.p_type == PT_NOTE && has_recorder_note(fd, &s))
            return UNRECORDABLE_NO;
        if (s.p_type == PT_INTERP && names_musl(fd, &s))
            return UNRECORDABLE_MUSL;
        is_dynamic |= s.p_type == PT_INTERP;
    }
    return is_dynamic ? UNRECORDABLE_NO : UNRECORDABLE_STATIC;
}

/* Store the interpreter in LINE, the first line of a script, at its start. Return false if there is
 * none. */
static bool
take_interpreter(char *line)
{
    char *from = line + 2, *to = line;

    while (*from == ' ' || *from == '\t')
        from++;
    while (*from != '\0' && *from != ' ' && *from != '\t' && *from != '\n')
        *to++ = *from++;
    *to = '\0';
    return to != line;
}

/* Open the regular file PATH, which somebody may execute. Return a descriptor, or a negative error
 * number. Set *RET_RIGHTS if the kernel gives its program more rights than this process has. */
static int
open_program(const char *path, bool *ret_rights)
{
    int fd = sys_open(path, O_PATH, 0);
    struct stat st;
    bool is_program = fd >= 0 && sys_fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                      (st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;

    if (fd >= 0)
        sys_close(fd);
    if (!is_program)
        return -1;
    *ret_rights = sys_gives_rights(path, &st);
    return sys_open(path, O_RDONLY, 0);
}

static enum unrecordable
file_unrecordable(const char *path)
{
    union {
        Elf64_Ehdr header;
        char line[LINE_BYTES];
    } start;

    for (int i = 0; i < INTERPRETERS_MAX; i++) {
        bool gives_rights = false;
        int fd = open_program(path, &gives_rights);
        enum unrecordable why = UNRECORDABLE_NO;
        long got = fd >= 0 ? sys_pread(fd, &start, sizeof start - 1, 0) : 0;
        bool is_elf = got >= (long)sizeof start.header &&
                      memcmp(start.header.e_ident, ELFMAG, SELFMAG) == 0;

        // The kernel ignores these rights of a script.
        if (gives_rights && (is_elf || fd < 0))
            why = UNRECORDABLE_RIGHTS;
        else if (is_elf)
            why = elf_unrecordable(fd, path, &start.header);
        if (fd >= 0)
            sys_close(fd);
        start.line[got > 0 ? got : 0] = '\0';
        if (is_elf || got < 2 || !begins_with(start.line, "#!") || !take_interpreter(start.line))
            return why;
        path = start.line;
    }
    return UNRECORDABLE_NO;
}

enum unrecordable
executable_unrecordable(const char *path, bool searches)
{
    const char *at = host_environment("PATH");
    char candidate[PATH_MAX];

    if (!searches || strchr(path, '/') != NULL)
        return file_unrecordable(path);
    while (at != NULL) {
        struct fmt f = fmt_init(candidate, sizeof candidate);
        bool gives_rights;
        int fd;

        for (; *at != '\0' && *at != ':'; at++)
            fmt_char(&f, *at);
        fmt_str(&f, f.length == 0 ? "./" : "/");
        fmt_str(&f, path);
        fd = f.cut ? -1 : open_program(candidate, &gives_rights);
        if (fd >= 0) {
            sys_close(fd);
            return file_unrecordable(candidate);
        }
        at = *at == ':' ? at + 1 : NULL;
    }
    return UNRECORDABLE_NO;
}
