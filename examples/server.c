/* cflags: -O1 -g */
/* server.c: a server that marks its phases, labels its requests and sends its own profile.
 *
 *     server SOCKET
 *
 * The server listens on a Unix socket and answers each line with a line:
 *
 *     TENANT KIND BYTES    builds an answer of that many bytes in an arena of the request:
 *                          "ok BYTES"
 *     profile              the profile so far, as text for pprof; then it hangs up
 *     quit                 "bye", and ends
 *
 * The memory of each request has labels, tenant and kind, and belongs to a heap called "request
 * arena"; each request creates one. The table of answers that is loaded at the start is malloc's.
 * Phases are "loading", "serving" and "shutdown". The snapshot "loaded" is taken when everything is
 * loaded. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "heaptap/heaptap.h"

enum { TABLE_ROWS = 1000, ROW_BYTES = 200, ARENA_BYTES = 1 << 16 };

static char *table[TABLE_ROWS];

/* --- An arena for each request --------------------------------------------------------------- */

struct arena {
    char *chunk;
    size_t used;
    heaptap_heap *heap;
};

static void
arena_begin(struct arena *arena)
{
    arena->chunk = malloc(ARENA_BYTES);
    assert(arena->chunk != NULL);
    arena->used = 0;
    arena->heap = heaptap_heap_create("request arena", 1);
    heaptap_backing(arena->heap, arena->chunk, ARENA_BYTES);
}

static __attribute__((noinline)) void *
arena_alloc(struct arena *arena, size_t bytes)
{
    void *p = arena->chunk + arena->used;

    if (bytes > ARENA_BYTES - arena->used)
        return NULL;
    arena->used += bytes;
    /* Nothing is freed individually, so the address does not matter. */
    heaptap_alloc(arena->heap, NULL, 1, bytes);
    return p;
}

static void
arena_end(struct arena *arena)
{
    heaptap_heap_destroy(arena->heap);
    free(arena->chunk);
}

/* --- Requests -------------------------------------------------------------------------------- */

static void
say(int client, const char *text)
{
    if (write(client, text, strlen(text)) < 0)
        perror("write");
}

static __attribute__((noinline)) char *
build_answer(struct arena *arena, size_t bytes)
{
    char *text = arena_alloc(arena, 64);
    char *body = arena_alloc(arena, bytes);

    if (body == NULL)
        return NULL;
    memset(body, 'x', bytes);
    snprintf(text, 64, "ok %lu\n", (unsigned long)bytes);
    return text;
}

static void
serve(int client, const char *tenant, const char *kind, size_t bytes)
{
    heaptap_labels before = heaptap_labels_get();
    struct arena arena;
    const char *answer;

    heaptap_label("tenant", tenant);
    heaptap_label("kind", kind);
    arena_begin(&arena);
    answer = build_answer(&arena, bytes);
    say(client, answer != NULL ? answer : "too large\n");
    arena_end(&arena);
    heaptap_labels_set(before);
}

/* Answer one line. Return 1 to continue, 0 to hang up, -1 to end. */
static int
answer_line(int client, const char *line)
{
    char tenant[32], kind[32];
    unsigned long bytes;

    if (strcmp(line, "quit\n") == 0) {
        say(client, "bye\n");
        return -1;
    }
    if (strcmp(line, "profile\n") == 0) {
        if (heaptap_write(client, "pprof") != 0)
            say(client, "no profile\n");
        return 0;
    }
    if (sscanf(line, "%31s %31s %lu", tenant, kind, &bytes) == 3)
        serve(client, tenant, kind, bytes);
    else
        say(client, "what?\n");
    return 1;
}

static int
talk(int client)
{
    FILE *in = fdopen(client, "r");
    char line[128];
    int more = 1;

    assert(in != NULL);
    while (more > 0 && fgets(line, sizeof line, in) != NULL)
        more = answer_line(client, line);
    fclose(in);
    return more;
}

static void
load_table(void)
{
    int i;

    for (i = 0; i < TABLE_ROWS; i++) {
        table[i] = malloc(ROW_BYTES);
        assert(table[i] != NULL);
        memset(table[i], 'x', ROW_BYTES);
    }
}

int
main(int argc, char **argv)
{
    struct sockaddr_un address = {AF_UNIX, ""};
    int listener, client;

    if (argc != 2 || strlen(argv[1]) >= sizeof address.sun_path) {
        fprintf(stderr, "usage: server SOCKET\n");
        return 2;
    }
    heaptap_phase("loading");
    load_table();
    heaptap_snapshot("loaded");
    strcpy(address.sun_path, argv[1]);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 8) != 0) {
        perror(argv[1]);
        return 1;
    }
    heaptap_phase("serving");
    do
        client = accept(listener, NULL, NULL);
    while (client >= 0 && talk(client) >= 0);
    heaptap_phase("shutdown");
    close(listener);
    return 0;
}
