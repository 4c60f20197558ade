/* process_requests.c: send all requests before waiting for answers, because one process that
 * allocates nothing would delay the requests to all others. */
#include "command/run_summary.h"

#include <time.h>

#include "option/opts.h"
#include "profile/origin.h"
#include "view/messages.h"

#define NS_PER_S UINT64_C(1000000000)

/* A process, and a flag that its answer is pending. */
struct asked {
    struct control control;
    bool waits;
};

static int
process_requests_ask(const char *what, const struct process_request *process_request,
                     struct asked *ret, struct arena *a, struct err *err)
{
    const char *path = what;
    uint32_t pid;
    int r = origin_is_pid(what, &pid) ? origin_of_pid(pid, a, &path, err) : 0;

    if (r == 0)
        r = control_open(path, &ret->control, err);
    if (r < 0)
        return r;
    r = process_request->ask(&ret->control, process_request->what,
                             process_request->wait_s * NS_PER_S, err);
    ret->waits = r == 0;
    if (r < 0)
        control_close(&ret->control);
    return r;
}

static bool
lives(const char *path)
{
    struct disk_header h;

    return !origin_header(path, &h) ||
           (h.state != DISK_STATE_PACKED && owner_find(path, &h).state != OWNER_GONE);
}

static uint64_t
process_requests_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Return the exit code for R, and print ERR if R is a failure. */
static int
process_requests_code_of(int r, const struct err *err)
{
    if (r < 0)
        message_error("%s", err->text);
    return r == HEAPTAP_NOT_FOUND ? EXIT_FINDINGS : r < 0 ? exit_code(r) : 0;
}

int
process_requests_send(const char **paths, size_t count,
                      const struct process_request *process_request, struct arena *a)
{
    struct asked *asked = arena_array(a, count, sizeof *asked);
    uint64_t until_ns = process_requests_now_ns() + process_request->wait_s * NS_PER_S;
    struct err err = {""};
    size_t running = 0;
    int worst = 0;

    for (size_t i = 0; i < count; i++) {
        int code;

        // In a session, ended processes are not an error.
        if (count > 1 && !lives(paths[i]))
            continue;
        running++;
        code = process_requests_code_of(
            process_requests_ask(paths[i], process_request, &asked[i], a, &err), &err);
        worst = code > worst ? code : worst;
    }
    if (running == 0) {
        message_error("all processes of the session have ended and can take no request");
        return EXIT_BAD_INPUT;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t now = process_requests_now_ns();
        int code;

        if (!asked[i].waits)
            continue;
        code = process_requests_code_of(
            control_finish(&asked[i].control, until_ns > now ? until_ns - now : 0, &err), &err);
        if (code == 0)
            code = process_request->report(&asked[i].control, process_request->what, a);
        control_close(&asked[i].control);
        worst = code > worst ? code : worst;
    }
    return worst;
}
