/* listen.h: the socket of the server, and its token. */
#ifndef SERVE_LISTEN_H
#define SERVE_LISTEN_H

#include "util/arena.h"
#include "util/err.h"

struct listener {
    int fd;
    bool is_loopback;   // Only this machine can connect.
    const char *path;   // Path of a Unix socket; else NULL.
    const char *shown;  // For people: "http://127.0.0.1:9797" or "unix:PATH".
    uint64_t device, inode; // Identity of the Unix socket.
};

/* Listen at TEXT, "HOST:PORT" or "unix:PATH". Texts are from ARENA. Returns 0 or an error with ERR
 * set. */
int listener_open(const char *text, struct arena *arena, struct listener *ret, struct err *err);

/* Close L, and remove its Unix socket. */
void listener_close(struct listener *l);

/* Read the token in the file PATH, from ARENA. Returns 0 or an error with ERR set. */
int token_read(const char *path, struct arena *arena, const char **ret, struct err *err);

#endif
