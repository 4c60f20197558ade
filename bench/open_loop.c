/* open_loop.c: send requests to kv_server at a constant rate, and measure the latency of the
 * answers.
 *
 *     open_loop SOCKET CONNECTIONS SECONDS RATE
 *
 * Request I is due at the time I / RATE after the start, even if earlier answers are missing. The
 * latency of its answer begins at that time, even if the request could only be sent later. A client
 * that waits for each answer would send fewer requests while the server is slow, and so would miss
 * most of the delays that users experience. With RATE 0, each connection does wait, and the result
 * is the server's maximum throughput.
 *
 * Answers on a connection arrive in the order of requests. Request I is sent on connection I mod
 * CONNECTIONS, so requests need no numbers. The only thread spins, because sleeping would be less
 * exact than the measured latencies; it should have a processor for itself.
 *
 * The output is "asked" and "answered" (after the last request it waits some seconds), and "rate",
 * the answers per second. p50_ns, p99_ns, p999_ns and max_ns are for requests that were due in the
 * last four fifths of the time; first_max_ns is the maximum for the first fifth. A missing answer
 * counts with the time waited so far. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "descent.h"

enum {
    CONNECTIONS_MAX = 256,
    POOL = 4096, // Number of different requests.
    REQUEST_MAX = 512,
    ANSWER_MAX = 65536,
    KEYS = 3000,
    GRACE_S = 3,
    AT_MOST_A_SECOND = 2000000, // Maximum number of answers per second, with RATE 0.
    WARM_SHARE = 5,
};

struct connection {
    int fd;
    uint64_t sent, answered; // Numbers of requests.
    size_t offset;           // Number of bytes of the next request that were sent.
    size_t length;           // Number of bytes in text.
    char text[ANSWER_MAX];
};

static struct connection connections[CONNECTIONS_MAX];
static char pool[POOL][REQUEST_MAX];
static unsigned connection_count;
static uint64_t request_limit, answered, began_ns, end_ns, *waited_ns;
static double ns_apart; // Time between requests; 0 = each request waits for an answer.

static uint64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
fail(const char *what)
{
    fprintf(stderr, "open_loop: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void
make_pool(void)
{
    static const char *const verbs[] = {"set", "set", "get", "get", "list", "join"};
    uint64_t state = 5;

    for (int i = 0; i < POOL; i++) {
        uint64_t r = descent_random(&state);
        const char *verb = verbs[r % (sizeof verbs / sizeof verbs[0])];
        char body[200];
        int length = snprintf(body, sizeof body,
                              "alpha=bravo charlie %u&delta=echo&foxtrot=%u golf hotel&india=%u",
                              (unsigned)(r >> 40), (unsigned)(r >> 44), (unsigned)(r >> 48));

        snprintf(pool[i], REQUEST_MAX,
                 "POST /%s/key%u HTTP/1.1\r\nHost: bench.example\r\nUser-Agent: bench/1\r\n"
                 "Accept: text/plain\r\nContent-Length: %d\r\n\r\n%s",
                 verb, (unsigned)(r >> 8) % KEYS, length, body);
    }
}

static void
connect_all(const char *path, int epoll)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    for (unsigned i = 0; i < connection_count; i++) {
        struct connection *c = &connections[i];
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};

        c->fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address) ||
            epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e))
            fail(path);
    }
}

static uint64_t
request_number(const struct connection *c, uint64_t count)
{
    return count * connection_count + (uint64_t)(c - connections);
}

static uint64_t
due_ns(uint64_t request)
{
    return began_ns + (uint64_t)((double)request * ns_apart);
}

static bool
is_due(const struct connection *c, uint64_t now)
{
    uint64_t request = request_number(c, c->sent);

    if (c->offset)
        return true;
    if (ns_apart == 0)
        return c->sent == c->answered && now < end_ns && request < request_limit;
    return request < request_limit && due_ns(request) <= now;
}

/* Send the due requests, as many as the server accepts. */
static void
send_due(struct connection *c, uint64_t now)
{
    while (is_due(c, now)) {
        const char *text = pool[request_number(c, c->sent) % POOL];
        size_t length = strlen(text);
        ssize_t n = send(c->fd, text + c->offset, length - c->offset, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0)
            fail("send");
        if (ns_apart == 0 && c->offset == 0)
            waited_ns[request_number(c, c->sent)] = now;
        c->offset += (size_t)n;
        if (c->offset == length) {
            c->offset = 0;
            c->sent++;
        }
    }
}

