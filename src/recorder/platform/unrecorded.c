/* unrecorded.c: see unrecorded.h.
 *
 * The counts are shared memory that `heaptap run` reads at the end (format/unrecorded_counts.h). A
 * process maps them when the library is loaded, and its forked children inherit the mapping. So a
 * process that may make no system call, or that has cleared its environment, can still count. A
 * program executed after a change of the user may not map them; it sends datagrams instead.
 *
 * Variables are not added to an environment that lacks them: the program would see another
 * environment than it was given, and `env -i` is often used to test exactly that. */
#include "platform/unrecorded.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/atomics.h"
#include "base/fmt.h"
#include "format/environment.h"
#include "format/unrecorded_counts.h"
#include "platform/executable.h"
#include "platform/host.h"
#include "platform/process.h"
#include "platform/selection.h"
#include "platform/sys.h"

enum { PAGE_BYTES = 4096, VARIABLES_MAX = 100000, ARGUMENTS_READ = 16 };

#define PRELOAD "LD_PRELOAD="
#define LIBRARY "/libheaptap"
#define SESSION ENVIRONMENT_SESSION "="
#define LIMITS ENVIRONMENT_UNRECORDED "="

static struct unrecorded_counts *counts; // Atomic; NULL = not mapped. Constant once it is set.

uint32_t unrecorded_front_is_silent, unrecorded_has_malloc_call;

/* This process in the list of those with another malloc. Atomic; NULL = not listed. */
static struct unrecorded_own_malloc *listed_own_malloc;

/* Process constants, set by unrecorded_start. */
static bool has_started;
static uint64_t session_id;
static char socket_name[32]; // Abstract name of the run's socket; "" = none.

/* A failure before unrecorded_start, which reports it; NULL = none. */
static const char *early_cause;
static bool early_is_selected;

/* A recording that began before unrecorded_start, which lists it; pid 0 = none. */
static struct begun_recording early_recording;

/* Return true if FD has the counts of the run ID. In another pid namespace the path may lead to
 * another file. */
static bool
is_of_run(int fd, uint64_t id)
{
    uint64_t found = 0;

    return sys_pread(fd, &found, sizeof found, UNRECORDED_OFF) == sizeof found && found == id;
}

/* Map the counts in the file at PATH. */
static void
unrecorded_map(const char *path)
{
    struct unrecorded_counts *mapped;
    int fd = sys_open(path, O_RDWR, 0);

    if (fd < 0)
        return;
    mapped = is_of_run(fd, session_id)
                 ? sys_mmap(NULL, UNRECORDED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                            UNRECORDED_OFF)
                 : NULL;
    sys_close(fd);
    if (mapped != NULL && !sys_failed(mapped))
        store_release(&counts, mapped);
}

/* Store the name of this process's executable in NAME. */
static COLD void
put_own_name(struct fmt *name)
{
    static char path[4096]; // Static, because the stack may be small.
    const char *slash;

    host_executable(path, sizeof path);
    slash = strrchr(path, '/');
    fmt_str(name, slash != NULL ? slash + 1 : path);
}

/* List the recording B, whose name is not set yet. */
static COLD void
list_recording(struct begun_recording *b)
{
    struct unrecorded_counts *c = load_acquire(&counts);
    struct fmt name = fmt_init(b->name, sizeof b->name);
    uint64_t i;

    if (c == NULL && socket_name[0] == '\0')
        return;
    put_own_name(&name);
    if (c == NULL) {
        sys_send(socket_name, &(struct begun_message){session_id, *b},
                 sizeof(struct begun_message));
        return;
    }
    i = add_relaxed(&c->recordings, UINT64_C(1));
    if (i < countof(c->recording)) {
        memcpy(&c->recording[i], b, sizeof *b);
        store_release(&c->recording[i].is_complete, 1u);
    }
}

COLD bool
unrecorded_start(void)
{
    const char *where = host_environment(ENVIRONMENT_UNRECORDED);
    const char *session = host_environment(ENVIRONMENT_SESSION);
    char path[64];
    struct fmt file = fmt_init(path, sizeof path);
    struct fmt name = fmt_init(socket_name, sizeof socket_name);

    has_started = true;
    if (where == NULL || session == NULL)
        return false;
    session_id = parse_hex(&session);
    for (; *where != '\0' && *where != ':'; where++)
        fmt_char(&file, *where);
    if (*where == ':')
        fmt_str(&name, where + 1);
    if (!file.cut)
        unrecorded_map(path);
    if (early_cause != NULL)
        unrecorded_add_failed(early_cause, early_is_selected);
    if (early_recording.pid != 0)
        list_recording(&early_recording);
    return load_acquire(&counts) != NULL;
}

