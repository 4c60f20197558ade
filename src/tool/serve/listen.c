/* listen.c: the socket of the server, and its token.
 *
 * A profile shows the names of a program's functions and its memory, so by default only this
 * machine is served. A Unix socket belongs to its user alone. */
#include "serve/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define UNIX_PREFIX "unix:"

enum { BACKLOG = 64, TOKEN_LEAST = 16, TOKEN_MOST = 4096 };

/* Remove the socket at ADDRESS if no server listens at it. */
static void
remove_stale(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct stat st;

    if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno == ECONNREFUSED && lstat(address->sun_path, &st) == 0 && S_ISSOCK(st.st_mode))
        unlink(address->sun_path);
    if (fd >= 0)
        close(fd);
}

static int
open_unix(const char *path, struct arena *arena, struct listener *ret, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    mode_t mask;
    int fd, r;

    if (*path == '\0' || strlen(path) >= sizeof address.sun_path)
        return err_set(err, HEAPTAP_USAGE,
                       "--listen: the path of a Unix socket has 1 to %zu bytes: %s",
                       sizeof address.sun_path - 1, path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    remove_stale(&address);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mask = umask(0177);
    r = fd < 0 ? -1 : bind(fd, (struct sockaddr *)&address, sizeof address);
    umask(mask);
    if (r != 0 || listen(fd, BACKLOG) != 0 || stat(path, &st) != 0) {
        err_errno(err, HEAPTAP_BAD_INPUT, "cannot listen at %s", path);
        if (fd >= 0)
            close(fd);
        return HEAPTAP_BAD_INPUT;
    }
    *ret = (struct listener){fd,          true, arena_strdup(arena, path),
                             arena_printf(arena, UNIX_PREFIX "%s", path),
                             st.st_dev,   st.st_ino};
    return 0;
}

static bool
is_loopback(const struct sockaddr *a)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;

    return a->sa_family == AF_INET ? (ntohl(v4->sin_addr.s_addr) >> 24) == 127
                                   : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* Listen at A. Returns the descriptor, or -1 with errno set. */
static int
listen_at(const struct addrinfo *a)
{
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, error;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Return the address of FD as a URL. */
static const char *
url_of(int fd, struct arena *arena)
{
    struct sockaddr_storage a;
    socklen_t size = sizeof a;
    char host[NI_MAXHOST], port[NI_MAXSERV];

    if (getsockname(fd, (struct sockaddr *)&a, &size) != 0 ||
        getnameinfo((struct sockaddr *)&a, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return "http://?";
    return arena_printf(arena, strchr(host, ':') ? "http://[%s]:%s" : "http://%s:%s", host, port);
}

static int
open_tcp(const char *text, struct arena *arena, struct listener *ret, struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    const char *colon = strrchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    struct addrinfo *found;
    char *host;
    int fd, r;

    if (colon == NULL || length == 0)
        return err_set(err, HEAPTAP_USAGE, "--listen needs HOST:PORT or unix:PATH, not '%s'", text);
    host = arena_strndup(arena, text, length);
    if (*host == '[' && host[length - 1] == ']') {
        host[length - 1] = '\0';
        host++;
    }
    r = getaddrinfo(host, colon + 1, &hints, &found);
    if (r != 0)
        return err_set(err, HEAPTAP_USAGE, "--listen: '%s' is no address: %s", text,
                       gai_strerror(r));
    fd = listen_at(found);
    if (fd < 0)
        err_errno(err, HEAPTAP_BAD_INPUT, "cannot listen at %s", text);
    else
        *ret = (struct listener){.fd = fd,
                                 .is_loopback = is_loopback(found->ai_addr),
                                 .shown = url_of(fd, arena)};
    freeaddrinfo(found);
    return fd < 0 ? HEAPTAP_BAD_INPUT : 0;
}

int
listener_open(const char *text, struct arena *arena, struct listener *ret, struct err *err)
{
    size_t prefix = sizeof UNIX_PREFIX - 1;

    return strncmp(text, UNIX_PREFIX, prefix) == 0 ? open_unix(text + prefix, arena, ret, err)
                                                   : open_tcp(text, arena, ret, err);
}

void
listener_close(struct listener *l)
{
    struct stat st;

    if (l->path != NULL && lstat(l->path, &st) == 0 && st.st_dev == l->device &&
        st.st_ino == l->inode)
        unlink(l->path);
    close(l->fd);
}

int
token_read(const char *path, struct arena *arena, const char **ret, struct err *err)
{
    char text[TOKEN_MOST + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : -1;

    if (n < 0)
        err_errno(err, HEAPTAP_BAD_INPUT, "cannot read the token in %s", path);
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return HEAPTAP_BAD_INPUT;
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        n--;
    for (ssize_t i = 0; i < n; i++)
        if (text[i] <= ' ' || text[i] > '~')
            n = 0;
    if (n < TOKEN_LEAST || n > TOKEN_MOST)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s: a token is one line of %d to %d printable characters without blanks; "
                       "openssl rand -hex 32 makes one",
                       path, TOKEN_LEAST, TOKEN_MOST);
    *ret = arena_strndup(arena, text, (size_t)n);
    return 0;
}
