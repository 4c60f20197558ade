/* processes_owner.c: find the process that writes a profile, if there is one.
 *
 * The header has the id of the process in its own pid namespace. If the process runs in a
 * container, it has another id here, and its number may belong to another process here. Two
 * containers that started together may even have processes with equal numbers and start times. If
 * we run in a container, a living process outside is missing from our /proc. Therefore the search
 * has three steps, the cheapest first:
 *
 *     the process with that id     it must have a profile with this header mapped
 *     the kernel                   a read lease (fcntl) is refused while the file is open for
 *                                  writing, and a shared mapping keeps the file open. This works
 *                                  across all namespaces, but only for the file's owner and not on
 *                                  every file system
 *     all of /proc                 a process whose id in its innermost namespace is the recorded
 *                                  one, and which has the profile mapped
 *
 * If we lack permission to inspect a process, its start time is compared with the recorded one.
 *
 * The result is unknown if the kernel gives no answer, no process is found, and /proc does not show
 * all processes of the machine. A caller that would replace the file needs certainty: a living
 * process would keep writing into a file without a name.
 *
 * Processes on other machines that share the file system are invisible. */
#include "profile/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The initial pid namespace, which sees all processes. The number is fixed in the kernel. */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"

/* Certainty that a process writes a profile. */
enum { WRITES_NOT, WRITES_PERHAPS, WRITES_SURELY };

static bool
is_same(const struct disk_header *a, const struct disk_header *b)
{
    return a->pid == b->pid && a->process_start == b->process_start &&
           a->start_unix_ns == b->start_unix_ns &&
           a->start_monotonic_ns == b->start_monotonic_ns && a->session_id == b->session_id;
}

/* Return the certainty that process PID writes the profile with the header H. Set *RET_START to its
 * start time. */
static int
writes(uint32_t pid, const struct disk_header *h, uint64_t *ret_start)
{
    struct arena scratch = {0};
    enum mapped_result result;
    struct mapped mapped;
    bool is;

    *ret_start = processes_start(pid);
    if (*ret_start == 0 || processes_inner_pid(pid) != h->pid)
        return WRITES_NOT;
    // A process with this flag maps no file: it copies its data to the file by name.
    if (h->process_flags & DISK_PROCESS_IN_MEMORY)
        return *ret_start == h->process_start ? WRITES_PERHAPS : WRITES_NOT;
    result = mapped_profile(pid, &scratch, &mapped);
    is = result == MAPPED_FOUND && is_same(&mapped.header, h);
    arena_release(&scratch);
    if (result == MAPPED_HIDDEN)
        return *ret_start == h->process_start ? WRITES_PERHAPS : WRITES_NOT;
    return is ? WRITES_SURELY : WRITES_NOT;
}

/* Find the process in other pid namespaces. Return false if it is not visible there. */
static bool
find_stranger(const struct disk_header *h, struct owner *ret)
{
    size_t count;
    const struct processes_unrelated *list = processes_find_unrelated(&count);
    int best = WRITES_NOT;

    for (size_t i = 0; i < count && best != WRITES_SURELY; i++) {
        uint64_t start;
        int sure = list[i].inner_pid == h->pid ? writes(list[i].pid, h, &start) : WRITES_NOT;

        if (sure <= best)
            continue;
        best = sure;
        *ret = (struct owner){OWNER_ALIVE, list[i].pid, start};
    }
    return best != WRITES_NOT;
}

/* Return true if the kernel's answer about writers of FD's file is reliable. On other file systems
 * another inode may be mapped (overlayfs), or another machine may have the file open. */
static bool
is_local(int fd)
{
    static const uint32_t magics[] = {0xef53, 0x58465342, 0x9123683e, 0x01021994, 0xf2f52010};
    struct statfs fs;

    if (fstatfs(fd, &fs) != 0)
        return false;
    for (size_t i = 0; i < countof(magics); i++)
        if ((uint32_t)fs.f_type == magics[i]) // ext, xfs, btrfs, tmpfs, f2fs
            return true;
    return false;
}

/* Ask the kernel about writers of the file behind FD. */
static enum owner_state
ask_kernel(int fd)
{
    // The kernel sends us a signal if a process opens the file for writing while we hold the lease.
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
    enum owner_state state = OWNER_UNKNOWN;

    sigaction(SIGIO, &ignored, &before);
    if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
        fcntl(fd, F_SETLEASE, F_UNLCK);
        state = is_local(fd) ? OWNER_GONE : OWNER_UNKNOWN;
    } else if (errno == EAGAIN) {
        state = OWNER_ALIVE;
    }
    sigaction(SIGIO, &before, NULL);
    return state;
}

/* Return true if /proc shows every process that can have a file of this machine open. */
static bool
sees_all(void)
{
    char namespace[64] = "";
    ssize_t length = readlink("/proc/self/ns/pid", namespace, sizeof namespace - 1);

    return length > 0 && strcmp(namespace, FIRST_PID_NAMESPACE) == 0 && processes_start(1) != 0;
}

struct owner
owner_find(const char *path, const struct disk_header *h)
{
    struct owner ret = {OWNER_GONE, h->pid, 0};
    struct stat st;
    int fd;

    if (writes(h->pid, h, &ret.start_ticks) != WRITES_NOT) {
        ret.state = OWNER_ALIVE;
        return ret;
    }
    ret.pid = 0;
    fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0)
            close(fd);
        return ret;
    }
    ret.state = ask_kernel(fd);
    close(fd);
    if (ret.state != OWNER_GONE && !find_stranger(h, &ret) && ret.state == OWNER_UNKNOWN &&
        sees_all())
        ret.state = OWNER_GONE;
    return ret;
}

bool
owner_is_alive(const struct owner *o)
{
    return o->pid == 0 || processes_start(o->pid) == o->start_ticks;
}
