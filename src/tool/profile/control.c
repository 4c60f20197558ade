/* control.c: a request consists of seven words in the profile's header, and a generation that is
 * incremented when the words are complete. The recorder polls the generation and answers by storing
 * it (format.md, section 2.6).
 *
 * An advisory lock on the file prevents two tools from writing at once; the recorder does not use
 * the lock. A request without an answer is not withdrawn: the recorder could accept it at that very
 * moment, and the user wants it.
 *
 * While the tool waits, it has the file open only for reading. A descriptor for writing would make
 * the recorded process seem alive (processes_owner.c), and its profile would not be packed.
 */
#include "profile/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

enum { LOOK_NS = 5000000 };

/* Set *RET_OWNER to the living process that writes the profile PATH with header H. Return 0, or
 * HEAPTAP_BAD_INPUT with ERR set. */
static int
check_header(const char *path, const struct disk_header *h, struct owner *ret_owner,
             struct err *err)
{
    if (h->magic != DISK_MAGIC || h->version != DISK_VERSION)
        return err_set(err, HEAPTAP_BAD_INPUT, "%s is not a heaptap profile", path);
    if (h->state == DISK_STATE_PACKED)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s is packed: no process writes it any more, so none can take a request",
                       path);
    if (h->state == DISK_STATE_NEW)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the recording into %s is still starting; try again in a moment", path);
    *ret_owner = owner_find(path, h);
    if (ret_owner->state == OWNER_GONE)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u, which wrote %s, has ended and can take no request", h->pid,
                       path);
    return 0;
}

/* Open PATH, a regular file, with FLAGS and read its header. Return the descriptor, or a negative
 * number. */
static int
open_profile(const char *path, int flags, struct disk_header *ret, struct err *err)
{
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;

    if (fd < 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot open %s", path);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && pread(fd, ret, sizeof *ret, 0) == sizeof *ret)
        return fd;
    close(fd);
    return err_set(err, HEAPTAP_BAD_INPUT, "%s is not a heaptap profile", path);
}

/* Open the file of FD again, with FLAGS. Return the descriptor, or a negative number. */
static int
reopen(int fd, int flags)
{
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, flags | O_CLOEXEC);
}

int
control_open(const char *path, struct control *ret, struct err *err)
{
    struct disk_header h;
    int r, fd = open_profile(path, O_RDONLY, &h, err);

    if (fd < 0)
        return fd;
    close(fd);
    *ret = (struct control){0};
    // Check before opening for writing: the kernel would then count us among the writers.
    r = check_header(path, &h, &ret->owner, err);
    if (r < 0)
        return r;
    fd = open_profile(path, O_RDWR, &h, err);
    if (fd < 0 && access(path, R_OK) == 0 && access(path, W_OK) != 0)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "no permission to write %s, which carries requests to its process; run "
                       "heaptap as the user of process %u or as root",
                       path, ret->owner.pid != 0 ? ret->owner.pid : h.pid);
    if (fd < 0)
        return fd;
    ret->fd = reopen(fd, O_RDONLY);
    close(fd);
    if (ret->fd < 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot open %s", path);
    ret->pid = ret->owner.pid != 0 ? ret->owner.pid : h.pid;
    snprintf(ret->name, sizeof ret->name, "%u", ret->pid);
    if (ret->pid != h.pid)
        snprintf(ret->name, sizeof ret->name, "%u (%u in its namespace)", ret->pid, h.pid);
    return 0;
}

void
control_close(struct control *c)
{
    close(c->fd);
}

static uint64_t
control_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void
wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

static uint64_t
control_read_word(const struct control *c, size_t off)
{
    uint64_t word = 0;

    return pread(c->fd, &word, sizeof word, (off_t)off) == sizeof word ? word : 0;
}

static bool
write_words(const struct control *c, size_t off, const uint64_t *words, size_t count)
{
    size_t bytes = count * sizeof *words;
    int fd = reopen(c->fd, O_WRONLY);
    bool ok = fd >= 0 && pwrite(fd, words, bytes, (off_t)off) == (ssize_t)bytes;
    int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
    return ok;
}

static int
lock(struct control *c, uint64_t until_ns, struct err *err)
{
    while (flock(c->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_errno(err, HEAPTAP_BAD_INPUT, "cannot lock the profile of process %u",
                             c->pid);
        if (control_now_ns() >= until_ns)
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "another heaptap record is talking to process %u; try again later",
                           c->pid);
        wait_a_little();
    }
    return 0;
}

