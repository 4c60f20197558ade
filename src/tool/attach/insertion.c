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
#include "attach/give_file.h"
#include "attach/remote.h"

enum { PAGE_BYTES = 4096 };

#define PR_SET_VMA_ 0x53564d41

/* Return the address of memory for arguments of system calls: a part of the unused stack. */
static uint64_t
scratch_of(const struct plan *p)
{
    return round_down(p->region->stack_top, PAGE_BYTES) - 2 * PAGE_BYTES;
}

/* Return the error for a failed system call CALL in the process; RESULT is its result. */
static int
report_call(const struct plan *p, const char *what, const char *call, long result,
            struct err *err)
{
    errno = (int)-result;
    return err_errno(err, HEAPTAP_BAD_INPUT, "process %u cannot %s (%s)", p->target->pid, what,
                     call);
}

/* Write the code of annex number INDEX, and make it executable. Return the result of the call that
 * failed; 0 = none. */
static long
fill_annex(const struct plan *p, struct remote *r, uint64_t index)
{
    uint64_t low = p->places.annexes[index].low;
    long result;

    if (!target_write(p->target, low, p->places.annexes[index].code, ANNEX_BYTES))
        return -EFAULT;
    result = remote_syscall(r, SYS_mprotect, low, ANNEX_BYTES, PROT_READ | PROT_EXEC, 0, 0, 0);
    remote_syscall(r, SYS_prctl, PR_SET_VMA_, 0, low, ANNEX_BYTES,
                   p->base + offsetof(struct region, name), 0);
    return result;
}

/* Write all parts to the mapped region, and protect them. */
static int
fill_region(const struct plan *p, struct remote *r, struct err *err)
{
    const struct target *t = p->target;
    struct library_part part;
    long result = remote_syscall(r, SYS_mprotect, p->region->code, p->places.code_bytes,
                                 PROT_READ | PROT_EXEC, 0, 0, 0);

    if (!target_write(t, p->base, p->region, sizeof *p->region) ||
        !target_write(t, p->region->code, p->places.code, p->places.code_bytes) ||
        !target_write(t, p->library.base, p->library.bytes, p->library.size_bytes))
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot write to process %u", t->pid);
    for (size_t i = 0; result == 0 && library_part(&p->library, i, &part); i++)
        result = remote_syscall(r, SYS_mprotect, p->library.base + part.off, part.size_bytes,
                                (uint64_t)part.protection, 0, 0, 0);
    for (uint64_t i = 0; result == 0 && i < p->region->annex_count; i++)
        result = fill_annex(p, r, i);
    if (result < 0)
        return report_call(p, "make memory executable", "mprotect", result, err);
    // The name is a help for readers of /proc/PID/maps; old kernels have none.
    remote_syscall(r, SYS_prctl, PR_SET_VMA_, 0, p->base, p->region->size_bytes,
                   p->base + offsetof(struct region, name), 0);
    r->call_at = p->region->code;
    r->stack_top = p->region->stack_top;
    return 0;
}

/* Return the error for a recorder that did not start; RESULT is its answer. */
static int
report_start(const struct plan *p, long result, struct err *err)
{
    const char *remedy = "";

    if (result == -EFBIG)
        remedy = "; its limit on the size of files (ulimit -f) is too low";
    else if (result == -ENOMEM)
        remedy = "; its limits on memory (ulimit -v, -d) are too low";
    else if (result == -ENOSPC || result == -EDQUOT)
        remedy = "; name a file on another disk with -o";
    if (result >= 0)
        return err_set(err, HEAPTAP_BAD_INPUT, "the recorder cannot start in process %u",
                       p->target->pid);
    return err_set(err, HEAPTAP_BAD_INPUT, "the recorder cannot start in process %u: %s%s",
                   p->target->pid, strerror((int)-result), remedy);
}

/* Call the function of the library that starts recording. FD is the profile's descriptor in the
 * process, which the recorder closes in any case. */
static int
call_begin(const struct plan *p, struct remote *r, int fd, struct err *err)
{
    long result, unused;
    int fault, second_fault;

    if (!remote_call(r, p->begin_function, &result, &fault)) {
        // It has left its memory and perhaps the descriptor.
        remote_call(r, p->region->end_function, &unused, &second_fault);
        remote_undo(r, SYS_close, (uint64_t)fd, 0);
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the recorder does not start in process %u (signal %d); the process "
                       "continues without it", p->target->pid, fault);
    }
    return result == 1 ? 0 : report_start(p, result, err);
}

