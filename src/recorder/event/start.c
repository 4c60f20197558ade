/* start.c: starts recording at the first event of a process.
 *
 * The state is allocated once per process image and keeps its address. In a child made by fork it
 * reads as zeros, so the child starts here again, with a new file. Before the first event the
 * recorder is idle: a process that never allocates leaves no file. */
#include "event/start.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "access/counted_blocks.h"
#include "account/account_state.h"
#include "account/file.h"
#include "account/history.h"
#include "account/label.h"
#include "account/limit.h"
#include "account/nodes.h"
#include "account/thread.h"
#include "account/unknown_frees.h"
#include "allocator/real.h"
#include "annotation/annotation_form.h"
#include "base/atomics.h"
#include "base/fmt.h"
#include "base/version.h"
#include "core/core_publish.h"
#include "event/budget.h"
#include "event/event_state.h"
#include "event/guard.h"
#include "event/mode.h"
#include "event/tick.h"
#include "format/environment.h"
#include "heaps/heap_names.h"
#include "ledger/ledger.h"
#include "ledger/ledger_state.h"
#include "platform/arch_x86_64.h"
#include "platform/host.h"
#include "platform/mem.h"
#include "platform/output.h"
#include "platform/process.h"
#include "platform/selection.h"
#include "platform/sys.h"
#include "platform/unrecorded.h"
#include "stack/bounds.h"
#include "stack/modules.h"
#include "stack/stack_state.h"
#include "stack/walk.h"
#include "stack/wrappers.h"

enum { STATUS_BYTES = 4096 };

/* Number of times that a thread waits for another to start recording: about 50 ms (sys_wait). */
enum { START_WAITS = 64 + 320 };
enum { COMMAND_BYTES_MAX = 32 * 1024, FIRST_INTERVAL_NS = 1000000, START_STACK_BYTES = 256 << 10 };

/* Bytes of address space reserved at the start: a fixed part for the ledger's top level, caches and
 * a few threads, and a share of the limit for tables of the file and the index of nodes. */
#define START_BYTES ((uint64_t)80 << 20)
#define START_LIMIT_SHARE 6

/* Upper bound in bytes of the writable private memory for small programs: two leaves of the ledger
 * and some threads. */
#define START_DATA_BYTES ((uint64_t)16 << 20)

/* With a reserve: bytes of address space for private memory, whose pages are used on demand. */
#define ARENA_BYTES ((uint64_t)4 << 30)

/* True after the first start. If a later start finds the state wiped, it runs in a forked child. */
static bool started_before;

/* Buffers of the one thread that starts recording. Each start writes to their first page in any
 * case, so a child's copy of that page costs no further page fault. */
static union {
    char text[COMMAND_BYTES_MAX]; // Text of a file in /proc, while the header is filled in.
    struct core_origin origin;    // Source of the core record, after that.
} starting;

static size_t
read_whole(const char *path, char *buffer, size_t size_bytes)
{
    int fd = sys_open(path, O_RDONLY, 0);
    size_t got = 0;

    while (fd >= 0 && got < size_bytes) {
        long n = sys_pread(fd, buffer + got, size_bytes - got, got);

        if (n > 0)
            got += (size_t)n;
        if (n <= 0 || got < size_bytes) // One read returns the whole content of these files.
            break;
    }
    if (fd >= 0)
        sys_close(fd);
    return got;
}

/* Return field NUMBER, 3 or more, of STAT, the text of a file /proc/PID/stat. Return 0 if it is
 * missing. The name in field 2 may contain any character, so fields are counted from its last
 * ')'. */
static uint64_t
stat_field(const char *stat, uint32_t number)
{
    const char *p = strrchr(stat, ')');

    for (uint32_t field = 2; p != NULL && field < number; field++) {
        p = strchr(p, ' ');
        p = p != NULL ? p + 1 : NULL;
    }
    return p != NULL ? parse_uint(&p) : 0;
}

/* Describe the process that owns this memory in the header. If the caller is a guest
 * (platform/process.h), that is another process. */
