/* run_unrecorded.c: memory in which recorded processes count those that are not.
 *
 * The memory is a file without a name, so nothing is left if `run` is killed. The processes open it
 * by the path of our descriptor, as long as they are in our pid namespace and may look into us. One
 * that started recording earlier keeps its mapping. */
#include "launch/run.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int
run_unrecorded_begin(struct recorded_run *r, struct err *err)
{
    const char *only = r->options->recording.only;
    int fd = memfd_create("unrecorded", MFD_CLOEXEC);
    struct unrecorded_counts *c = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, UNRECORDED_OFF + UNRECORDED_BYTES) == 0)
        c = mmap(NULL, UNRECORDED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, UNRECORDED_OFF);
    if (c == MAP_FAILED) {
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
    r->unrecorded_path = arena_printf(&r->arena, "/proc/%d/fd/%d", (int)getpid(), fd);
    return 0;
}

void
run_unrecorded_enter(struct recorded_run *r)
{
    if (r->unrecorded != NULL && r->options->no_children)
        r->unrecorded->only_pid = (uint64_t)getpid();
}

void
run_unrecorded_end(struct recorded_run *r)
{
    if (r->unrecorded == NULL)
        return;
    munmap(r->unrecorded, UNRECORDED_BYTES);
    close(r->unrecorded_fd);
    r->unrecorded = NULL;
}