COLD void
unrecorded_add_recording(const struct disk_header *h)
{
    struct begun_recording begun = {
        .process_start = h->process_start,
        .start_unix_ns = h->start_unix_ns,
        .start_monotonic_ns = h->start_monotonic_ns,
        .pid = h->pid,
    };

    if (!has_started)
        early_recording = begun;
    else if (h->session_id == session_id)
        list_recording(&begun);
}

COLD void
unrecorded_add_forked(void)
{
    struct unrecorded_counts *c = load_acquire(&counts);

    if (c != NULL && c->only_pid == 0)
        add_relaxed(&c->forked, UINT64_C(1));
}

/* Return true if the run records processes of the program NAME, as far as C shows. */
static bool
unrecorded_is_selected(const struct unrecorded_counts *c, const char *name)
{
    return (c->only_pid == 0 || c->only_pid == (uint64_t)identity_pid()) &&
           (c->only[0] == '\0' || selection_is_named(c->only, name));
}

COLD void
unrecorded_add_own_malloc(const char *library)
{
    struct unrecorded_counts *c = load_acquire(&counts);
    struct unrecorded_own_malloc own = {.pid = (uint32_t)identity_pid()};
    struct fmt name = fmt_init(own.name, sizeof own.name);
    struct fmt where = fmt_init(own.library, sizeof own.library);
    const char *slash = strrchr(library, '/');
    uint64_t i;

    if (c == NULL)
        return;
    put_own_name(&name);
    if (!unrecorded_is_selected(c, own.name))
        return;
    fmt_str(&where, slash != NULL ? slash + 1 : library);
    own.calls_ours = load_acquire(&unrecorded_has_malloc_call);
    i = add_relaxed(&c->own_mallocs, UINT64_C(1));
    if (i >= countof(c->own_malloc))
        return;
    memcpy(&c->own_malloc[i], &own, sizeof own);
    store_relaxed(&unrecorded_front_is_silent, own.calls_ours == 0);
    store_release(&listed_own_malloc, &c->own_malloc[i]);
}

COLD void
unrecorded_malloc_called(void)
{
    struct unrecorded_own_malloc *own;

    store_release(&unrecorded_has_malloc_call, 1u);
    store_relaxed(&unrecorded_front_is_silent, 0u);
    own = load_acquire(&listed_own_malloc);
    if (own != NULL)
        store_release(&own->calls_ours, 1u);
}

COLD void
unrecorded_add_failed(const char *cause, bool is_selected)
{
    static struct unrecorded_failure failure; // Static, because the stack may be small.
    struct unrecorded_counts *c = load_acquire(&counts);
    struct fmt name = fmt_init(failure.name, sizeof failure.name);
    struct fmt text = fmt_init(failure.cause, sizeof failure.cause);

    if (!has_started) {
        early_cause = cause;
        early_is_selected = is_selected;
        return;
    }
    put_own_name(&name);
    fmt_str(&text, cause);
    failure.session_id = session_id;
    if (c == NULL && is_selected && socket_name[0] != '\0')
        sys_send(socket_name, &failure, sizeof failure);
    if (c == NULL || (!is_selected && !unrecorded_is_selected(c, failure.name)))
        return;
    if (add_relaxed(&c->failed, UINT64_C(1)) == 0)
        memcpy(&c->first_failure, &failure, sizeof failure);
}

/* Return true if the byte at P can be read. A quiet process cannot ask, and trusts the program. */
static bool
unrecorded_is_readable(const void *p)
{
    return sys_is_quiet() || sys_is_readable((uintptr_t)p);
}

/* Return true if VALUE of LD_PRELOAD has one of our libraries. */
static bool
preloads_recorder(const char *value)
{
    for (; *value != '\0'; value++)
        if (strncmp(value, LIBRARY, sizeof LIBRARY - 1) == 0)
            return true;
    return false;
}

/* How a program will run. */
enum execution { EXECUTION_RECORDED, EXECUTION_NESTED, EXECUTION_UNRECORDED };

/* Relevant variables of an environment. */
struct execution_variables {
    bool preloads;   // LD_PRELOAD has the recorder.
    bool has_limits; // There is HEAPTAP_UNRECORDED.
    bool in_session, in_other_session;
};

static void
note_variable(struct execution_variables *v, const char *variable)
{
    const char *id = variable + sizeof SESSION - 1;

    if (strncmp(variable, PRELOAD, sizeof PRELOAD - 1) == 0) {
        v->preloads = preloads_recorder(variable);
    } else if (strncmp(variable, LIMITS, sizeof LIMITS - 1) == 0) {
        v->has_limits = true;
    } else if (strncmp(variable, SESSION, sizeof SESSION - 1) == 0) {
        v->in_session = parse_hex(&id) == session_id;
        v->in_other_session = !v->in_session;
    }
}

