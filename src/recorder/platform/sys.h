/* sys.h: system calls of the recorder, straight to the kernel.
 *
 * libc's wrappers will not do: some are cancellation points, the host may interpose them, and all
 * set errno. These return the result or a negative error number, touch nothing else, and are safe
 * in signal handlers.
 */
#ifndef PLATFORM_SYS_H
#define PLATFORM_SYS_H

#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "base/base.h"

/* True if the result of a call that returns a pointer is an error number. */
static inline bool
sys_failed(const void *p)
{
    return (uintptr_t)p > (uintptr_t)-4096;
}

/* From now on, in this process and the children that it forks, make no system call: those that tell
 * something give the best answer without one, all others fail with -EPERM. For programs that are
 * about to forbid them. There is no way back. */
void sys_be_quiet(void);
bool sys_is_quiet(void);

void *sys_mmap(void *address, size_t size_bytes, int protection, int flags, int fd, uint64_t off);
void *sys_mremap(void *address, size_t old_bytes, size_t new_bytes, int flags, void *new_address);
int sys_munmap(void *address, size_t size_bytes);

/* The same in a quiet process. Only where the program has just made a call of its own. */
void sys_munmap_always(void *address, size_t size_bytes);
int sys_madvise(void *address, size_t size_bytes, int advice);
int sys_mprotect(void *address, size_t size_bytes, int protection);
int sys_munlock(void *address, size_t size_bytes);
int sys_mincore(const void *address, size_t size_bytes, unsigned char *ret_present);

/* Open PATH at a high descriptor number. A program that closes descriptors which are not its own
 * gets low ones again for its files; so between two calls of ours a number may come to mean another
 * file. At a high one that takes more than closing it. */
int sys_open(const char *path, int flags, int mode);

/* The same for the file that is known by DEVICE and INODE; -EBADF if the descriptor has been taken
 * away meanwhile. */
int sys_open_again(const char *path, int flags, uint64_t device, uint64_t inode);
bool sys_is_file(int fd, uint64_t device, uint64_t inode);
int sys_close(int fd);
int sys_fstat(int fd, struct stat *ret_stat);

/* Like fstat, for PATH itself, even if that is a symbolic link; opens nothing. */
int sys_lstat(const char *path, struct stat *ret_stat);
int sys_ftruncate(int fd, uint64_t size_bytes);
int sys_fallocate(int fd, uint64_t off, uint64_t size_bytes);

/* Reads at an offset only: a file that is not ours after all does not notice. */
long sys_pread(int fd, void *buffer, size_t size_bytes, uint64_t off);
long sys_pwrite(int fd, const void *data, size_t size_bytes, uint64_t off);
long sys_write(int fd, const void *data, size_t size_bytes);

/* Write DATA at once or not at all: never waits for a reader, and raises no signal. */
void sys_write_politely(int fd, const void *data, size_t size_bytes);

/* Write all of DATA, waiting as long as it takes, and raise no signal: 0, or a negative error
 * number. */
int sys_write_all(int fd, const void *data, size_t size_bytes);
int sys_unlink(const char *path);
int sys_mkdir(const char *path, int mode);

/* Give the open file FD, which may have no name, the new name PATH. */
int sys_link(int fd, const char *path);
long sys_readlink(const char *path, char *buffer, size_t size_bytes);

/* The working directory, of the time before quiet if it is quiet: the bytes used, or a negative
 * error number. */
int sys_getcwd(char *buffer, size_t size_bytes);

int sys_getpid(void);
int sys_getppid(void);

/* Is this process PID? Answered in a quiet process, too. */
bool sys_is_process(uint32_t pid);

/* The thread's id, or, where it may not be asked for, a number that no other call gives. */
int sys_gettid(void);
int sys_tgkill(int pid, int tid, int signal);

/* Send SIGNAL, which a handler got with INFO, to the calling thread, also in a quiet process. */
void sys_raise_again(int signal, const siginfo_t *info);
int sys_thread_name(char *ret_name_16);

/* Let another thread go on, for the ATTEMPT-th time: first by giving up the processor, later by
 * sleeping for a tenth of a millisecond. */
void sys_wait(uint32_t attempt);

/* Keep signals from this thread while it holds what others wait for: a handler may jump out and
 * never come back. Returns the mask to give to sys_unblock_signals, which does nothing if blocking
 * had failed. */
uint64_t sys_block_signals(void);
void sys_unblock_signals(uint64_t mask);

/* Return whether the page of ADDRESS can be read, at the cost of a system call that never waits.
 * False where the call is forbidden. Another thread may unmap the page right afterwards. */
bool sys_is_readable(uint64_t address);

/* Is the caller on its alternate signal stack? */
bool sys_on_signal_stack(void);

/* A limit of the process (RLIMIT_AS and so on); UINT64_MAX = none, or not known. */
uint64_t sys_limit(int resource);

/* On how many processors the process may run; 0 = not known. */
uint32_t sys_processors(void);

struct utsname;
int sys_uname(struct utsname *ret_name);

/* The kernel's function by which a process reads clocks without a system call; NULL = none. */
typedef int sys_clock_fn(clockid_t clock, struct timespec *ret_time);
void sys_use_clock(sys_clock_fn *f);

/* The coarse clock, nanoseconds: costs no system call where the kernel offers that, and has a
 * resolution of a few milliseconds. Where it does not and calls are forbidden the clock stands
 * still. */
uint64_t sys_clock_ns(void);

/* The processor time of this thread, nanoseconds, by a system call; the coarse clock where the
 * kernel does not say. */
uint64_t sys_work_ns(void);

/* The time of day, nanoseconds since 1970. */
uint64_t sys_unix_ns(void);

/* The auxiliary vector as the kernel has it: its bytes, or a negative error number. */
long sys_auxiliary(void *buffer, size_t size_bytes);

/* Has the process other rights than the user who started it, by its ids? */
bool sys_has_more_rights(void);

#endif
