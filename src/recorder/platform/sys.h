/* sys.h: system calls of the recorder, straight to the kernel.
 *
 * libc's wrappers are unsuitable: some are cancellation points, the host may interpose them, and
 * all set errno. These functions return the result or a negative error number, touch nothing else,
 * and are async-signal-safe. */
#ifndef PLATFORM_SYS_H
#define PLATFORM_SYS_H

#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "base/base.h"

/* Return true if P, the result of a call that returns a pointer, is an error number. */
static inline bool
sys_failed(const void *p)
{
    return (uintptr_t)p > (uintptr_t)-4096;
}

/* From now on, in this process and its forked children, make no system call. Calls that return a
 * fact give the best answer without the kernel; all others fail with -EPERM. For programs that are
 * about to forbid system calls. Cannot be undone. */
void sys_be_quiet(void);
bool sys_is_quiet(void);

void *sys_mmap(void *address, size_t size_bytes, int protection, int flags, int fd, uint64_t off);
void *sys_mremap(void *address, size_t old_bytes, size_t new_bytes, int flags, void *new_address);
int sys_munmap(void *address, size_t size_bytes);

/* Like sys_munmap, but also in a quiet process. Only for use right after a system call of the
 * program. */
void sys_munmap_always(void *address, size_t size_bytes);
int sys_madvise(void *address, size_t size_bytes, int advice);
int sys_mprotect(void *address, size_t size_bytes, int protection);
int sys_munlock(void *address, size_t size_bytes);
int sys_mincore(const void *address, size_t size_bytes, unsigned char *ret_present);

/* Open PATH at a high descriptor number. A program that closes descriptors which it did not open
 * gets low ones again for its files. So between two calls of the recorder a low number may come to
 * mean another file; a high number hardly does. */
int sys_open(const char *path, int flags, int mode);

/* Like sys_open, for the file with DEVICE and INODE; -EBADF if the program has closed the
 * descriptor meanwhile. */
int sys_open_again(const char *path, int flags, uint64_t device, uint64_t inode);
bool sys_is_file(int fd, uint64_t device, uint64_t inode);
int sys_close(int fd);
int sys_fstat(int fd, struct stat *ret_stat);

/* Like fstat, for PATH itself, even if that is a symbolic link; opens nothing. */
int sys_lstat(const char *path, struct stat *ret_stat);
int sys_ftruncate(int fd, uint64_t size_bytes);
int sys_fallocate(int fd, uint64_t off, uint64_t size_bytes);

/* Reads at an offset only: if the descriptor is another file after all, its position does not
 * change. */
long sys_pread(int fd, void *buffer, size_t size_bytes, uint64_t off);
long sys_pwrite(int fd, const void *data, size_t size_bytes, uint64_t off);
long sys_write(int fd, const void *data, size_t size_bytes);

/* Write DATA at once or not; never wait for a reader, raise no signal. */
void sys_write_politely(int fd, const void *data, size_t size_bytes);

/* Write all of DATA, waiting as long as it takes; raise no signal. Return 0, or a negative error
 * number. */
int sys_write_all(int fd, const void *data, size_t size_bytes);
int sys_unlink(const char *path);
int sys_mkdir(const char *path, int mode);

/* Give the open file FD, which may have no name, the new name PATH. */
int sys_link(int fd, const char *path);
long sys_readlink(const char *path, char *buffer, size_t size_bytes);

/* Store the working directory; in a quiet process, the one from before. Return the bytes used, or a
 * negative error number. */
int sys_getcwd(char *buffer, size_t size_bytes);

int sys_getpid(void);
int sys_getppid(void);

/* Return true if this process has the id PID. Also works in a quiet process. */
bool sys_is_process(uint32_t pid);

/* Return the thread's id; in a quiet process a made-up number that no other call returns. */
int sys_gettid(void);
int sys_tgkill(int pid, int tid, int signal);

/* Send SIGNAL, which a handler received with INFO, to the calling thread, also in a quiet
 * process. */
void sys_raise_again(int signal, const siginfo_t *info);
int sys_thread_name(char *ret_name_16);

/* Back off, for the ATTEMPT-th time: yield the processor at first, later sleep for a tenth of a
 * millisecond. */
void sys_wait(uint32_t attempt);

/* Block this thread's signals while it holds something that others wait for: a handler may jump out
 * and never return. Return the mask for sys_unblock_signals, which does nothing if blocking has
 * failed. */
uint64_t sys_block_signals(void);
void sys_unblock_signals(uint64_t mask);

/* Return true if the page of ADDRESS can be read, at the cost of a system call that never waits.
 * False where the call is forbidden. Another thread may unmap the page right afterwards. */
bool sys_is_readable(uint64_t address);

/* Return true if the caller is on its alternate signal stack. */
bool sys_on_signal_stack(void);

/* Return a limit of the process (RLIMIT_AS and so on); UINT64_MAX = none, or not known. */
uint64_t sys_limit(int resource);

/* Return the number of processors that the process may run on; 0 = not known. */
uint32_t sys_processors(void);

struct utsname;
int sys_uname(struct utsname *ret_name);

/* The kernel's function that reads clocks without a system call; NULL = none. */
typedef int sys_clock_fn(clockid_t clock, struct timespec *ret_time);
void sys_use_clock(sys_clock_fn *f);

/* Return the coarse clock in nanoseconds. Makes no system call where the kernel supports that, and
 * has a resolution of a few milliseconds. Without that support, it does not advance in a quiet
 * process. */
uint64_t sys_clock_ns(void);

/* Return the processor time of this thread in nanoseconds, by a system call; the coarse clock where
 * the kernel does not report it. */
uint64_t sys_work_ns(void);

/* Return the time of day in nanoseconds since 1970. */
uint64_t sys_unix_ns(void);

/* Store the kernel's auxiliary vector. Return its bytes, or a negative error number. */
long sys_auxiliary(void *buffer, size_t size_bytes);

/* Return true if the process has other credentials than the user who started it, judging by its
 * ids. */
bool sys_has_more_rights(void);

#endif
