/* cmd_core.c: `heaptap core`: show the live blocks in the memory of a recorded process.
 *
 * A core dump contains the recorder's ledger, which lists the live blocks. The ledger and the
 * profile, which has the stacks, give a profile of the moment of the dump. It is shown like any
 * other. */
#include "command/cmd_core.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/fields.h"
#include "command/guardian.h"
#include "command/leak_readings.h"
#include "command/leak_rules.h"
#include "command/lost_gate.h"
#include "command/runner.h"
#include "command/sink.h"
#include "image/elf_core.h"
#include "json/json.h"
#include "layout/annotated_profile.h"
#include "load/load.h"
#include "open/open_set.h"
#include "open/symbolise.h"
#include "option/shared_opts.h"
#include "profile/pack.h"
#include "retain/retain.h"
#include "text/text.h"
#include "util/map.h"
#include "view/phrases.h"
#include "view/retain_view.h"

enum { EVERY_S = 10 };

static const struct core_options defaults = {.every_s = EVERY_S};

/* A running command. */
struct core_command {
    const struct core_options *o;
    struct memory_answer answer;
    struct examined *e;
    struct limits limits;
    int *verdict; // Exit code of the limits, set when blocks are shown.
};

/* Return 0 if the address that C asks about is in a live block of S, or if C asks for all. Find the
 * frames of threads that hold pointers. */
static int
check_retain(struct shown *s, const struct core_command *c)
{
    const struct blocks *all = &c->e->blocks;
    const struct block *before = blocks_before(all, c->answer.address);
    const struct block *behind = before != NULL ? before + 1 : all->v;
    struct arena *a = &s->p->arena;
    const char *neighbours = "";

    if (c->o->block != NULL && c->answer.retain->target == NULL) {
        if (before != NULL)
            neighbours = arena_printf(a, "; the live block before it is at 0x%" PRIx64,
                                      before->address);
        if (behind < all->v + all->count)
            neighbours = arena_printf(a, "%s; the live block behind it is at 0x%" PRIx64,
                                      neighbours, behind->address);
        message_error("0x%" PRIx64 " is %s, so nothing keeps it%s", c->answer.address,
                      memory_place_words(a, c->e, &c->answer.place), neighbours);
        return EXIT_BAD_INPUT;
    }
    if (c->e->unrecorded)
        thread_frames_add_modules(s->p, c->e);
    if (c->o->block != NULL || c->o->retain_by == RETAIN_BY_ROOT)
        thread_frames_find(c->answer.retain, s->p, &c->o->view.symbols);
    return 0;
}

static int
cmd_core_check(struct shown *s)
{
    const struct core_command *c = s->runner->own;

    s->p->path = arena_strdup(&s->p->arena, c->e->memory.name);
    if ((c->o->leaks || c->o->retain) && profile_is_estimate(s->p)) {
        message_error("%s needs every block, but this process was recorded in part (--sample)",
                      c->o->leaks ? "--leaks" : "retain");
        return EXIT_USAGE;
    }
    if ((c->o->leaks || c->o->retain) && s->p->process.attached)
        message_warning("heaptap was attached to a running process: earlier blocks are not known, "
                        "and blocks that only they point to seem lost");
    crash_stack_add(c->e, s->p, &c->o->view.symbols);
    return c->o->retain ? check_retain(s, c) : 0;
}

/* Find the members of the variable where the path to C's target begins. */
static void
find_variable(struct shown *s, const struct core_command *c)
{
    struct retain *r = c->answer.retain;
    struct variable_members *found = arena_array(s->text.base.arena, 1, sizeof *found);

    if (r->path.root != NULL && r->roots.v[r->path.root->root].kind == SCAN_VARIABLE &&
        symbolise_variable(s->p, &c->o->view.symbols, r->path.root->at, found))
        r->variable = found;
}

/* Find the types of S's blocks and, for those on the path to C's target, the members. */
static void
find_members(struct shown *s, const struct core_command *c)
{
    const struct block_path *path = &c->answer.retain->path;
    struct map sites = {0};
    uint32_t *names = arena_array(s->text.base.arena, s->p->site_count + 1, sizeof *names);
    size_t count = 0;

    symbolise_types(s->p, &c->o->view.symbols);
    for (size_t i = 0; i < path->count; i++)
        map_put(&sites, c->e->blocks.v[path->blocks[i]].site, NULL);
    for (size_t i = 0; i < s->p->site_count; i++) {
        uint32_t name = map_get(&sites, s->p->sites[i].id) != NULL
                            ? fields_type_name(s->p, &s->p->sites[i])
                            : 0;

        if (name != 0)
            names[count++] = name;
    }
    map_release(&sites);
    find_variable(s, c);
    if (count > 0)
        symbolise_structures(s->p, &c->o->view.symbols, names, count);
}

