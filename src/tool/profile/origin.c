/* origin.c: profile files and running processes.
 *
 * A recorded process has its profile mapped, so the kernel's list of mappings locates the file,
 * even from another namespace (profile/processes_mapped.c). Therefore no registry is needed, which
 * could be out of date. */
#include "profile/origin.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "profile/processes.h"
#include "profile/profile.h"
#include "util/bytes.h"

#define FILE_BYTES_MAX ((uint64_t)16 << 30)

/* Maximum number of candidate processes in an error message. */
enum { MEANT_MAX = 3 };

enum { SOME_BYTES = 1 << 18, LARGE_BYTES = 64 << 20 };

/* Return true if the file system can list the holes of FD, and treats recent writes through a
 * mapping as data. */
static bool
has_holes(int fd)
{
    static const uint32_t magics[] = {0xef53, 0x58465342, 0x01021994}; // ext, xfs, tmpfs
    struct statfs fs;

    if (fstatfs(fd, &fs) != 0)
        return false;
    for (size_t i = 0; i < countof(magics); i++)
        if ((uint32_t)fs.f_type == magics[i])
            return true;
    return false;
}

/* Find the data of FD, a file of SIZE_BYTES. A profile with a reserve of gigabytes may use little
 * of it. The result is not known if the file is small, or its file system hides holes. */
static struct file_parts
find_used(int fd, size_t size_bytes, struct arena *arena)
{
    struct file_part *parts = NULL;
    size_t count = 0, capacity = 0;
    off_t from = 0, end;

    if (size_bytes < LARGE_BYTES || !has_holes(fd))
        return (struct file_parts){.known = false};
    while ((from = lseek(fd, from, SEEK_DATA)) >= 0 && (size_t)from < size_bytes) {
        end = lseek(fd, from, SEEK_HOLE);
        if (end <= from)
            return (struct file_parts){.known = false};
        arena_grow(arena, &parts, &capacity, count, sizeof *parts);
        parts[count++] = (struct file_part){(uint64_t)from, (uint64_t)end};
        from = end;
    }
    if (from < 0 && errno != ENXIO)
        return (struct file_parts){.known = false};
    return (struct file_parts){.v = parts, .count = count, .known = true};
}

/* Read the bytes of FD from FROM up to END into BUFFER, which is the whole file and zero. Data is
 * read through a small buffer, so that zeros take no memory. Return the end of the bytes, which is
 * lower if the file has become shorter. */
static size_t
read_part(int fd, unsigned char *buffer, size_t from, size_t end)
{
    unsigned char *some = xmalloc(SOME_BYTES);

    while (from < end) {
        size_t left = end - from;
        ssize_t n = pread(fd, some, left < SOME_BYTES ? left : SOME_BYTES, (off_t)from);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        bytes_copy_used(buffer + from, some, (size_t)n);
        from += (size_t)n;
    }
    free(some);
    return from;
}

/* Read FD's SIZE_BYTES, or as many as the file has, into BUFFER, which is zero. Return the number
 * of bytes, including holes. */
static size_t
origin_read_all(int fd, const struct file_parts *used, unsigned char *buffer, size_t size_bytes)
{
    if (!used->known)
        return read_part(fd, buffer, 0, size_bytes);
    for (size_t i = 0; i < used->count; i++) {
        size_t end = used->v[i].end < size_bytes ? used->v[i].end : size_bytes;
        size_t got = read_part(fd, buffer, used->v[i].from, end);

        if (got < end)
            return got;
    }
    return size_bytes;
}

