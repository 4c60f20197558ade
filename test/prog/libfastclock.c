/* libfastclock.c: to be preloaded after the recorder: a clock that runs fast.
 *
 * Only the recorder reads the coarse monotonic clock. That clock advances only when it is read: by
 * a fraction of the elapsed time, but at least 4 milliseconds. So a week passes in some 50,000
 * readings, and each doubling of the time has the minimum number of readings of a run in real time.
 *
 * The recorder's clock comes from the kernel's vDSO, so this library replaces the vDSO: its
 * constructor, which runs before the recorder's, changes the vDSO address that the kernel passed to
 * the process. libc has found its clock by then. */
#include <elf.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PART = 4096, LEAST_NS = 4000000, START_S = 1000 };

#define NS_PER_S UINT64_C(1000000000)

_Atomic uint64_t fastclock_elapsed_ns;

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

__attribute__((constructor)) static void
take_place(int argc, char **argv, char **environment)
{
    Elf64_auxv_t *v;

    (void)argc;
    (void)argv;
    while (*environment != NULL)
        environment++;
    for (v = (Elf64_auxv_t *)(void *)(environment + 1); v->a_type != AT_NULL; v++)
        if (v->a_type == AT_SYSINFO_EHDR)
            v->a_un.a_val = (uint64_t)(uintptr_t)&__ehdr_start;
}

int __vdso_clock_gettime(clockid_t clock, struct timespec *ret);

int
__vdso_clock_gettime(clockid_t clock, struct timespec *ret)
{
    uint64_t elapsed;

    if (clock != CLOCK_MONOTONIC_COARSE)
        return (int)syscall(SYS_clock_gettime, clock, ret);
    elapsed = atomic_load(&fastclock_elapsed_ns);
    elapsed = atomic_fetch_add(&fastclock_elapsed_ns, elapsed / PART + LEAST_NS);
    ret->tv_sec = (time_t)(START_S + elapsed / NS_PER_S);
    ret->tv_nsec = (long)(elapsed % NS_PER_S);
    return 0;
}
