/* cmd_cc.c: `heaptap cc` and `heaptap c++`: run a compiler whose programs count their accesses.
 *
 * A build uses these commands as CC or CXX, so the process becomes the compiler. Only options in
 * front of the compiler's arguments are heaptap's. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "command/sink.h"
#include "launch/compiler.h"
#include "option/opts.h"

struct cc_options {
    const char *compiler;
    int granule;
    bool exact_threads, reads_writes, print;
};
static const struct cc_options defaults = {.compiler = "clang", .granule = 1};

static const char *const granules[] = {"8", "16", "64", NULL};
static const uint32_t granule_bytes[] = {8, 16, 64};

static const struct opt options[] = {
    {OPT_STRING, 0, "cc", &defaults.compiler, "COMPILER",
     "The compiler: a name or a path of clang 14 or later, or of gcc 12 or later, which calls a "
     "function for each access, so that the program takes longer. By default clang, or else the "
     "latest clang-N that is found.",
     NULL},
    {OPT_CHOICE, 0, "granule", &defaults.granule, "BYTES",
     "Bytes per counter: 8, the size of a field (position-independent programs only); 16, the "
     "default, which no two blocks share; or 64, which takes the least memory. All parts of a "
     "program must use the same.",
     granules},
    {OPT_FLAG, 0, "exact-threads", &defaults.exact_threads, NULL,
     "Lose no count when threads access the same memory at once. By default some are lost, as in "
     "any unsynchronised addition. The program takes two to three times as long, and more if it "
     "has threads.",
     NULL},
    {OPT_FLAG, 0, "reads-writes", &defaults.reads_writes, NULL,
     "Count reads and writes separately, which reveals memory that is written and never read. gcc "
     "always does; with clang the program takes two to three times as long. All parts of a program "
     "must be built with it, or none.",
     NULL},
    {OPT_FLAG, 0, "print", &defaults.print, NULL,
     "Print the compiler's command line instead of running it.", NULL},
    {0},
};

static int
print_line(char **line)
{
    struct sink sink = {0};
    struct strbuf out = sink_begin(&sink);

    for (char **a = line; *a != NULL; a++)
        strbuf_fmt(&out, "%s%s", a > line ? " " : "", *a);
    strbuf_str(&out, "\n");
    return sink_end(&out);
}

static int
run_compiler(const struct cc_options *o, enum compiler_language language, int count,
             char **arguments)
{
    struct compiler_requests w = {.language = language,
                                  .compiler = o->compiler,
                                  .granule_bytes = granule_bytes[o->granule],
                                  .exact_threads = o->exact_threads,
                                  .reads_writes = o->reads_writes,
                                  .only_line = o->print};
    struct arena arena = {0};
    struct err err = {""};
    char **line;
    int r = compiler_line(&w, count, arguments, &arena, &line, &err);

    if (r != 0) {
        message_error("%s", err.text);
        arena_release(&arena);
        return r == HEAPTAP_NOT_FOUND ? 127 : exit_code(r);
    }
    if (o->print) {
        r = print_line(line);
        arena_release(&arena);
        return r;
    }
    execvp(line[0], line);
    message_error("cannot execute %s: %s", line[0], strerror(errno));
    arena_release(&arena);
    return 127;
}

static int
run_cc(const void *o, int count, char **arguments)
{
    return run_compiler(o, COMPILER_C, count, arguments);
}

static int
run_cxx(const void *o, int count, char **arguments)
{
    return run_compiler(o, COMPILER_CXX, count, arguments);
}

#define DESCRIPTION                                                                                \
    "Runs the compiler with options that make the program count accesses to its blocks: how "      \
    "often each is accessed, and which parts never are. Executables get the recorder linked in. "  \
    "Everything from the first argument on that is no option below goes to the compiler.\n\n"      \
    "Such a program always counts. It records the result under heaptap run, or when HEAPTAP_OUT "  \
    "names a file. Built with the compiler's -fmemory-profile=DIR, it always records, into that "  \
    "directory.\n\n"                                                                               \
    "heaptap access shows the result."

const struct command command_cc = {
    .name = "cc",
    .arguments = "[COMPILER'S ARGUMENTS]",
    .summary = "compile C so that the program counts accesses to its blocks",
    .description = DESCRIPTION,
    .examples = "make CC=\"heaptap cc\" CXX=\"heaptap c++\"\tbuild a project\n"
                "heaptap cc -O2 -o program program.c\tbuild a program\n"
                "heaptap cc --granule=8 -O2 -o program program.c\tand count by fields\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .stop_at_first = true,
    .stop_at_unknown = true,
    .max_arguments = -1,
    .run = run_cc,
};

const struct command command_cxx = {
    .name = "c++",
    .arguments = "[COMPILER'S ARGUMENTS]",
    .summary = "compile C++ so that the program counts accesses to its blocks",
    .description = DESCRIPTION,
    .examples = "make CC=\"heaptap cc\" CXX=\"heaptap c++\"\tbuild a project\n"
                "heaptap c++ -O2 -o program program.cc\tbuild a program\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .stop_at_first = true,
    .stop_at_unknown = true,
    .max_arguments = -1,
    .run = run_cxx,
};
