/* run_unrecorded.c: memory in which recorded processes count those that are not.
 *
 * The memory is a file without a name, so nothing is left if `run` is killed. The processes open it
 * by the path of our descriptor, as long as they are in our pid namespace and may look into us. One
 * that started recording earlier keeps its mapping. Others send a datagram when they start
 * recording or fail to (format/unrecorded_counts.h), as long as they are in our network namespace.
 * The queue of a socket may be as short as ten datagrams, so each of them wakes `run`. */
#include "launch/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "profile/processes.h"

/* Create a socket with an abstract name that the kernel chooses. Returns it, with the name in
 * RET_NAME; -1 if there is none. Then only processes that cannot map the counts go unnoticed. */
static int
make_socket(struct arena *arena, const char **ret_name)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t size = sizeof name.sun_family;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const size_t head = offsetof(struct sockaddr_un, sun_path) + 1;

    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, size) == 0) {
        size = sizeof name;
        if (getsockname(fd, (struct sockaddr *)&name, &size) == 0 && size > head) {
            // While the program runs, launch.c waits for SIGCHLD. Otherwise SIGCHLD has no effect.
            fcntl(fd, F_SETOWN, getpid());
            fcntl(fd, F_SETSIG, SIGCHLD);
            fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
            *ret_name = arena_strndup(arena, name.sun_path + 1, size - head);
            return fd;
        }
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Set the size of FD to BYTES. The limit on file size also applies to memory, so it is raised
 * meanwhile, and its signal ignored. Returns 0, or -1 with errno set. */
static int
set_size(int fd, off_t bytes)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, given;
    struct rlimit limit, raised;
    int r, error;

    sigaction(SIGXFSZ, &ignore, &given);
    getrlimit(RLIMIT_FSIZE, &limit);
    raised = (struct rlimit){limit.rlim_max, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &raised);
    r = ftruncate(fd, bytes);
    error = errno;
    setrlimit(RLIMIT_FSIZE, &limit);
    sigaction(SIGXFSZ, &given, NULL);
    errno = error;
    return r;
}

int
run_unrecorded_begin(struct recorded_run *r, struct err *err)
{
    const char *only = r->options->recording.only;
    const char *socket_name = NULL;
    int fd = memfd_create("unrecorded", MFD_CLOEXEC);
    struct unrecorded_counts *c = MAP_FAILED;

    if (fd >= 0 && set_size(fd, UNRECORDED_OFF + UNRECORDED_BYTES) == 0)
        c = mmap(NULL, UNRECORDED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, UNRECORDED_OFF);
    if (c == MAP_FAILED) {
        if (errno == EFBIG)
            err_set(err, HEAPTAP_BAD_INPUT,
                    "--fail-on needs a file in memory, and the limit on file size is too low; "
                    "raise it (ulimit -f %d)", (UNRECORDED_OFF + UNRECORDED_BYTES) / 1024);
        else
            err_errno(err, HEAPTAP_BAD_INPUT, "cannot make the memory that --fail-on needs");
        if (fd >= 0)
            close(fd);
        return HEAPTAP_BAD_INPUT;
    }
    c->session_id = r->id;
    if (only != NULL && strlen(only) < sizeof c->only) // The recorder ignores longer ones as well.
        strcpy(c->only, only);
    r->unrecorded = c;
    r->unrecorded_fd = fd;
    r->unrecorded_socket = make_socket(&r->arena, &socket_name);
    r->unrecorded_path =
        arena_printf(&r->arena, "/proc/%d/fd/%d%s%s", (int)getpid(), fd,
                     socket_name != NULL ? ":" : "", socket_name != NULL ? socket_name : "");
    return 0;
}

void
run_unrecorded_enter(struct recorded_run *r)
{
    if (r->unrecorded != NULL && r->options->no_children)
        r->unrecorded->only_pid = (uint64_t)getpid();
}