/* Pass the profile, and start the recorder. */
static int
start_recorder(const struct plan *p, struct remote *r, const struct attach_how *how,
               struct err *err)
{
    uint64_t request = p->library.base + library_offset(&p->library, "heaptap_attach_request");
    const struct stopped *borrowed = &r->threads->v[0];
    const char *call;
    int fd = give_file(r, how->profile_fd, scratch_of(p), &call), result;

    if (fd < 0)
        return report_call(p, "receive the profile", call, fd, err);
    if (!target_write(p->target, request + offsetof(struct attach_request, profile_fd), &fd,
                      sizeof fd) ||
        !control_block_clear(p->target, borrowed, PLAN_TLS_BYTES)) {
        result = err_errno(err, HEAPTAP_BAD_INPUT, "cannot write to process %u", p->target->pid);
        remote_undo(r, SYS_close, (uint64_t)fd, 0);
        return result;
    }
    result = call_begin(p, r, fd, err);
    control_block_clear(p->target, borrowed, p->region->tls_bytes);
    return result;
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

/* Unmap the region and COUNT annexes. Return the last result of a call that failed; 0 = none. */
static long
unmap_all(const struct plan *p, struct remote *r, uint64_t count)
{
    long result = remote_undo(r, SYS_munmap, p->base, p->region->size_bytes);

    for (uint64_t i = 0; i < count; i++) {
        long one = remote_undo(r, SYS_munmap, p->region->annexes[i].low, ANNEX_BYTES);

        result = one < 0 ? one : result;
    }
    return result;
}

/* Map SIZE_BYTES at START. Returns HEAPTAP_NOT_FOUND if that place is used. */
static int
map_at(const struct plan *p, struct remote *r, uint64_t start, uint64_t size_bytes,
       struct err *err)
{
    long mapped = remote_syscall(r, SYS_mmap, start, size_bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE,
                                 UINT64_MAX, 0);

    if ((uint64_t)mapped == start)
        return 0;
    if (mapped < 0 && mapped != -EEXIST)
        return report_call(p, "map memory", "mmap", mapped, err);
    if (mapped > 0) // A kernel before 4.17 chooses another place.
        remote_undo(r, SYS_munmap, (uint64_t)mapped, size_bytes);
    return HEAPTAP_NOT_FOUND;
}

/* Map the region and its annexes in the borrowed thread. Returns HEAPTAP_NOT_FOUND if a place is
 * used already. */
static int
map_region(const struct plan *p, struct remote *r, struct err *err)
{
    int result = map_at(p, r, p->base, p->region->size_bytes, err);

    if (result != 0)
        return result;
    for (uint64_t i = 0; i < p->region->annex_count; i++) {
        result = map_at(p, r, p->region->annexes[i].low, ANNEX_BYTES, err);
        if (result == 0)
            continue;
        if (unmap_all(p, r, i) < 0)
            region_report_rest(p->target->pid, err);
        break;
    }
    return result;
}

/* Fill the mapped region and start the recorder, or unmap the region. */
static int
use_region(const struct plan *p, struct remote *r, const struct attach_how *how, struct err *err)
{
    int result = fill_region(p, r, err);

    if (result == 0 && !may_read_cycles(p, r))
        result = err_set(err, HEAPTAP_BAD_INPUT,
                         "process %u has forbidden itself the cycle counter (PR_SET_TSC)",
                         p->target->pid);
    if (result == 0)
        result = start_recorder(p, r, how, err);
    if (result != 0 && unmap_all(p, r, p->region->annex_count) < 0)
        region_report_rest(p->target->pid, err);
    return result;
}

int
insertion_start(const struct plan *p, const struct attach_how *how, struct attach_cost *cost,
                struct err *err)
{
    struct threads one;
    struct remote *r = arena_alloc(&p->target->arena, sizeof *r);
    int result = threads_stop_one(p->target, &one, err);

    if (result != 0)
        return result;
    result = control_block_check_all(p, &one, err);
    if (result == 0)
        result = remote_take(r, &one, err);
    if (result != 0) {
        threads_resume(&one);
        return result;
    }
    result = map_region(p, r, err);
    if (result == 0)
        result = use_region(p, r, how, err);
    remote_give_back(r);
    cost->borrowed_ns = threads_now_ns() - one.began_ns;
    threads_resume(&one);
    return result;
}