/* Return the length of the answer at the start of TEXT; 0 if it is incomplete. */
static size_t
answer_length(const char *text, size_t length)
{
    static const char name[] = "Content-Length: ";
    const char *head_end = memmem(text, length, "\r\n\r\n", 4);
    const char *field = head_end ? memmem(text, (size_t)(head_end - text), name,
                                          sizeof name - 1) : NULL;
    size_t whole;

    if (!field)
        return 0;
    whole = (size_t)(head_end - text) + 4 + strtoul(field + sizeof name - 1, NULL, 10);
    return whole <= length ? whole : 0;
}

static void
take_answers(struct connection *c, uint64_t now)
{
    size_t at = 0, whole;

    while ((whole = answer_length(c->text + at, c->length - at))) {
        uint64_t request = request_number(c, c->answered);

        waited_ns[request] = now - (ns_apart == 0 ? waited_ns[request] : due_ns(request));
        c->answered++;
        answered++;
        at += whole;
    }
    memmove(c->text, c->text + at, c->length - at);
    c->length -= at;
}

static void
receive(struct connection *c)
{
    ssize_t n = recv(c->fd, c->text + c->length, ANSWER_MAX - c->length, MSG_DONTWAIT);

    if (n == 0)
        fail("the server has ended");
    if (n > 0) {
        c->length += (size_t)n;
        take_answers(c, now_ns());
    }
}

static bool
all_answered(void)
{
    for (unsigned i = 0; i < connection_count; i++)
        if (connections[i].sent > connections[i].answered || is_due(&connections[i], end_ns))
            return false;
    return true;
}

/* Run to the end of the measured time, and then until all requests are answered, at most for
 * GRACE_S. Return the time of the end. */
static uint64_t
ask(int epoll)
{
    struct epoll_event events[CONNECTIONS_MAX];
    uint64_t now;

    while ((now = now_ns()) < end_ns || !all_answered()) {
        int n = epoll_wait(epoll, events, CONNECTIONS_MAX, 0);

        if (now > end_ns + (uint64_t)GRACE_S * 1000000000)
            break;
        for (int i = 0; i < n; i++)
            receive(&connections[events[i].data.u32]);
        for (unsigned i = 0; i < connection_count; i++)
            send_due(&connections[i], now);
    }
    return now;
}

static int
by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Add the waits of requests without an answer, which have waited until NOW. Return the number of
 * requests sent. */
static uint64_t
add_unanswered(uint64_t now)
{
    uint64_t asked = 0;

    for (unsigned i = 0; i < connection_count; i++) {
        struct connection *c = &connections[i];

        for (uint64_t k = c->answered; request_number(c, k) < request_limit; k++)
            if (ns_apart > 0)
                waited_ns[request_number(c, k)] = now - due_ns(request_number(c, k));
        asked += c->sent;
    }
    return asked;
}

static void
print_quantile(const char *name, double share, uint64_t count)
{
    printf("%s %lu\n", name, waited_ns[(uint64_t)(share * (double)(count - 1))]);
}

static void
print_times(void)
{
    uint64_t warm = request_limit / WARM_SHARE, count = request_limit - warm;

    qsort(waited_ns, warm, sizeof *waited_ns, by_size);
    printf("first_max_ns %lu\n", waited_ns[warm - 1]);
    waited_ns += warm;
    qsort(waited_ns, count, sizeof *waited_ns, by_size);
    print_quantile("p50_ns", 0.5, count);
    print_quantile("p99_ns", 0.99, count);
    print_quantile("p999_ns", 0.999, count);
    print_quantile("max_ns", 1, count);
}

int
main(int argc, char **argv)
{
    double seconds = argc == 5 ? atof(argv[3]) : 0, rate = argc == 5 ? atof(argv[4]) : -1;
    int epoll = epoll_create1(0);
    uint64_t ended, asked;

    connection_count = argc == 5 ? (unsigned)atoi(argv[2]) : 0;
    if (seconds <= 0 || rate < 0 || !connection_count || connection_count > CONNECTIONS_MAX) {
        fprintf(stderr, "usage: open_loop SOCKET CONNECTIONS SECONDS RATE\n");
        return 2;
    }
    ns_apart = rate > 0 ? 1e9 / rate : 0;
    request_limit = (uint64_t)(seconds * (rate > 0 ? rate : AT_MOST_A_SECOND));
    waited_ns = calloc(request_limit + 1, sizeof *waited_ns);
    if (!waited_ns || request_limit < WARM_SHARE)
        fail("too few or too many requests");
    make_pool();
    connect_all(argv[1], epoll);
    began_ns = now_ns();
    end_ns = began_ns + (uint64_t)(seconds * 1e9);
    ended = ask(epoll);
    asked = add_unanswered(ended);
    printf("asked %lu\nanswered %lu\nrate %.1f\n", asked, answered,
           (double)answered / ((double)(ended - began_ns) / 1e9));
    if (rate > 0)
        print_times();
    return 0;
}