/* Add the recording B to C. */
static void
list_recording(struct unrecorded_counts *c, const struct begun_recording *b)
{
    uint64_t i = __atomic_fetch_add(&c->recordings, UINT64_C(1), __ATOMIC_RELAXED);

    if (i < countof(c->recording)) {
        c->recording[i] = *b;
        __atomic_store_n(&c->recording[i].is_complete, 1u, __ATOMIC_RELEASE);
    }
}

void
run_unrecorded_receive(struct recorded_run *r)
{
    union {
        uint64_t session_id; // Also the first member of the others.
        struct unrecorded_failure failure;
        struct begun_message begun;
    } m;

    if (r->unrecorded == NULL || r->unrecorded_socket < 0)
        return;
    for (long got = 0; got >= 0;) {
        got = recv(r->unrecorded_socket, &m, sizeof m, MSG_DONTWAIT);
        // Anybody may send to an abstract name, but only the run's processes know its id.
        if (got < (long)sizeof m.session_id || m.session_id != r->id)
            continue;
        if (got == (long)sizeof m.begun)
            list_recording(r->unrecorded, &m.begun.recording);
        if (got == (long)sizeof m.failure &&
            __atomic_fetch_add(&r->unrecorded->failed, UINT64_C(1), __ATOMIC_RELAXED) == 0)
            r->unrecorded->first_failure = m.failure;
    }
}

uint64_t
run_unrecorded_recordings(struct recorded_run *r)
{
    run_unrecorded_receive(r);
    // Any process of the run may have written to this memory.
    return r->unrecorded != NULL
               ? __atomic_load_n(&r->unrecorded->recordings, __ATOMIC_ACQUIRE) & INT64_MAX
               : 0;
}

static int
by_key(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct recording_key));
}

/* Return the sorted keys of the COUNT listed files V, from ARENA. Each recording is listed once. */
static struct recording_key *
sorted_keys(const struct listed *v, size_t count, struct arena *arena)
{
    struct recording_key *keys = arena_array(arena, count, sizeof *keys);

    for (size_t i = 0; i < count; i++)
        keys[i] = v[i].key;
    if (count > 0)
        qsort(keys, count, sizeof *keys, by_key);
    return keys;
}

/* Add B, whose profile is lost, to L. */
static void
add_lost(struct run_lost *l, const struct begun_recording *b, struct arena *arena)
{
    bool runs = b->process_start != 0 && processes_start(b->pid) == b->process_start;
    const char **first = runs ? &l->first_running : &l->first_ended;

    if (*first == NULL)
        *first = arena_printf(arena, "%.*s (pid %u)", (int)strnlen(b->name, sizeof b->name),
                              b->name, b->pid);
    if (runs)
        l->running++;
    else
        l->ended++;
}

void
run_unrecorded_find_lost(struct recorded_run *r, uint64_t begun, const struct listed *v,
                         size_t count, struct run_lost *ret)
{
    const struct recording_key *keys = sorted_keys(v, count, &r->arena);
    const size_t listed_max = countof(r->unrecorded->recording);

    *ret = (struct run_lost){0};
    for (size_t i = 0; i < begun && i < listed_max; i++) {
        const struct begun_recording *b = &r->unrecorded->recording[i];
        const struct recording_key key = {b->process_start, b->start_unix_ns,
                                          b->start_monotonic_ns, r->id, b->pid};

        if (__atomic_load_n(&b->is_complete, __ATOMIC_ACQUIRE) != 0 &&
            bsearch(&key, keys, count, sizeof key, by_key) == NULL)
            add_lost(ret, b, &r->arena);
    }
    // Of recordings beyond the list only the number is known.
    if (begun > listed_max && begun - count > ret->ended + ret->running && begun > count)
        ret->ended = begun - count - ret->running;
}

void
run_unrecorded_end(struct recorded_run *r)
{
    if (r->unrecorded == NULL)
        return;
    munmap(r->unrecorded, UNRECORDED_BYTES);
    close(r->unrecorded_fd);
    if (r->unrecorded_socket >= 0)
        close(r->unrecorded_socket);
    r->unrecorded = NULL;
}
