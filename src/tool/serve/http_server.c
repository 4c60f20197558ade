/* http_server.c: the event loop between the HTTP library and the children that make the answers.
 *
 *     connection ─► request ─┬─► at once: checks, /healthz, errors
 *                            ├─► child: a profile
 *                            └─► the scan in progress, shared by all that wait for it
 *
 * One thread, so that forking is safe. A connection that waits is suspended in the library, and
 * resumed when its child has ended. The order of the checks matters: a stranger learns nothing but
 * the number of the error, whether or not a process exists. */
#include "serve/http_server.h"

#ifdef HEAPTAP_MICROHTTPD

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "serve/answer_pprof.h"
#include "serve/http_request.h"
#include "serve/known.h"
#include "serve/listen.h"
#include "serve/worker.h"
#include "view/messages.h"

enum {
    CONNECTIONS_SERVED = 32,
    CONNECTIONS_HELD = 2 * CONNECTIONS_SERVED, // The others get an error instead of silence.
    IDLE_SECONDS = 30,
    ANSWER_SECONDS = 120,
};

/* A request and its answer. */
struct exchange {
    struct exchange *next;
    struct arena arena;
    const char *uri;
    struct MHD_Connection *connection;
    struct serve_request request;
    const char *address; // The Host of the request.
    struct worker worker;
    bool checked;                    // The library has passed the headers.
    bool has_worker, waits_for_scan; // It is suspended.
    unsigned status; // 0 = not answered yet.
    char type[64];
    struct strbuf body;
};

struct server {
    const struct serve_options *options;
    struct listener listener;
    const char *token;
    int64_t since;
    struct known known;
    struct exchange *exchanges;
    struct worker scan;
    bool scans;
    unsigned connections;
    struct MHD_Daemon *daemon;
};

static void
answer_text(struct exchange *x, unsigned status, const char *text)
{
    x->status = status;
    snprintf(x->type, sizeof x->type, "text/plain; charset=utf-8");
    strbuf_clear(&x->body);
    strbuf_fmt(&x->body, "%s\n", text);
}

static void
answer_index(struct exchange *x, bool pprof)
{
    answer_text(x, 200,
                pprof ? "heap     live blocks; ?seconds=N, ?debug=1, ?pid=N, ?profile=NAME\n"
                        "allocs   the same, with allocated bytes first\n"
                        "cmdline  the name of the program"
                      : "/metrics             for Prometheus; ?pid=N\n"
                        "/sd                  the processes, for http_sd\n"
                        "/debug/pprof/heap    for go tool pprof, Parca, Pyroscope\n"
                        "/debug/pprof/allocs  the same, with allocated bytes first\n"
                        "/healthz             whether the server runs");
}

/* Start the child for X; return false if there is an error for an answer. */
static bool
start_child(struct server *s, struct exchange *x)
{
    struct answer_job job = {s->options, x->request, s->since};

    if (!worker_start(&x->worker, answer_pprof, &job, ANSWER_SECONDS + x->request.seconds)) {
        answer_text(x, 503, "the server cannot start a process; try again later");
        return false;
    }
    x->has_worker = true;
    return true;
}

/* Let X wait for a scan, which is started unless one is in progress. */
static bool
wait_for_scan(struct server *s, struct exchange *x)
{
    struct scan_job job = {s->options, s->since, s->known.scanned, s->known.count};

    if (!s->scans && !worker_start(&s->scan, answer_scan, &job, ANSWER_SECONDS)) {
        answer_text(x, 503, "the server cannot start a process; try again later");
        return false;
    }
    s->scans = x->waits_for_scan = true;
    return true;
}

/* Answer X from the known processes. */
static void
answer_known(const struct server *s, struct exchange *x)
{
    unsigned status = 0;

    strbuf_clear(&x->body);
    if (x->request.what == SERVE_TARGETS)
        known_targets(&s->known, x->address, &x->body);
    else
        status = known_metrics(&s->known, &x->request, &x->arena, &x->body);
    if (status != 0) {
        answer_text(x, status, x->request.why);
        return;
    }
    x->status = 200;
    snprintf(x->type, sizeof x->type, "%s",
             x->request.what == SERVE_TARGETS ? "application/json"
                                              : "text/plain; version=0.0.4; charset=utf-8");
}

/* Take the output of X's child, which ended in STATE. */
static void
answer_from_child(struct exchange *x, enum worker_state state)
{
    struct answer_head head;

    if (state != WORKER_DONE || x->worker.output.length < sizeof head) {
        answer_text(x, 500, "the profile could not be read within the limits of memory and time");
        return;
    }
    memcpy(&head, x->worker.output.text, sizeof head);
    head.type[sizeof head.type - 1] = '\0';
    x->status = head.status;
    memcpy(x->type, head.type, sizeof x->type);
    strbuf_clear(&x->body);
    strbuf_add(&x->body, x->worker.output.text + sizeof head,
               x->worker.output.length - sizeof head);
}