static int
read_answer(const struct control *c, struct err *err)
{
    switch (control_read_word(c, offsetof(struct disk_header, control_answer))) {
    case DISK_ANSWER_DONE:
        return 0;
    case DISK_ANSWER_FULL:
        return err_set(err, HEAPTAP_BAD_INPUT, "process %u has no room for another snapshot or "
                                               "recording mode",
                       c->pid);
    default:
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the recorder in process %u is another version and does not support this "
                       "request",
                       c->pid);
    }
}

static int
await(const struct control *c, uint64_t generation, uint64_t until_ns, struct err *err)
{
    for (;;) {
        if (control_read_word(c, offsetof(struct disk_header, control_taken)) == generation)
            return read_answer(c, err);
        if (!owner_is_alive(&c->owner))
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "process %u ended before it took the request", c->pid);
        if (control_now_ns() >= until_ns)
            return err_set(err, HEAPTAP_NOT_FOUND,
                           "process %u has not taken the request yet: it checks only when it "
                           "allocates (every 256 events or sooner, or every 256 KiB when not all "
                           "is recorded); the request waits until then",
                           c->pid);
        wait_a_little();
    }
}

/* Write the COUNT words of a request, waiting up to WAIT_NS for the lock. Returns 0, with the lock
 * held until control_finish; or a negative heaptap_errc with ERR set. */
static int
control_ask(struct control *c, const uint64_t *words, size_t count, uint64_t wait_ns,
            struct err *err)
{
    int r = lock(c, control_now_ns() + wait_ns, err);

    if (r < 0)
        return r;
    c->generation = control_read_word(c, offsetof(struct disk_header, control_generation)) + 1;
    // Overwriting a pending request would lose it, and the recorder may read its words at any
    // moment.
    if (control_read_word(c, offsetof(struct disk_header, control_taken)) + 1 != c->generation) {
        flock(c->fd, LOCK_UN);
        return err_set(err, HEAPTAP_NOT_FOUND,
                       "process %u has not taken an earlier request yet; this one was not sent",
                       c->pid);
    }
    if (write_words(c, offsetof(struct disk_header, control), words, count) &&
        write_words(c, offsetof(struct disk_header, control_generation), &c->generation, 1))
        return 0;
    r = err_errno(err, HEAPTAP_BAD_INPUT, "cannot write to the profile of process %u", c->pid);
    flock(c->fd, LOCK_UN);
    return r;
}

int
control_finish(struct control *c, uint64_t wait_ns, struct err *err)
{
    int r = await(c, c->generation, control_now_ns() + wait_ns, err);

    flock(c->fd, LOCK_UN);
    return r;
}

int
control_request_mode(struct control *c, enum disk_mode mode, uint64_t period, uint64_t wait_ns,
                     struct err *err)
{
    const uint64_t words[] = {DISK_CONTROL_PHASE, mode, period};

    return control_ask(c, words, countof(words), wait_ns, err);
}

int
control_request_callers(struct control *c, uint64_t period, uint64_t wait_ns, struct err *err)
{
    const uint64_t words[] = {DISK_CONTROL_CALLERS, period};

    return control_ask(c, words, countof(words), wait_ns, err);
}

int
control_request_snapshot(struct control *c, const char *name, uint64_t wait_ns, struct err *err)
{
    uint64_t words[2 + DISK_SNAPSHOT_NAME_BYTES / sizeof(uint64_t)] = {DISK_CONTROL_SNAPSHOT};

    memcpy(&words[1], name, strnlen(name, DISK_SNAPSHOT_NAME_BYTES));
    words[countof(words) - 1] = DISK_SNAPSHOT_ASKED;
    return control_ask(c, words, countof(words), wait_ns, err);
}

void
control_post_snapshot(struct control *c, const char *name, enum disk_snapshot_kind kind)
{
    uint64_t words[2 + DISK_SNAPSHOT_NAME_BYTES / sizeof(uint64_t)] = {DISK_CONTROL_SNAPSHOT};
    uint64_t generation;

    memcpy(&words[1], name, strnlen(name, DISK_SNAPSHOT_NAME_BYTES));
    words[countof(words) - 1] = kind;
    if (flock(c->fd, LOCK_EX | LOCK_NB) != 0)
        return;
    generation = control_read_word(c, offsetof(struct disk_header, control_generation));
    if (control_read_word(c, offsetof(struct disk_header, control_taken)) == generation &&
        write_words(c, offsetof(struct disk_header, control), words, countof(words))) {
        generation++;
        write_words(c, offsetof(struct disk_header, control_generation), &generation, 1);
    }
    flock(c->fd, LOCK_UN);
}