/* Complete M, whose question is about what keeps blocks alive. */
static void
cmd_core_retain(struct shown *s, const struct core_command *c, struct memory_view *m)
{
    struct retain_view *r = arena_array(s->text.base.arena, 1, sizeof *r);

    if (c->o->block != NULL || c->o->retain_by == RETAIN_BY_TYPE || c->o->snapshot != NULL)
        find_members(s, c);
    retain_view_build(&s->text.base, s->p, &m->stacks, c->answer.retain,
                      (enum retain_by)c->o->retain_by, r);
    m->retain = r;
}

/* Write the graph of M to the output of C, for DevTools. */
static int
write_snapshot(struct shown *s, const struct core_command *c, const struct memory_view *m)
{
    struct sink sink = {.path = c->o->snapshot, .set = s->set};
    int rc = sink_check(sink.path, s->set);
    struct strbuf out;
    struct json j;

    if (rc != 0)
        return rc;
    out = sink_begin(&sink);
    json_begin(&j, &out, JSON_VERSION_TABLES);
    json_heapsnapshot(&j, &s->text.base, m->retain);
    rc = sink_end(&out);
    if (rc == 0)
        message_hint("the Memory panel of Chromium's DevTools opens %s (Load profile)",
                     sink.path);
    return rc;
}

/* Find the sites of S that the user's suppressions match. Returns 0 or an exit code. */
static int
find_suppressed(struct shown *s, const struct core_command *c, struct lost_rules *ret)
{
    struct stacks_options options = pick_options(&c->o->view, false);
    struct arena *arena = s->text.base.arena;
    struct err err = {""};
    int rc;

    if (c->o->suppressions == NULL)
        return 0;
    ret->suppressions = arena_array(arena, 1, sizeof *ret->suppressions);
    rc = leak_rules_read(c->o->suppressions, ret->suppressions, arena);
    if (rc != 0)
        return rc;
    rc = leaks_suppress_sites(s->p, &options, ret->suppressions, arena, &ret->of_site, &err);
    if (rc == 0)
        return 0;
    message_error("%s", err.text);
    return exit_code(rc);
}

/* List the live blocks in M by resident memory. */
static void
list_resident(struct shown *s, const struct core_command *c, struct memory_view *m)
{
    uint32_t *types = arena_array(s->text.base.arena, s->p->site_count + 1, sizeof *types);

    if (c->o->resident_by == RESIDENT_BY_TYPE) {
        symbolise_types(s->p, &c->o->view.symbols);
        for (size_t i = 0; i < s->p->site_count; i++)
            types[i] = fields_type_name(s->p, &s->p->sites[i]);
    }
    memory_view_list_resident(&s->text.base, (enum resident_by)c->o->resident_by, types, m);
}

static int
cmd_core_show(struct shown *s)
{
    const struct core_command *c = s->runner->own;
    size_t limit = c->o->view.limit ? c->o->view.limit : SIZE_MAX;
    struct lost_rules rules = {0};
    struct memory_view m;
    int rc;

    s->text.base.memory = c->e;
    if (c->o->view.json && c->answer.question == MEMORY_ALL) {
        json_report(s->j, &s->text.base, METRIC_INUSE, limit);
        return 0;
    }
    rc = find_suppressed(s, c, &rules);
    if (rc != 0)
        return rc;
    memory_view_build(&s->text.base, c->e, &c->answer, &rules, &m);
    if (c->o->resident_by != RESIDENT_BY_NONE)
        list_resident(s, c, &m);
    *c->verdict = lost_gate_check(&c->limits, &m, s->p);
    if (c->o->retain)
        cmd_core_retain(s, c, &m);
    if (c->o->snapshot != NULL)
        return write_snapshot(s, c, &m);
    if (c->o->view.json)
        json_memory(s->j, &s->text.base, &m, limit);
    else
        text_memory(&s->text, &m);
    return 0;
}