static void
identify_process(struct disk_header *h)
{
    enum { PARENT = 4, START_TIME = 22 };
    bool guest = identity_is_guest();
    char stat[1024], path[64];
    struct fmt f = fmt_init(path, sizeof path);

    h->pid = (uint32_t)identity_pid();
    fmt_str(&f, "/proc/");
    if (guest)
        fmt_uint(&f, h->pid);
    else
        fmt_str(&f, "self");
    fmt_str(&f, "/stat");
    stat[read_whole(path, stat, sizeof stat - 1)] = '\0';
    h->process_start = stat_field(stat, START_TIME);
    h->parent_pid = guest ? (uint32_t)stat_field(stat, PARENT) : (uint32_t)sys_getppid();
}

static void
describe_system(struct disk_header *h)
{
    struct utsname u;
    char text[256];
    struct fmt f = fmt_init(text, sizeof text);

    if (sys_uname(&u) == 0) {
        fmt_str(&f, u.sysname);
        fmt_char(&f, ' ');
        fmt_str(&f, u.release);
    }
    h->kernel = file_string(text, f.length);
    h->heaptap = file_string(HEAPTAP_VERSION, sizeof HEAPTAP_VERSION - 1);
    h->page_bytes = 4096;
    h->cpu_count = sys_processors();
    h->machine = ARCH_ELF_MACHINE;
}

static void
describe_process(struct disk_header *h)
{
    char *command = starting.text;

    identify_process(h);
    h->file_device = account_state()->device;
    h->file_inode = account_state()->inode;
    h->process_flags = (state->forked ? (uint32_t)DISK_PROCESS_FORKED : 0) |
                       (state->in_memory ? (uint32_t)DISK_PROCESS_IN_MEMORY : 0) |
                       (annotation_is_on() ? (uint32_t)DISK_PROCESS_ANNOTATED : 0) |
                       (account_state()->reserve_bytes ? (uint32_t)DISK_PROCESS_RESERVED : 0) |
                       (host_given_profile() >= 0 ? (uint32_t)DISK_PROCESS_ATTACHED : 0);
    h->session_id = selection_session();
    h->start_unix_ns = sys_unix_ns();
    h->start_monotonic_ns = state->start_ns;
    h->start_cycles = arch_cycles();
    h->command =
        file_string(command, read_whole("/proc/self/cmdline", command, COMMAND_BYTES_MAX));
    h->executable = file_string(command, host_executable(command, COMMAND_BYTES_MAX));
}

static void
fill_header(void)
{
    struct disk_header *h = state->header;

    process_learn();
    state->start_ns = sys_clock_ns();
    event_state()->interval_ns = FIRST_INTERVAL_NS;
    h->depth_max = stack_state()->depth_max = selection_depth();
    h->shared.epoch = h->shared.peak_epoch = 1;
    describe_process(h);
    describe_system(h);
    tick_clock();
    if (state->forked) // Save the value, because a daemon may clear its environment and then fork.
        mem_limit_again();
    else
        mem_set_limit(host_number(ENVIRONMENT_MAX_MEMORY));
    mode_start();
    budget_start();
    history_start();
    store_release(&h->state, (uint32_t)DISK_STATE_RECORDING);
}

static void
choose_ledger(void)
{
    const char *allocator = host_environment("HEAPTAP_ALLOCATOR");

    ledger_state()->usable = real_usable_mode();
    if (allocator != NULL && strcmp(allocator, "glibc") == 0)
        ledger_state()->usable = USABLE_GLIBC;
    // In annotated programs do not trust size words: the allocator's size word does not precede an
    // annotated block, and malloc_usable_size is only as reliable as the annotation.
    if (annotation_is_on())
        ledger_state()->usable = USABLE_NONE;
    ledger_state()->granule_shift = ledger_state()->usable == USABLE_GLIBC ? LEDGER_GLIBC_SHIFT : 4;
}

/* Return true if WANTED is at most half of the part of LIMIT that remains after USED. The other
 * half is left to the program, which has priority. */
static bool
start_is_within(uint64_t limit, uint64_t used, uint64_t wanted)
{
    return limit == UINT64_MAX || (used < limit && wanted <= (limit - used) / 2);
}

/* Return the size in bytes that follows NAME in TEXT, the text of /proc/self/status. Return 0 if it
 * is missing. */