/* Open PATH as *RET_FD, if it can be a profile. */
static int
origin_open_file(const char *path, int *ret_fd, size_t *ret_bytes, struct file_owner *ret_owner,
                 struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    int r = 0;

    if (fd < 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot open %s", path);
    if (fstat(fd, &st) < 0)
        r = err_errno(err, HEAPTAP_BAD_INPUT, "cannot read %s", path);
    else if (!S_ISREG(st.st_mode))
        r = err_set(err, HEAPTAP_BAD_INPUT, "%s is not a regular file", path);
    else if ((uint64_t)st.st_size > FILE_BYTES_MAX)
        r = err_set(err, HEAPTAP_BAD_INPUT, "%s has %jd bytes: no profile is as large as that",
                    path, (intmax_t)st.st_size);
    if (r != 0) {
        close(fd);
        return r;
    }
    *ret_fd = fd;
    *ret_bytes = (size_t)st.st_size;
    *ret_owner = (struct file_owner){st.st_uid, st.st_gid};
    return 0;
}

/* Return a copy of FD, which had SIZE_BYTES and may grow meanwhile. Set *RET_BYTES to the size of
 * the copy, and *RET_USED to its data. The directory is read before the size, so that it refers
 * only to data in the copy. */
static void *
copy_file(int fd, size_t size_bytes, struct arena *arena, size_t *ret_bytes,
          struct file_parts *ret_used)
{
    unsigned char front[DISK_DATA_OFF], *copy;
    ssize_t front_bytes = pread(fd, front, sizeof front, 0);
    struct stat st;

    if (fstat(fd, &st) == 0 && (uint64_t)st.st_size <= FILE_BYTES_MAX)
        size_bytes = (size_t)st.st_size;
    copy = arena_alloc(arena, size_bytes);
    *ret_used = find_used(fd, size_bytes, arena);
    *ret_bytes = origin_read_all(fd, ret_used, copy, size_bytes);
    if (front_bytes > 0 && (size_t)front_bytes <= *ret_bytes)
        memcpy(copy, front, (size_t)front_bytes);
    return copy;
}

int
origin_read(const char *path, struct arena *arena, void **ret_data, size_t *ret_bytes,
            struct err *err)
{
    struct file_owner owner;
    struct file_parts used;
    size_t size_bytes;
    int fd, r = origin_open_file(path, &fd, &size_bytes, &owner, err);

    if (r == 0) {
        *ret_data = copy_file(fd, size_bytes, arena, ret_bytes, &used);
        close(fd);
    }
    return r;
}

/* Replace a page that another process has truncated off the mapped file by a zero page, which
 * reading the file afterwards would give as well. Other errors end the command, as without this
 * handler. */
static void
replace_lost_page(int number, siginfo_t *info, void *unused)
{
    enum { PAGE_BYTES = 4096 };
    uintptr_t page = (uintptr_t)info->si_addr & ~((uintptr_t)PAGE_BYTES - 1);

    (void)unused;
    if (info->si_code != BUS_ADRERR ||
        mmap((void *)page, PAGE_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        signal(number, SIG_DFL);
}

static void
survive_lost_pages(void)
{
    struct sigaction action = {.sa_sigaction = replace_lost_page, .sa_flags = SA_SIGINFO};

    sigaction(SIGBUS, &action, NULL);
}

/* Return true if most of FD, a file of SIZE_BYTES, has been written. A mapping of a large reserve
 * would take memory for its holes, because mapped holes get pages when they are read. The size on
 * disk does not show holes: the recorder has the file system reserve all blocks. */
static bool
is_dense(int fd, size_t size_bytes)
{
    struct arena scratch = {0};
    struct file_parts used = find_used(fd, size_bytes, &scratch);
    uint64_t bytes = 0;

    for (size_t i = 0; i < used.count; i++)
        bytes += used.v[i].end - used.v[i].from;
    arena_release(&scratch);
    return !used.known || bytes >= size_bytes / 2;
}

/* Return true if FD, a file of SIZE_BYTES, is a recorder's file whose process has certainly ended,
 * and is dense. */
static bool
is_left_alone(int fd, size_t size_bytes, const char *path)
{
    struct disk_header h;

    return pread(fd, &h, sizeof h, 0) == sizeof h && h.magic == DISK_MAGIC &&
           h.state != DISK_STATE_PACKED && is_dense(fd, size_bytes) &&
           owner_find(path, &h).state == OWNER_GONE;
}

int
origin_open(const char *path, struct origin_file *ret, struct err *err)
{
    struct origin_file f = {.fd = -1};
    void *mapped;
    int fd, r = origin_open_file(path, &fd, &f.size_bytes, &f.owner, err);

    if (r != 0)
        return r;
    if (is_left_alone(fd, f.size_bytes, path)) {
        survive_lost_pages();
        mapped = mmap(NULL, f.size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
        if (mapped != MAP_FAILED) {
            f.data = mapped;
            f.fd = fd;
            *ret = f;
            return 0;
        }
    }
    f.data = copy_file(fd, f.size_bytes, &f.arena, &f.size_bytes, &f.used);
    close(fd);
    *ret = f;
    return 0;
}

void
origin_close(struct origin_file *f)
{
    if (f->fd >= 0) {
        if (f->data != NULL)
            munmap(f->data, f->size_bytes);
        close(f->fd);
    }
    arena_release(&f->arena);
}

bool
origin_is_pid(const char *what, uint32_t *ret_pid)
{
    uint64_t pid = 0;

    for (const char *p = what; *p != '\0'; p++) {
        if (!isdigit((unsigned char)*p) || pid > UINT32_MAX / 10)
            return false;
        pid = pid * 10 + (uint64_t)(*p - '0');
    }
    if (*what == '\0' || access(what, F_OK) == 0)
        return false;
    *ret_pid = (uint32_t)pid;
    return true;
}

bool
origin_header(const char *path, struct disk_header *ret)
{
    struct stat st;
    int fd = stat(path, &st) == 0 && S_ISREG(st.st_mode)
                 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                 : -1;
    bool is = fd >= 0 && pread(fd, ret, sizeof *ret, 0) == sizeof *ret && ret->magic == DISK_MAGIC;

    if (fd >= 0)
        close(fd);
    return is;
}

bool
origin_is_original(const struct stat *st, const struct disk_header *h)
{
    return h->file_inode != 0 && h->file_inode == (uint64_t)st->st_ino &&
           h->file_device == (uint64_t)st->st_dev;
}

/* Return the remedies for a user who lacks permission to inspect process PID. */
static const char *
advice(uint32_t pid, struct arena *arena)
{
    char buffer[1024];
    struct passwd entry, *found = NULL;
    struct stat st;

    if (geteuid() == 0)
        return "that takes CAP_SYS_PTRACE, which root does not have here";
    if (stat(arena_printf(arena, "/proc/%u", pid), &st) != 0 || st.st_uid == 0)
        return "run heaptap as root";
    if (st.st_uid == geteuid())
        return "it has other rights than you or its own user namespace; run heaptap as root";
    if (getpwuid_r(st.st_uid, &entry, buffer, sizeof buffer, &found) != 0 || found == NULL)
        return arena_printf(arena, "run heaptap as user %u or as root", (unsigned)st.st_uid);
    return arena_printf(arena, "run heaptap as %s or as root", entry.pw_name);
}

/* Set ERR to the sentence for process PID, whose mapping M is inaccessible. */
static int
report_hidden(uint32_t pid, const struct mapped *m, struct arena *arena, struct err *err)
{
    if (m->path == NULL)
        return err_set(err, HEAPTAP_BAD_INPUT, "cannot look into process %u (%s): %s", pid,
                       strerror(m->error), advice(pid, arena));
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "process %u is being recorded, but its profile %s cannot be opened here%s%s; "
                   "root can, even when it has been deleted",
                   pid, m->path, m->error ? ": " : "", m->error ? strerror(m->error) : "");
}

/* Append to ERR the processes that the user may have meant by PID: recorded processes that have
 * this id in their own pid namespace. There may be one in each container. */
static void
add_meant(uint32_t pid, struct err *err)
{
    uint32_t meant[MEANT_MAX];
    size_t count, found = 0, length = strlen(err->text);
    const struct processes_unrelated *list = processes_find_unrelated(&count);
    struct arena scratch = {0};
    const char *text = "";

    for (size_t i = 0; i < count && found <= MEANT_MAX; i++) {
        struct mapped mapped;

        if (list[i].inner_pid != pid ||
            mapped_profile(list[i].pid, &scratch, &mapped) != MAPPED_FOUND)
            continue;
        if (found < MEANT_MAX)
            meant[found] = list[i].pid;
        found++;
    }
    for (size_t i = 0; i < found && i < MEANT_MAX; i++)
        text = arena_printf(&scratch, "%s%s%u", text,
                            i == 0           ? ""
                            : i + 1 == found ? " or "
                                             : ", ",
                            meant[i]);
    if (found > 0)
        snprintf(err->text + length, sizeof err->text - length,
                 found > 1 ? "; did you mean %s%s, which are %u in their own namespaces?"
                           : "; did you mean %s%s, which is %u in its own namespace?",
                 text, found > MEANT_MAX ? " or another" : "", pid);
    arena_release(&scratch);
}

int
origin_of_pid(uint32_t pid, struct arena *arena, const char **ret_path, struct err *err)
{
    bool lives = processes_start(pid) != 0;
    enum mapped_result result = MAPPED_NONE;
    struct mapped mapped;
    int r;

    if (lives)
        result = mapped_profile(pid, arena, &mapped);
    if (result == MAPPED_FOUND) {
        *ret_path = mapped.path;
        return 0;
    }
    // A hidden file may also be another shared file of the process.
    if (result == MAPPED_HIDDEN && (mapped.path == NULL || strstr(mapped.path, ".heaptap") != NULL))
        r = report_hidden(pid, &mapped, arena, err);
    else if (lives && mapped_recorder(pid))
        r = err_set(err, HEAPTAP_BAD_INPUT,
                    "process %u has recorded nothing yet: its recorder makes the profile at the "
                    "first allocation; try again then",
                    pid);
    else if (lives)
        r = err_set(err, HEAPTAP_BAD_INPUT,
                    "process %u is not being recorded by heaptap (start it with `heaptap run`)",
                    pid);
    else
        r = err_set(err, HEAPTAP_BAD_INPUT, "no process %u (and no file of that name)", pid);
    add_meant(pid, err);
    return r;
}
