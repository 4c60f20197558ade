/* others.c: write 7 times to each of two blocks of 112 bytes and free one, in a program that has
 * had another thread. Live blocks must not be examined, because another thread might free them
 * meanwhile.
 *
 *     others sized    the allocator, sized.c, ends the process if it is called for a size
 *     others quiet    the kernel ends it if memory is read by a system call
 *
 * First, the program writes to all usable bytes of a block of 96 bytes. A request to merge the live
 * blocks must then be refused: the status is 0. The status is 77 if the kernel has no filter for
 * system calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int __memprof_profile_dump(void);

static void *volatile kept;

static void *
allocate(void *arg)
{
    kept = malloc(10);
    free(kept);
    return arg;
}

static void
use_all(void)
{
    volatile char *p;
    size_t size_bytes;

    kept = malloc(96);
    p = kept;
    size_bytes = malloc_usable_size(kept);
    for (size_t i = 0; i < size_bytes; i++)
        p[i] = (char)0xff;
    free(kept);
}

static int
forbid_asking(void)
{
    int *is_over = dlsym(RTLD_DEFAULT, "asking_is_over");

    if (is_over == NULL)
        return 1;
    *is_over = 1;
    return 0;
}

static int
forbid_reading(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
                   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0
               ? 77
               : 0;
}

int
main(int argc, char **argv)
{
    volatile char *p[2];
    pthread_t other;
    int status;

    for (int i = 0; i < 2; i++) {
        kept = malloc(112);
        p[i] = kept;
        for (int j = 0; j < 7; j++)
            p[i][0] = 1;
    }
    use_all();
    pthread_create(&other, NULL, allocate, NULL);
    pthread_join(other, NULL);
    free((void *)p[0]);
    status = argc > 1 && strcmp(argv[1], "sized") == 0 ? forbid_asking() : forbid_reading();
    if (status != 0)
        return status;
    return __memprof_profile_dump() == -1 ? 0 : 2;
}