static uint64_t
status_bytes(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *p = text; p != NULL; p = strchr(p, '\n')) {
        p += *p == '\n';
        if (strncmp(p, name, length) == 0) {
            for (p += length; *p == ' ' || *p == '\t';)
                p++;
            return parse_uint(&p) << 10;
        }
    }
    return 0;
}

/* Return true if the limits on address space and data leave room for the recorder. A forked child
 * has already inherited a part of the address space. */
static bool
start_is_room(void)
{
    uint64_t limit = host_address_limit(), data_limit = sys_limit(RLIMIT_DATA);
    uint64_t pool_bytes = mem_pool_bytes();
    char text[STATUS_BYTES];

    if (limit == UINT64_MAX && data_limit == UINT64_MAX)
        return true;
    text[read_whole("/proc/self/status", text, sizeof text - 1)] = '\0';
    return start_is_within(limit, status_bytes(text, "VmSize:"),
                           START_BYTES - (pool_bytes < START_BYTES ? pool_bytes : START_BYTES) +
                         limit / START_LIMIT_SHARE) &&
           start_is_within(data_limit, status_bytes(text, "VmData:"), START_DATA_BYTES);
}

/* If the user requested a reserve, reserve all memory that will ever be used. Return false on
 * failure. Under a memory limit the file gets half of the reserve, and the other half is left for
 * the call tree. */
static bool
take_reserve(void)
{
    uint64_t bytes = host_number(ENVIRONMENT_RESERVE);
    uint64_t limit = host_number(ENVIRONMENT_MAX_MEMORY);

    if (bytes == 0)
        return true;
    if (limit != 0 && bytes > limit / 2)
        bytes = limit / 2;
    account_state()->reserve_bytes = bytes < RESERVE_BYTES_MAX ? bytes : RESERVE_BYTES_MAX;
    return mem_use_arena(host_address_limit() == UINT64_MAX ? ARENA_BYTES
                                                              : host_address_limit() / 4);
}

static bool
start_tables(void)
{
    account_state()->threads = mem_private(sizeof *account_state()->threads * LIMIT_THREADS);
    choose_ledger();
    bounds_process_begins();
    return account_state()->threads != NULL && table_take(&state->tables[DISK_THREADS], 1) == 0 &&
           core_record_start() && ledger_start() && nodes_start() && rules_start() &&
           modules_start() && wrappers_start() && unknown_frees_start() && label_start() &&
           named_start() && heap_names_start();
}

/* Report that this process is not recorded, because of ERROR, a negative number, with PATH. */
static void
start_fails(int error, const char *path, bool is_selected)
{
    output_message(OUTPUT_NOT_RECORDING, error, path);
    unrecorded_add_failed(output_cause(OUTPUT_NOT_RECORDING, error), is_selected);
}

static bool
start_all(void)
{
    static bool in_memory;
    int error;

    // A privileged program (setuid, setgid, file capabilities) must not write to its user's
    // directory, nor to paths from its user's environment.
    if (process_value(AT_SECURE) != 0 && host_given_profile() < 0)
        return false;
    // Do not record under a sanitizer: its interceptors must not be called before it is
    // initialised, and it would report the recorder's blocks as errors.
    if (real_is_sanitizer()) {
        if (!state->forked)
            start_fails(-ELIBBAD, "", true);
        return false;
    }
    if (!state->forked) // Save the value, because a daemon may clear its environment and then fork.
        in_memory = host_number(ENVIRONMENT_SELF_CONTAINED) != 0 &&
                    host_number(ENVIRONMENT_RESERVE) == 0;
    state->in_memory = in_memory;
    error = start_is_room() && mem_start() && take_reserve() ? 0 : -ENOMEM;

    if (error == 0 && (error = file_create()) == 0 && !start_tables()) {
        file_remove();
        error = -ENOMEM;
    }
    if (error != 0) {
        mem_release_all();
        if (!load_relaxed(&account_state()->file_failed)) // If the file failed, that was already
                                                          // reported.
            start_fails(error, account_state()->path, true);
        return false;
    }
    fill_header();
    access_start();
    core_record_publish(&starting.origin);
    file_copy(FILE_COPY_FIRST);
    unrecorded_add_recording(state->header);
    event_state()->guard_due = identity_is_guest();
    guard_start();
    limit_start();
    return true;
}