static const char *
header(struct exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

/* Answer X if a check fails. */
static void
check_request(const struct server *s, struct exchange *x, const char *method)
{
    const char *host = header(x, "Host");
    struct serve_request *r = &x->request;

    x->address = arena_strdup(&x->arena, host != NULL ? host : "localhost");
    if (s->connections > CONNECTIONS_SERVED)
        answer_text(x, 503, "too many connections; try again later");
    else if (s->listener.path == NULL && s->listener.is_loopback && !request_host_is_loopback(host))
        answer_text(x, 421, "this server answers to localhost only");
    else if (s->token != NULL && r->what != SERVE_HEALTH &&
             !request_has_token(header(x, "Authorization"), s->token))
        answer_text(x, 401, "the request needs the header Authorization: Bearer TOKEN");
    else if (strcmp(method, "GET") != 0)
        answer_text(x, 405, "only GET is answered");
    else if (r->status != 0)
        answer_text(x, r->status, r->why);
}

/* Answer X, or start what its answer needs. Return true if it has to wait. */
static bool
begin_answer(struct server *s, struct exchange *x)
{
    switch (x->request.what) {
    case SERVE_HEALTH:
        answer_text(x, 200, "ok");
        return false;
    case SERVE_INDEX:
    case SERVE_PPROF_INDEX:
        answer_index(x, x->request.what == SERVE_PPROF_INDEX);
        return false;
    case SERVE_METRICS:
    case SERVE_TARGETS:
        return wait_for_scan(s, x);
    case SERVE_HEAP:
    case SERVE_ALLOCS:
    case SERVE_PROGRAM:
        return start_child(s, x);
    case SERVE_NOTHING:
        break;
    }
    answer_text(x, 404, "there is no such page");
    return false;
}

static enum MHD_Result
send_answer(struct exchange *x)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(x->body.length, x->body.text, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result r;

    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", x->type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (x->status == 401)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (x->status == 405)
        MHD_add_response_header(response, "Allow", "GET");
    if (x->status == 503)
        MHD_add_response_header(response, "Connection", "close");
    if (x->request.is_pprof && x->status != 200)
        MHD_add_response_header(response, "X-Go-Pprof", "1");
    r = MHD_queue_response(x->connection, x->status, response);
    MHD_destroy_response(response);
    return r;
}

/* --- Callbacks of the library. */

static void *
take_uri(void *arg, const char *uri, struct MHD_Connection *connection)
{
    struct server *s = arg;
    struct exchange *x = xcalloc(1, sizeof *x);

    x->connection = connection;
    x->uri = arena_strdup(&x->arena, uri);
    request_parse(x->uri, &x->arena, &x->request);
    x->next = s->exchanges;
    s->exchanges = x;
    return x;
}

static enum MHD_Result
take_request(void *arg, struct MHD_Connection *connection, const char *url, const char *method,
             const char *version, const char *data, size_t *data_bytes, void **of_request)
{
    struct server *s = arg;
    struct exchange *x = *of_request;

    (void)url;
    (void)version;
    (void)data;
    if (!x->checked) {
        x->checked = true;
        check_request(s, x, method);
        // An answer at this point would close the connection, which only errors should do.
        if (x->status == 0)
            return MHD_YES;
    }
    if (*data_bytes > 0) {
        *data_bytes = 0;
        return MHD_YES;
    }
    if (x->status == 0 && begin_answer(s, x)) {
        MHD_suspend_connection(connection);
        return MHD_YES;
    }
    return send_answer(x);
}

static void
end_request(void *arg, struct MHD_Connection *connection, void **of_request,
            enum MHD_RequestTerminationCode code)
{
    struct server *s = arg;
    struct exchange *x = *of_request, **at = &s->exchanges;

    (void)connection;
    (void)code;
    while (*at != NULL && *at != x)
        at = &(*at)->next;
    if (x == NULL || *at == NULL)
        return;
    *at = x->next;
    if (x->has_worker)
        worker_end(&x->worker);
    strbuf_release(&x->body);
    arena_release(&x->arena);
    free(x);
}

static void
count_connection(void *arg, struct MHD_Connection *connection, void **of_connection,
                 enum MHD_ConnectionNotificationCode code)
{
    struct server *s = arg;

    (void)connection;
    (void)of_connection;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        s->connections++;
    else
        s->connections--;
}

/* --- The loop. */

/* Answer all that wait for the scan, which ended in STATE. */
static void
end_scan(struct server *s, enum worker_state state)
{
    bool taken = state == WORKER_DONE && known_take(&s->known, &s->scan.output);

    worker_end(&s->scan);
    s->scans = false;
    for (struct exchange *x = s->exchanges; x != NULL; x = x->next) {
        if (!x->waits_for_scan)
            continue;
        x->waits_for_scan = false;
        if (taken)
            answer_known(s, x);
        else
            answer_text(x, 500, "the processes could not be read within the limits of memory and "
                                "time");
        MHD_resume_connection(x->connection);
    }
}

/* Read the output of each child. */
static void
look_at_children(struct server *s)
{
    enum worker_state state;

    for (struct exchange *x = s->exchanges; x != NULL; x = x->next) {
        if (!x->has_worker || (state = worker_read(&x->worker)) == WORKER_RUNS)
            continue;
        x->has_worker = false;
        answer_from_child(x, state);
        worker_end(&x->worker);
        MHD_resume_connection(x->connection);
    }
    if (s->scans && (state = worker_read(&s->scan)) != WORKER_RUNS)
        end_scan(s, state);
}

/* Fill V with the descriptors to wait for; return their number. V has room for all. */
static nfds_t
collect(const struct server *s, int signals, struct pollfd *v)
{
    nfds_t count = 0;

    v[count++] = (struct pollfd){.fd = signals, .events = POLLIN};
    v[count++] = (struct pollfd){
        .fd = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, .events = POLLIN};
    if (s->scans)
        v[count++] = (struct pollfd){.fd = s->scan.fd, .events = POLLIN};
    for (const struct exchange *x = s->exchanges; x != NULL; x = x->next)
        if (x->has_worker && count < CONNECTIONS_HELD + 3)
            v[count++] = (struct pollfd){.fd = x->worker.fd, .events = POLLIN};
    return count;
}

static void
server_loop(struct server *s, int signals)
{
    enum { LONGEST_MS = 1000 };
    struct pollfd v[CONNECTIONS_HELD + 3];

    for (;;) {
        nfds_t count = collect(s, signals, v);
        MHD_UNSIGNED_LONG_LONG wait_ms;
        bool children = count > 2;
        int timeout = children ? LONGEST_MS : -1;

        if (MHD_get_timeout(s->daemon, &wait_ms) == MHD_YES &&
            (timeout < 0 || wait_ms < (MHD_UNSIGNED_LONG_LONG)timeout))
            timeout = wait_ms < LONGEST_MS ? (int)wait_ms : LONGEST_MS;
        if (poll(v, count, timeout) < 0 && errno != EINTR)
            return;
        if (v[0].revents != 0)
            return;
        look_at_children(s);
        MHD_run(s->daemon);
    }
}

/* End all children, and let the library finish. */
static void
server_end(struct server *s)
{
    for (struct exchange *x = s->exchanges; x != NULL; x = x->next)
        if (x->has_worker || x->waits_for_scan) {
            if (x->has_worker)
                worker_end(&x->worker);
            x->has_worker = x->waits_for_scan = false;
            answer_text(x, 503, "the server ends");
            MHD_resume_connection(x->connection);
        }
    if (s->scans)
        worker_end(&s->scan);
    MHD_run(s->daemon);
    MHD_stop_daemon(s->daemon);
    known_release(&s->known);
}

static int
serve_at(struct server *s, struct err *err)
{
    sigset_t ends;
    int signals;

    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);
    signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, take_request, s,
        MHD_OPTION_LISTEN_SOCKET, s->listener.fd, MHD_OPTION_URI_LOG_CALLBACK, take_uri, s,
        MHD_OPTION_NOTIFY_COMPLETED, end_request, s, MHD_OPTION_NOTIFY_CONNECTION, count_connection,
        s, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_HELD, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_END);
    if (s->daemon == NULL || signals < 0)
        return err_set(err, HEAPTAP_BAD_INPUT, "the HTTP library cannot serve at %s",
                       s->listener.shown);
    message_hint("serving at %s", s->listener.shown);
    server_loop(s, signals);
    server_end(s);
    close(signals);
    return 0;
}

int
server_run(const struct serve_options *options, struct err *err)
{
    struct server s = {.options = options, .since = time(NULL)};
    struct arena arena = {0};
    int r = 0;

    // A question to a server for debug information takes minutes, and nobody waits for them.
    unsetenv("DEBUGINFOD_URLS");
    if (options->token_file != NULL)
        r = token_read(options->token_file, &arena, &s.token, err);
    if (r == 0)
        r = listener_open(options->listen, &arena, &s.listener, err);
    if (r != 0) {
        arena_release(&arena);
        return r;
    }
    if (!s.listener.is_loopback && s.token == NULL)
        r = err_set(err, HEAPTAP_USAGE,
                    "%s can be reached from other machines; give --token-file FILE, or listen at "
                    "127.0.0.1",
                    options->listen);
    else
        r = serve_at(&s, err);
    listener_close(&s.listener);
    arena_release(&arena);
    return r;
}

#else

int
server_run(const struct serve_options *options, struct err *err)
{
    (void)options;
    return err_set(err, HEAPTAP_USAGE,
                   "this heaptap was built without libmicrohttpd; install libmicrohttpd-dev and "
                   "run `make` again");
}

#endif