/* Refuse OUTPUT if it is also an input. */
static int
cmd_core_check_output(const char *output, const struct examine_request *request,
                      const struct core_command *c)
{
    int rc = request->core != NULL ? sink_check_input(output, request->core, "core dump") : 0;

    return rc == 0 && c->e->profile != NULL ? sink_check_input(output, c->e->profile, "profile")
                                            : rc;
}

/* Write the profile at PATH, with symbols, to the output of O. LIVES is true if its process still
 * runs. Returns the exit code. */
static int
save(const char *path, const struct core_options *o, bool lives)
{
    struct err err = {""};
    struct profile *p = NULL;
    int r = profile_open(path, &p, &err);

    if (r == 0)
        r = symbolise(p, &o->view.symbols);
    if (r == 0) {
        symbolise_types(p, &o->view.symbols);
        // No process writes this file. A copy of a living process may lack events, but is not
        // damaged for that reason.
        p->process.ended = !lives;
        r = pack_write(path, p, o->output, &err);
    }
    if (r < 0)
        message_error("%s", err.text);
    profile_free(p);
    return r < 0 ? exit_code(r) : r;
}

/* Translate O into a query. Returns 0, or an exit code after reporting contradictory options. */
static int
question_of(const struct core_options *o, struct core_command *ret)
{
    const char *address = o->block != NULL ? o->block : o->pointers;
    int count = (o->block != NULL) + (o->pointers != NULL) + o->blocks + o->leaks + o->check;
    char *end;

    if (count + (o->output != NULL) > 1) {
        message_error(
            "--block, --find-pointers, --blocks, --leaks, --check and -o exclude each other");
        return EXIT_USAGE;
    }
    if (!o->leaks && (o->suppressions != NULL || o->fail_over != NULL || o->again != 0)) {
        message_error("--suppressions, --fail-over and --again need --leaks");
        return EXIT_USAGE;
    }
    if (o->again != 0 && o->pid == 0) {
        message_error("--again needs a running process; a dump never changes");
        return EXIT_USAGE;
    }
    ret->answer.question = o->retain             ? MEMORY_RETAIN
                           : o->block != NULL    ? MEMORY_ADDRESS
                           : o->pointers != NULL ? MEMORY_POINTERS
                           : o->blocks           ? MEMORY_LARGEST
                           : o->leaks            ? MEMORY_LEAKS
                           : o->check            ? MEMORY_CHECK
                           : o->resident         ? MEMORY_RESIDENT
                                                 : MEMORY_ALL;
    if (address == NULL)
        return 0;
    errno = 0;
    ret->answer.address = strtoull(address, &end, 16);
    // strtoull also accepts blanks, signs and bare digits. The user may have meant a number of
    // digits alone as a size.
    if (strncmp(address, "0x", 2) != 0 || !isxdigit((unsigned char)address[2]) || *end != '\0' ||
        errno != 0) {
        message_error("'%s' is no address; write it as 0x7f12a0001040", address);
        return EXIT_USAGE;
    }
    return 0;
}

/* Take the heaps of E's program, and how full they are, from its profile into RET. The profile of
 * the moment lacks them. */
static void
find_backings(struct examined *e, struct resident *ret)
{
    struct err err = {""};
    struct profile *p = NULL;

    if (e->profile == NULL || profile_open(e->profile, &p, &err) != 0)
        return;
    ret->backings = arena_array(&e->arena, p->heap_count + 1, sizeof *ret->backings);
    for (size_t i = 1; i < p->heap_count; i++)
        if (counters_live_bytes(&p->heaps[i].backing) > 0)
            ret->backings[ret->backing_count++] =
                (struct resident_backing){arena_strdup(&e->arena, p->heaps[i].name),
                                          counters_live_bytes(&p->heaps[i].counters),
                                          counters_live_bytes(&p->heaps[i].backing)};
    profile_free(p);
}

static int
request_of(const struct core_options *o, int count, char **arguments, struct examine_request *ret)
{
    *ret = (struct examine_request){.profile = o->profile, .pid = (uint32_t)o->pid};
    if (o->pid != 0) {
        if (count > 1 || o->pid > INT32_MAX) {
            message_error("--pid takes a process id and excludes a dump");
            return EXIT_USAGE;
        }
        ret->program = count > 0 ? arguments[0] : NULL;
        return 0;
    }
    if (count == 0) {
        message_error("name a core dump, or a process with --pid");
        return EXIT_USAGE;
    }
    ret->core = arguments[count - 1];
    ret->program = count > 1 ? arguments[0] : NULL;
    // Debuggers differ in the order of program and core.
    if (count > 1 && elf_core_is(arguments[0]) && !elf_core_is(arguments[1])) {
        ret->core = arguments[0];
        ret->program = arguments[1];
    }
    return 0;
}