/* Return how a program with ENVIRONMENT will run. If the kernel will refuse ENVIRONMENT, that is
 * EXECUTION_RECORDED. A nested run with limits judges its programs itself. */
static enum execution
execution_of(char *const *environment)
{
    struct execution_variables v = {0};

    for (uint32_t i = 0; environment != NULL && i < VARIABLES_MAX; i++) {
        const char *variable;

        if ((i == 0 || (uintptr_t)&environment[i] % PAGE_BYTES == 0) &&
            !unrecorded_is_readable(&environment[i]))
            return EXECUTION_RECORDED;
        variable = environment[i];
        if (variable == NULL)
            break;
        if (!unrecorded_is_readable(variable))
            return EXECUTION_RECORDED;
        note_variable(&v, variable);
    }
    if (!v.preloads || (!v.in_session && !v.in_other_session))
        return EXECUTION_UNRECORDED;
    return v.in_other_session && !v.has_limits ? EXECUTION_NESTED : EXECUTION_RECORDED;
}

/* Return the name of the program that E executes, "" if it is unknown. */
static const char *
name_of(const struct unrecorded_exec *e)
{
    const char *path = e->path, *slash;

    if ((path == NULL || (unrecorded_is_readable(path) && *path == '\0')) && e->arguments != NULL &&
        unrecorded_is_readable(e->arguments))
        path = e->arguments[0];
    if (path == NULL || !unrecorded_is_readable(path))
        return "";
    slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Return the name of the script that E's program runs if C selects it; NULL if there is none. */
static const char *
selected_script(const struct unrecorded_counts *c, const struct unrecorded_exec *e)
{
    for (uint32_t i = 0; e->arguments != NULL && i < ARGUMENTS_READ; i++) {
        const char *name;

        if (!unrecorded_is_readable(&e->arguments[i]) || e->arguments[i] == NULL ||
            !unrecorded_is_readable(e->arguments[i]))
            break;
        name = strrchr(e->arguments[i], '/');
        name = name != NULL ? name + 1 : e->arguments[i];
        if (i > 0 && selection_is_named(c->only, name) && selection_is_script(e->arguments, i))
            return name;
    }
    return NULL;
}

/* Add one to COUNT. If it was 0, store NAME in FIRST, of SIZE_BYTES. Return COUNT. */
static uint64_t *
count_executed(uint64_t *count, char *first, size_t size_bytes, const char *name)
{
    struct fmt f;

    if (add_relaxed(count, UINT64_C(1)) == 0) {
        f = fmt_init(first, size_bytes);
        fmt_str(&f, name);
    }
    return count;
}

/* Return why E's program cannot be recorded, as far as the file shows. */
static enum unrecordable
why_unrecordable(const struct unrecorded_exec *e)
{
    return !sys_is_quiet() && e->path != NULL && unrecorded_is_readable(e->path) &&
                   *e->path != '\0' && (!e->is_elsewhere || *e->path == '/')
               ? executable_unrecordable(e->path, e->searches)
               : UNRECORDABLE_NO;
}

uint64_t *
unrecorded_add_executed(const struct unrecorded_exec *e)
{
    struct unrecorded_counts *c = load_acquire(&counts);
    enum execution execution =
        c != NULL ? execution_of(e->environment) : EXECUTION_RECORDED;
    enum unrecordable why;
    const char *name;

    if (c == NULL)
        return NULL;
    if (c->only_pid != 0 && (e->is_child || c->only_pid != (uint64_t)sys_getpid()))
        return NULL;
    name = name_of(e);
    // A nested run may execute a selected program later, whatever its first one is.
    if (execution == EXECUTION_NESTED)
        return count_executed(&c->nested, c->first_nested, sizeof c->first_nested, name);
    // With the variables, the recorder of the program itself counts what it cannot record.
    why = why_unrecordable(e);
    if (execution == EXECUTION_RECORDED && why == UNRECORDABLE_NO)
        return NULL;
    if (c->only[0] != '\0' && !selection_is_named(c->only, name) &&
        (sys_is_quiet() || (name = selected_script(c, e)) == NULL))
        return NULL;
    if (why != UNRECORDABLE_NO) {
        if (load_relaxed(&c->unrecordable) == 0)
            store_relaxed(&c->first_why, (uint64_t)why);
        return count_executed(&c->unrecordable, c->first_unrecordable,
                              sizeof c->first_unrecordable, name);
    }
    return count_executed(&c->executed, c->first, sizeof c->first, name);
}

void
unrecorded_revoke_executed(uint64_t *count)
{
    add_relaxed(count, -UINT64_C(1));
}
