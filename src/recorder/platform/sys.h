/* sys.h: system calls of the recorder, made directly to the kernel.
 *
 * libc's wrappers are unsuitable: some are cancellation points, the host may interpose them, and
 * all set errno. The functions here return the result or a negative error number, have no other
 * effect, and are async-signal-safe. */
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

/* Make no system call from now on, in this process and its forked children. Calls that return a
 * fact give the best answer possible without the kernel; all others fail with -EPERM. For programs
 * that are about to forbid system calls. sys_be_quiet_no_longer undoes it, for the end of an
 * attached recorder. */
void sys_be_quiet(void);
void sys_be_quiet_no_longer(void);
bool sys_is_quiet(void);

void *sys_mmap(void *address, size_t size_bytes, int protection, int flags, int fd, uint64_t off);
void *sys_mremap(void *address, size_t old_bytes, size_t new_bytes, int flags, void *new_address);
int sys_munmap(void *address, size_t size_bytes);

/* Like sys_munmap, but works in a quiet process. Only for use directly after a system call of the
 * program. */
void sys_munmap_always(void *address, size_t size_bytes);
int sys_madvise(void *address, size_t size_bytes, int advice);
int sys_mprotect(void *address, size_t size_bytes, int protection);
int sys_munlock(void *address, size_t size_bytes);
int sys_mincore(const void *address, size_t size_bytes, unsigned char *ret_present);

/* Open PATH at a high descriptor number. A program may close descriptors that it did not open, and
 * the kernel then reuses low numbers for the program's files. So between two calls of the recorder
 * a low number may become another file; for a high number this is very unlikely. */
int sys_open(const char *path, int flags, int mode);

/* Like sys_open, for the file with DEVICE and INODE. Returns -EBADF if the program closed the
 * descriptor in the meantime. */
int sys_open_again(const char *path, int flags, uint64_t device, uint64_t inode);
bool sys_is_file(int fd, uint64_t device, uint64_t inode);
int sys_close(int fd);
int sys_fstat(int fd, struct stat *ret_stat);

/* Like fstat, for PATH itself, even if it is a symbolic link. Opens no file. */
int sys_lstat(const char *path, struct stat *ret_stat);
int sys_ftruncate(int fd, uint64_t size_bytes);
int sys_fallocate(int fd, uint64_t off, uint64_t size_bytes);

/* Read or write at the offset OFF. If the descriptor has become another file, the position of that
 * file does not change. */
long sys_pread(int fd, void *buffer, size_t size_bytes, uint64_t off);
long sys_pwrite(int fd, const void *data, size_t size_bytes, uint64_t off);
long sys_write(int fd, const void *data, size_t size_bytes);

/* Write DATA if that is possible at once, else write nothing. Never wait for a reader, and raise no
 * signal. */
void sys_write_politely(int fd, const void *data, size_t size_bytes);

/* Write all of DATA, waiting as long as necessary. Raise no signal. Return 0, or a negative error
 * number. */
int sys_write_all(int fd, const void *data, size_t size_bytes);

/* Send DATA as a datagram to the Unix socket with the abstract NAME, if its queue has room. Return
 * 0, or a negative error number. */
int sys_send(const char *name, const void *data, size_t size_bytes);
int sys_unlink(const char *path);
int sys_mkdir(const char *path, int mode);

/* Give the open file FD, which may be unnamed, the new name PATH. */
int sys_link(int fd, const char *path);
long sys_readlink(const char *path, char *buffer, size_t size_bytes);

/* Store the working directory; in a quiet process, the last one before it became quiet. Return the
 * bytes used, or a negative error number. */
int sys_getcwd(char *buffer, size_t size_bytes);

int sys_getpid(void);
int sys_getppid(void);

/* Return true if this process has the id PID. Works in a quiet process. */
bool sys_is_process(uint32_t pid);

/* Return the thread's id. In a quiet process, return an invented number that no other call
 * returns. */
int sys_gettid(void);
int sys_tgkill(int pid, int tid, int signal);

/* Send SIGNAL, which a handler received with INFO, to the calling thread again. Works after
 * sys_be_quiet too. */
void sys_raise_again(int signal, const siginfo_t *info);
int sys_thread_name(char *ret_name_16);

/* Wait between two attempts. ATTEMPT is the number of earlier waits: first yield the processor,
 * later sleep for a tenth of a millisecond. */
void sys_wait(uint32_t attempt);

/* Block this thread's signals, except SIGBUS, while it has exclusive use of something that others
 * wait for: a handler may jump out and never return. Return the mask for sys_unblock_signals, which
 * does nothing if blocking has failed. */
uint64_t sys_block_signals(void);
void sys_unblock_signals(uint64_t mask);

/* Return true if the page of ADDRESS is readable. Costs a system call, which never blocks. Returns
 * false where the call is forbidden. Another thread may unmap the page right afterwards. */
bool sys_is_readable(uint64_t address);

/* Return true if the caller is on its alternate signal stack. */
bool sys_on_signal_stack(void);

/* Return a limit of the process (RLIMIT_AS and so on); UINT64_MAX = none or unknown. */
uint64_t sys_limit(int resource);

/* Return the number of processors that the process may run on; 0 = unknown. */
uint32_t sys_processors(void);

struct utsname;
int sys_uname(struct utsname *ret_name);

/* The kernel's function for reading clocks without a system call; NULL = none. */
typedef int sys_clock_fn(clockid_t clock, struct timespec *ret_time);
void sys_use_clock(sys_clock_fn *f);

/* Return the coarse clock in nanoseconds, with a resolution of a few milliseconds. Makes no system
 * call if the kernel provides a clock function. Without one, the result is constant in a quiet
 * process. */
uint64_t sys_clock_ns(void);

/* Return the processor time of this thread in nanoseconds, by a system call. Returns the coarse
 * clock if the kernel does not report it. */
uint64_t sys_work_ns(void);

/* Return the processor time of this process in nanoseconds, by a system call; 0 if the kernel does
 * not report it. */
uint64_t sys_process_work_ns(void);

/* Return the time of day in nanoseconds since 1970. */
uint64_t sys_unix_ns(void);

/* Store the kernel's auxiliary vector. Return its size in bytes, or a negative error number. */
long sys_auxiliary(void *buffer, size_t size_bytes);

/* Return true if the ids of the process differ from the ids of its starter. */
bool sys_has_more_rights(void);

/* Return true if a process that executes the program at PATH, with the status ST, gets more rights
 * than this process has (setuid, setgid, capabilities). */
bool sys_gives_rights(const char *path, const struct stat *st);

#endif