/* Show E, which is unrecorded, with R. Returns the exit code. */
static int
show_unrecorded(const struct runner *r, const struct examined *e)
{
    static const struct annotated_memory none;
    const struct annotated_program program = {.machine = e->memory.machine};
    const char *title = *e->memory.program != '\0' ? e->memory.program : e->memory.name;
    struct annotated_places places;
    struct profile *p = annotated_profile(&none, &program, title, 0, &places);
    int rc;

    p->process.pid = e->memory.pid;
    p->process.ended = false;
    rc = runner_show(r, p);
    profile_free(p);
    return rc;
}

/* Read the process of C by REQUEST, several times if its options say so. C's answer then has the
 * results of all readings. Returns 0 or an exit code; *RET_FILE is as for examine_open. */
static int
read_process(const struct examine_request *request, struct core_command *c, int *ret_file)
{
    const struct memory_answer asked = c->answer;
    struct leak_readings readings = {0};
    int rc = examine_open(request, &c->answer, c->e, ret_file);

    for (uint64_t i = 0; i < c->o->again && rc == 0; i++) {
        leak_readings_add(&readings, c->e, &c->answer, NULL, NULL);
        if (*ret_file >= 0)
            close(*ret_file);
        examine_close(c->e);
        c->answer = asked;
        guardian_rest(c->o->every_s);
        rc = examine_open(request, &c->answer, c->e, ret_file);
    }
    if (rc == 0 && c->o->again != 0)
        leak_readings_add(&readings, c->e, &c->answer, &c->e->arena, &c->answer.history);
    leak_readings_release(&readings);
    return rc;
}

int
core_run(const struct core_options *o, int count, char **arguments)
{
    int verdict = 0;
    struct examined e;
    struct core_command c = {.o = o, .e = &e, .verdict = &verdict};
    struct view_options view = o->view;
    const struct runner r = {
        .options = &view,
        .own = &c,
        .session = SESSION_PLAIN,
        .stacks = STACKS_FOLDED_IN_TEXT,
        .numbered = true,
        .check = cmd_core_check,
        .show = cmd_core_show,
    };
    const char *output = o->output != NULL ? o->output : o->snapshot;
    struct examine_request request;
    char path[64];
    int fd, rc = request_of(c.o, count, arguments, &request);

    view.blocks = true;
    if (rc == 0)
        rc = question_of(c.o, &c);
    if (rc == 0)
        rc = leak_rules_limits(o->fail_over, &c.limits);
    request.all_counters = c.o->output != NULL;
    request.unrecorded = c.o->resident;
    request.no_fork = c.o->no_fork;
    request.force = c.o->force;
    if (rc == 0 && request.core == NULL && guardian_begin(&rc))
        return rc;
    if (rc == 0)
        rc = read_process(&request, &c, &fd);
    guardian_end();
    if (rc != 0)
        return rc;
    if (o->resident)
        find_backings(&e, &c.answer.resident);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    rc = output != NULL ? cmd_core_check_output(output, &request, &c) : 0;
    if (rc == 0 && e.unrecorded && o->resident_by != RESIDENT_BY_NONE) {
        message_error("%s is not recorded, so its blocks are not known; `heaptap attach` records "
                      "from now on",
                      e.memory.name);
        rc = EXIT_USAGE;
    } else if (rc == 0 && e.unrecorded && o->resident)
        rc = show_unrecorded(&r, &e);
    else if (rc == 0)
        rc = c.o->output != NULL ? save(path, c.o, e.memory.lives) : runner_run(&r, path);
    if (rc == 0)
        rc = c.answer.checked.count > 0 ? EXIT_FINDINGS : verdict;
    if (fd >= 0)
        close(fd);
    retain_release(c.answer.retain);
    examine_close(&e);
    return rc;
}

static int
cmd_core_run(const void *given, int count, char **arguments)
{
    return core_run(given, count, arguments);
}

