/* give_file.c: pass an open file to a stopped process.
 *
 * The process gets a pair of sockets. The tool copies one socket (pidfd_getfd) and sends the file
 * over it, so no path is opened in the process: its root, its user and its limits do not matter. */
#include "attach/give_file.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Memory in the process for a call of recvmsg that receives a descriptor. */
struct received {
    struct msghdr head;
    struct iovec data;
    char byte[8];
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
};

/* Send FD over SOCKET. Return 0, or a negative error number. */
static int
send_file(int socket, int fd)
{
    char byte = 0;
    struct iovec data = {&byte, 1};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {0};
    struct msghdr head = {.msg_iov = &data,
                          .msg_iovlen = 1,
                          .msg_control = control,
                          .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&head);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    return sendmsg(socket, &head, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Return a copy of descriptor FD of process PID, or a negative error number. */
static int
copy_descriptor(uint32_t pid, int fd)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    int copy = process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, fd, 0) : -1;
    int error = errno;

    if (process >= 0)
        close(process);
    return copy >= 0 ? copy : -error;
}

/* Receive a descriptor from SOCKET in the process. Return it, or a negative error number. */
static int
receive_file(struct remote *r, int socket, uint64_t scratch)
{
    const struct target *t = r->threads->target;
    struct received message = {0};
    struct cmsghdr *c;
    long result;
    int fd;

    message.head.msg_iov = (struct iovec *)(uintptr_t)(scratch + offsetof(struct received, data));
    message.head.msg_iovlen = 1;
    message.head.msg_control = (void *)(uintptr_t)(scratch + offsetof(struct received, control));
    message.head.msg_controllen = sizeof message.control;
    message.data.iov_base = (void *)(uintptr_t)(scratch + offsetof(struct received, byte));
    message.data.iov_len = 1;
    if (!target_write(t, scratch, &message, sizeof message))
        return -EFAULT;
    result = remote_syscall(r, SYS_recvmsg, (uint64_t)socket, scratch, MSG_CMSG_CLOEXEC, 0, 0, 0);
    if (result < 0 || !target_read(t, scratch, &message, sizeof message))
        return result < 0 ? (int)result : -EFAULT;
    c = (struct cmsghdr *)(void *)message.control;
    if (message.head.msg_controllen < CMSG_LEN(sizeof fd) || c->cmsg_type != SCM_RIGHTS)
        return -EMFILE; // The process has no free descriptor.
    memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

int
give_file(struct remote *r, int fd, uint64_t scratch, const char **ret_call)
{
    int pair[2], ours, result;
    long made = remote_syscall(r, SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, scratch,
                               0, 0);

    *ret_call = "socketpair";
    if (made < 0 || !target_read(r->threads->target, scratch, pair, sizeof pair))
        return made < 0 ? (int)made : -EFAULT;
    *ret_call = "pidfd_getfd";
    ours = copy_descriptor(r->threads->target->pid, pair[1]);
    remote_undo(r, SYS_close, (uint64_t)pair[1], 0);
    if (ours >= 0)
        *ret_call = "sendmsg";
    result = ours < 0 ? ours : send_file(ours, fd);
    if (result == 0) {
        *ret_call = "recvmsg";
        result = receive_file(r, pair[0], scratch);
    }
    remote_undo(r, SYS_close, (uint64_t)pair[0], 0);
    if (ours >= 0)
        close(ours);
    return result;
}
