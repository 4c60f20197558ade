/* cmd_serve.c: `heaptap serve`: the numbers and profiles of running processes over HTTP. */
#include <string.h>

#include "open/symbolise.h"
#include "option/opts.h"
#include "option/shared_opts.h"
#include "serve/http_server.h"

enum { SAMPLES_DEFAULT = 16000 };

static const struct serve_options defaults = {.listen = "127.0.0.1:9797",
                                              .samples_max = SAMPLES_DEFAULT};

static int
run_serve(const void *given, int count, char **arguments)
{
    const struct serve_options *o = given;
    struct err err = {""};
    int rc;

    (void)count;
    (void)arguments;
    for (size_t i = 0; i < o->directories.count; i++)
        if (!symbolise_is_directory("dir", o->directories.items[i]))
            return EXIT_USAGE;
    rc = server_run(o, &err);
    if (rc == 0)
        return 0;
    message_error("%s", err.text);
    return exit_code(rc);
}

static const struct opt options[] = {
    {OPT_STRING, 'l', "listen", &defaults.listen, "ADDRESS",
     "Listen at HOST:PORT or unix:PATH. Default: 127.0.0.1:9797. Port 0 means any free one. A Unix "
     "socket is for this user only. Other machines need --token-file.",
     NULL},
    {OPT_LIST, 0, "dir", &defaults.directories, "DIR",
     "Serve the profiles in DIR, and in the directories DIR/*.processes. May be repeated. Default: "
     "all recorded processes of this machine.",
     NULL},
    {OPT_STRING, 0, "only", &defaults.view.only, "PROGRAM|PID",
     "Serve only processes of PROGRAM, or the process PID. Several, and * and ? in names, work as "
     "in heaptap run.",
     NULL},
    {OPT_STRING, 0, "token-file", &defaults.token_file, "FILE",
     "Answer only requests with the header Authorization: Bearer TOKEN. FILE has the token in one "
     "line. /healthz needs none.",
     NULL},
    {OPT_COUNT, 0, "max-samples", &defaults.samples_max, "N",
     "Largest number of stacks in a profile; all smaller stacks become [other stacks]. Default: "
     "16000.",
     NULL},
    {OPT_LIST, 0, "label-metric", &defaults.label_metrics, "KEY",
     "Also count the live bytes of each value of the program's label KEY in /metrics. May be "
     "repeated.",
     NULL},
    {OPT_FLAG, 0, "expose-cmdline", &defaults.expose_command, NULL,
     "Answer /debug/pprof/cmdline with the arguments of the program.", NULL},
    SYMBOL_OPTIONS(defaults.view.symbols),
    {.kind = OPT_END},
};

const struct command command_serve = {
    .name = "serve",
    .arguments = "",
    .summary = "serve running profiles to Prometheus, go tool pprof and others",
    .description =
        "Answers HTTP requests until it is ended. /metrics has numbers for Prometheus, /sd the "
        "processes for its service discovery. /debug/pprof/heap and /debug/pprof/allocs have "
        "profiles as a Go program serves them, so go tool pprof, Parca and Pyroscope read them. "
        "/healthz answers while the server runs.\n"
        "\n"
        "The recorded processes are not involved: the server reads their profiles, and writes "
        "nothing. Without ?pid= or ?profile= an answer is the sum of all processes.\n"
        "\n"
        "docs/guide/serve.md has units for systemd, scrape configurations, alert rules and a "
        "dashboard.",
    .examples = "heaptap serve\tall recorded processes of this machine\n"
                "heaptap serve --dir /var/lib/app\tthe profiles in a directory\n"
                "go tool pprof http://127.0.0.1:9797/debug/pprof/heap?pid=4711\tone process\n"
                "curl http://127.0.0.1:9797/metrics\tnumbers\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 0,
    .run = run_serve,
};