static const struct opt options[] = {
    {OPT_COUNT, 'p', "pid", &defaults.pid, "PID",
     "Read the running process PID instead of a dump. It keeps running.", NULL},
    {OPT_STRING, 0, "profile", &defaults.profile, "FILE",
     "Take stacks and names from the profile FILE. By default the profile is looked for at the "
     "path where it was recorded, beside the dump and in the current directory, and recognised by "
     "its process.",
     NULL},
    {OPT_STRING, 0, "block", &defaults.block, "ADDRESS",
     "Show the block that contains or precedes ADDRESS, its site, and its neighbours.", NULL},
    {OPT_STRING, 0, "find-pointers", &defaults.pointers, "ADDRESS",
     "Show the pointers to ADDRESS, or to the block that contains it: variables by name, stacks, "
     "registers, other blocks.", NULL},
    {OPT_FLAG, 0, "blocks", &defaults.blocks, NULL, "List the largest blocks individually.",
     NULL},
    {OPT_FLAG, 0, "leaks", &defaults.leaks, NULL,
     "Show the blocks that no variable, stack or register reaches, directly or through other "
     "blocks. Every word that may be a pointer counts as one.", NULL},
    {OPT_FLAG, 0, "check", &defaults.check, NULL,
     "Show overrun blocks, the bytes written, and the block that most likely overran. Each block "
     "is checked on its own if the program ran with --annotate; otherwise only the words that "
     "glibc keeps between blocks are checked. The exit status is 1 if there is corruption.", NULL},
    {OPT_STRING, 0, "suppressions", &defaults.suppressions, "FILE",
     "With --leaks, leave out blocks of the stacks that FILE names, and blocks lost with them. It "
     "is as for `heaptap leaks`.", NULL},
    {OPT_STRING, 0, "fail-over", &defaults.fail_over, "BYTES",
     "With --leaks, exit with code 1 when more than BYTES are lost and not suppressed; 0 allows no "
     "block. The exit code is 3 when some blocks or pointers are not known.", NULL},
    {OPT_COUNT, 0, "again", &defaults.again, "N",
     "With --leaks and --pid, read the process N more times, and count only blocks that two "
     "readings found lost. Stacks that lost more blocks meanwhile come first.", NULL},
    {OPT_COUNT, 0, "every", &defaults.every_s, "SECONDS",
     "With --again, wait SECONDS between two readings. The default is 10.", NULL},
    CORE_STOP_OPTIONS(defaults),
    {OPT_STRING, 'o', "output", &defaults.output, "FILE",
     "Write a profile of that moment to FILE instead, which every other command reads.", NULL},
    {OPT_COUNT, 'n', "limit", &defaults.view.limit, "N",
     "Show at most N stacks or blocks. The default is 10, and all in JSON.", NULL},
    {OPT_COUNT, 0, "depth", &defaults.view.depth, "N", "Show at most N frames of a stack.", NULL},
    VIEW_FOLD_OPTIONS(defaults.view),
    SYMBOL_OPTIONS(defaults.view.symbols),
    VIEW_OUTPUT_OPTIONS(defaults.view),
    {.kind = OPT_END},
};

const struct command command_core = {
    .name = "core",
    .arguments = "[PROGRAM] CORE",
    .summary = "show what lived in a core dump, and why it died",
    .description =
        "Shows the blocks that lived in the memory of a process when it was dumped, by the stacks "
        "that allocated them. Its profile must exist, because it has the stacks, unless the "
        "process was recorded with --self-contained-core. If it was not recorded, blocks of "
        "glibc's heap are shown by class or size. The program and a debugger are not needed.\n"
        "\n"
        "If a signal ended the process, the cause comes first: the block that contains or precedes "
        "the address, its site, or where it had been freed.\n"
        "\n"
        "The dump may be compressed with zstd or gzip. For a truncated dump the output lists the "
        "missing parts. With -o the moment becomes a profile, for heaptap diff between two dumps "
        "of one process, and for exports.",
    .examples = "heaptap core core.4711\n"
                "heaptap core ./server core.4711.zst\tas for a debugger\n"
                "heaptap core --pid 4711\ta running process\n"
                "heaptap core --leaks core.4711\tblocks that nothing reaches any more\n"
                "heaptap core --leaks --fail-over 0 --pid 4711\tfail if a block is lost\n"
                "heaptap core --check core.4711\toverrun blocks\n"
                "heaptap core --find-pointers 0x55d0c8e012a0 core.4711\tpointers that keep that "
                "block\n"
                "heaptap core -o before.heaptap core.1\ta profile of that moment\n",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 0,
    .max_arguments = 2,
    .offered = leak_rules_offered,
    .run = cmd_core_run,
};
