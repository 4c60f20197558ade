/* insertion.c: map the recorder into a process and start it, while all threads but one run.
 *
 * A borrowed thread maps the region, receives the profile's descriptor, and calls the library's
 * first function on a separate stack. */
#include "attach/insertion.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "attach/control_block.h"
#include "attach/remote.h"

enum { PAGE_BYTES = 4096 };

#define PR_SET_VMA_ 0x53564d41

/* Return the address of memory for arguments of system calls: a part of the unused stack. */
static uint64_t
scratch_of(const struct plan *p)
{
    return round_down(p->region->stack_top, PAGE_BYTES) - 2 * PAGE_BYTES;
}

/* Return the error for a failed system call in the process; RESULT is its result. */
static int
report_call(const struct plan *p, const char *what, long result, struct err *err)
{
    errno = (int)-result;
    return err_errno(err, HEAPTAP_BAD_INPUT, "process %u cannot %s", p->target->pid, what);
}

/* Write all parts to the mapped region, and protect them. */
static int
fill_region(const struct plan *p, struct remote *r, struct err *err)
{
    const struct target *t = p->target;
    struct library_part part;
    long result = remote_syscall(r, SYS_mprotect, p->region->code, p->code_bytes,
                                 PROT_READ | PROT_EXEC, 0, 0, 0);

    if (!target_write(t, p->base, p->region, sizeof *p->region) ||
        !target_write(t, p->region->code, p->code, p->code_bytes) ||
        !target_write(t, p->library.base, p->library.bytes, p->library.size_bytes))
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot write to process %u", t->pid);
    for (size_t i = 0; result == 0 && library_part(&p->library, i, &part); i++)
        result = remote_syscall(r, SYS_mprotect, p->library.base + part.off, part.size_bytes,
                                (uint64_t)part.protection, 0, 0, 0);
    if (result < 0)
        return report_call(p, "make memory executable", result, err);
    // The name is a help for readers of /proc/PID/maps; old kernels have none.
    remote_syscall(r, SYS_prctl, PR_SET_VMA_, 0, p->base, p->region->size_bytes,
                   p->base + offsetof(struct region, name), 0);
    r->call_at = p->region->code;
    r->stack_top = p->region->stack_top;
    return 0;
}

/* Pass the profile, and start the recorder. */
static int
start_recorder(const struct plan *p, struct remote *r, const struct attach_how *how,
               struct err *err)
{
    uint64_t request = p->library.base + library_offset(&p->library, "heaptap_attach_request");
    int fd = remote_give_file(r, how->profile_fd, scratch_of(p)), fault;
    long result;
    bool came_back;

    if (fd < 0)
        return report_call(p, "receive the profile", fd, err);
    if (!target_write(p->target, request + offsetof(struct attach_request, profile_fd), &fd,
                      sizeof fd))
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot write to process %u", p->target->pid);
    control_block_clear(p->target, &r->threads->v[0], PLAN_TLS_BYTES);
    came_back = remote_call(r, p->begin_function, &result, &fault);
    control_block_clear(p->target, &r->threads->v[0], p->region->tls_bytes);
    if (!came_back)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the recorder does not start in process %u (signal %d); the process "
                       "continues without it", p->target->pid, fault);
    if (result != 1) {
        remote_syscall(r, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the recorder cannot start in process %u: the disk is full, or a limit of "
                       "the process on the size of files (ulimit -f) or on its memory is too low",
                       p->target->pid);
    }
    return 0;
}

/* Return true if the borrowed thread may read the cycle counter, as the recorder does. */
static bool
may_read_cycles(const struct plan *p, struct remote *r)
{
    uint64_t at = scratch_of(p);
    uint32_t allowed = 0;

    return remote_syscall(r, SYS_prctl, PR_GET_TSC, at, 0, 0, 0, 0) != 0 ||
           !target_read(p->target, at, &allowed, sizeof allowed) || allowed != PR_TSC_SIGSEGV;
}

int
insertion_start(const struct plan *p, const struct attach_how *how, struct attach_cost *cost,
                struct err *err)
{
    struct threads one;
    struct remote *r = arena_alloc(&p->target->arena, sizeof *r);
    int result = threads_stop_one(p->target, &one, err);
    long mapped;

    if (result != 0)
        return result;
    result = control_block_check_all(p, &one, err);
    if (result == 0)
        result = remote_take(r, &one, err);
    if (result != 0) {
        threads_resume(&one);
        return result;
    }
    mapped = remote_syscall(r, SYS_mmap, p->base, p->region->size_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE,
                            UINT64_MAX, 0);
    if ((uint64_t)mapped != p->base) {
        result = mapped == -EEXIST ? HEAPTAP_NOT_FOUND : report_call(p, "map memory", mapped, err);
        if (mapped > 0)
            remote_syscall(r, SYS_munmap, (uint64_t)mapped, p->region->size_bytes, 0, 0, 0, 0);
    } else {
        result = fill_region(p, r, err);
        if (result == 0 && !may_read_cycles(p, r))
            result = err_set(err, HEAPTAP_BAD_INPUT,
                             "process %u has forbidden itself the cycle counter (PR_SET_TSC)",
                             p->target->pid);
        if (result == 0)
            result = start_recorder(p, r, how, err);
        if (result != 0)
            remote_syscall(r, SYS_munmap, p->base, p->region->size_bytes, 0, 0, 0, 0);
    }
    remote_give_back(r);
    cost->borrowed_ns = threads_now_ns() - one.began_ns;
    threads_resume(&one);
    return result;
}