/* Atomic: nonzero after an allocation of the state has failed. */
static uint32_t state_failed;

bool
start_has_failed(void)
{
    return load_relaxed(&state_failed) != 0;
}

/* Allocate the state unless it exists. After a failure there is no second attempt, because the
 * program is short of memory. */
static bool
make_state(void)
{
    struct state *none = NULL;
    struct state *made;
    uint64_t pool_bytes;

    if (load_acquire(&state) != NULL)
        return true;
    if (start_has_failed())
        return false;
    // Use no pool if address space is limited, because it is left to the program. Use no pool with
    // a reserve, which has an arena.
    made = mem_new_state(host_address_limit() == UINT64_MAX &&
                             host_environment(ENVIRONMENT_RESERVE) == NULL,
                         &pool_bytes);
    if (made == NULL) {
        if (add_relaxed(&state_failed, 1u) == 0)
            start_fails(-ENOMEM, "", false);
        return false;
    }
    if (cas_acq_rel(&state, &none, made))
        mem_take_state(pool_bytes);
    else
        mem_free_state(made, pool_bytes);
    return true;
}

/* Add the events that other threads lost during the start to the header's counter. */
static void
count_early_events(void)
{
    uint64_t events =
        __atomic_exchange_n(&event_state()->early_events, UINT64_C(0), __ATOMIC_ACQ_REL);

    add_relaxed(&state->header->early_events, events);
}

static bool
start_here(void)
{
    if (dormant_here())
        return false;
    if (sys_is_quiet()) { // A child of a quiet process cannot create a file.
        unrecorded_add_forked();
        return false;
    }
    return selection_here() && start_all();
}

/* Start on a separate stack. Paths and messages need more space than the minimum stack of a thread
 * or a handler may have left. The stack is not allocated from the pool, which a forked child sees
 * as zeros. */
static bool
start_on_own_stack(void)
{
    unsigned char *stack = sys_mmap(NULL, START_STACK_BYTES, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool started;

    if (sys_failed(stack))
        return start_here();
    started = arch_call_on(stack + START_STACK_BYTES, start_here);
    sys_munmap(stack, START_STACK_BYTES);
    return started;
}

/* Wait for the thread that is starting to record. Return enum ready. The wait is short, because
 * that thread may wait for the loader's lock, which this thread may have. Once a wait was in vain,
 * no event waits. A nested event does not wait either: it may have interrupted the start. */
static uint32_t
start_await(void)
{
    uint32_t ready = load_acquire(&state->ready);

    if (tls.nests != 0 || load_relaxed(&event_state()->start_overdue) != 0)
        return ready;
    for (uint32_t i = 0; i < START_WAITS && ready == READY_NO; i++) {
        sys_wait(i);
        ready = load_acquire(&state->ready);
    }
    if (ready == READY_NO)
        store_relaxed(&event_state()->start_overdue, 1u);
    return ready;
}

COLD bool
start_recording(void)
{
    uint32_t idle = 0;
    uint32_t ready;

    if (!make_state())
        return false;
    ready = load_acquire(&state->ready);
    if (ready != READY_NO)
        return ready == READY_YES;
    if (cas_acq_rel(&state->starting, &idle, 1u)) {
        state->forked = started_before;
        ready = start_on_own_stack() ? READY_YES : READY_OFF;
        started_before = true;
        store_release(&state->ready, ready);
        if (ready == READY_YES)
            count_early_events();
    } else {
        ready = start_await();
        if (ready != READY_NO)
            return ready == READY_YES;
        add_relaxed(&event_state()->early_events, UINT64_C(1));
        if (load_acquire(&state->ready) == READY_YES)
            count_early_events();
    }
    return ready == READY_YES;
}

/* Record the main program's module now, because finding its path needs a system call. */
void
start_seal(void)
{
    static unsigned char buffer[MEM_RESIDENT_PAGES];
    struct unwind_object program;

    if (unwind_find_object(process_value(AT_ENTRY), &program))
        modules_id(&program);
    mem_measure(false, buffer);
    sys_be_quiet();
}
