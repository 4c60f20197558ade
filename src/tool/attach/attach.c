/* attach.c: start and end recording in a running process.
 *
 * The process gets one region of memory, less than 2 GiB from its allocator:
 *
 *     | struct region | code: the call stub, trampolines | the library | stack for our calls |
 *
 * A borrowed thread maps it and starts the recorder, while all others run. Then all threads are
 * stopped for a moment, and only the jumps are written meanwhile. No function of the process is
 * called, no lock is taken, and nothing is loaded by its dynamic linker, so it does not matter what
 * its threads are doing. Struct region records all changes, so that any later heaptap can undo
 * them.
 *
 * Three parts of a thread's state could be in the overwritten bytes: its next instruction, which is
 * moved to the trampoline; a return address, which cannot be, because no call is moved; and the
 * instruction that a signal handler interrupted. The last one is a word on the stack. If any word
 * there looks like one, all threads are resumed, and we try again later.
 *
 * The end restores the bytes first. Then no call enters the library any more, and threads that are
 * inside leave it. A thread is outside if no word of its stack leads into the region, or if its
 * unwound frames are outside. The search for objects is restored last: until then, an exception may
 * pass frames of the library. */
#include "attach/attach.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>

#include "attach/inside.h"
#include "attach/library.h"
#include "attach/patch.h"
#include "attach/remote.h"
#include "attach/stop.h"
#include "attach/target.h"
#include "format/attach_request.h"

enum {
    PAGE_BYTES = 4096,
    VERSION = 1,
    BRANCHES_MAX = 512,
    PATH_BYTES = 4096,
    ATTEMPTS_MAX = 50,
    PLANS_MAX = 20,
    STACK_BYTES = 256 << 10,
    // glibc's control block of a thread has 512 unused bytes here (tcbhead_t, __glibc_unused2).
    TLS_OFF = 0x80,
    TLS_BYTES = 0x200,
    SELF_OFF = 0x10, // Offset of the block's own address in it.
};

#define REGION_MAGIC UINT64_C(0x4741525044545048)
#define PR_SET_VMA_ 0x53564d41
#define LEAVE_NS_MAX UINT64_C(20000000000)
#define STOPPED_NS_MAX UINT64_C(500000000) // If a signal has stopped the process.
#define PAUSE_NS_MIN 1000000
#define PAUSE_NS_MAX 64000000

/* The beginning of the region. */
struct region {
    uint64_t magic;
    uint32_t version;
    uint32_t is_active; // The jumps have been written.
    uint32_t pid; // The attached process; a forked child has a copy of the region.
    uint32_t reserved;
    uint64_t size_bytes, code, library, stack_top;
    uint64_t end_function; // heaptap_attach_end
    uint64_t tls_bytes;
    uint64_t patch_count, branch_count;
    uint64_t has_finder; // The last patch replaces the search for objects.
    char name[16]; // For /proc/PID/maps.
    char profile[PATH_BYTES];
    struct patch patches[ATTACH_FUNCTION_COUNT];
    struct branch branches[BRANCHES_MAX];
};

/* Message for a thread that does not leave the region; it has the process id. */
#define STAYS                                                                                      \
    "a thread of process %u stays in the recorder, which records no more; if the process is "     \
    "stopped, continue it; then `heaptap detach` removes the recorder"

#define FUNCTION_NAME(name) #name,
static const char *const function_names[ATTACH_FUNCTION_COUNT] = {
    ATTACH_FUNCTIONS(FUNCTION_NAME) ATTACH_FINDER(FUNCTION_NAME) ATTACH_OPERATORS(FUNCTION_NAME)};

/* Everything that is prepared before the process is touched. */
struct plan {
    struct target *target;
    struct library library;
    struct region *region;
    unsigned char *code; // CODE_BYTES
    struct attach_request *request; // In the library's bytes.
    struct target_symbol allocator; // malloc.
    uint64_t base, begin_function;
    uint64_t owner_off; // Offset of struct attach_owner in a thread's memory of the recorder.
    uint64_t tid_off;
};

#define CODE_BYTES round_up(TRAMPOLINE_BYTES * (ATTACH_FUNCTION_COUNT + 1), PAGE_BYTES)
#define REGION_BYTES round_up(sizeof(struct region), PAGE_BYTES)

static void
attach_wait(uint64_t ns)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* --- The region ------------------------------------------------------------------------------- */

/* Find the region of an attached recorder. Return its address; 0 if there is none. */
static uint64_t
find_region(const struct target *t, struct region *ret)
{
    for (size_t i = 0; i < t->map_count; i++) {
        const struct target_map *map = &t->maps[i];

        if ((*map->path == '\0' || strstr(map->path, "heaptap") != NULL) &&
            (map->access & TARGET_READ) && target_word(t, map->start) == REGION_MAGIC &&
            target_read(t, map->start, ret, sizeof *ret) && ret->version == VERSION)
            return map->start;
    }
    return 0;
}

const char *
attach_profile(uint32_t pid, struct arena *arena)
{
    struct region *region = arena_alloc(arena, sizeof *region);
    struct target t;
    const char *path = NULL;

    if (target_open(pid, &t, NULL) != 0)
        return NULL;
    if (find_region(&t, region) != 0 && region->pid == pid) {
        region->profile[sizeof region->profile - 1] = '\0';
        path = region->profile;
    }
    target_close(&t);
    return path;
}

/* --- Preparing -------------------------------------------------------------------------------- */

/* Refuse a process that is recorded already, or that cannot be. */
static int
check_process(struct target *t, struct err *err)
{
    static const char *const sanitizers[] = {"libasan.", "libtsan.", "liblsan.", "libhwasan."};
    struct target_symbol s;
    struct region *region = arena_alloc(&t->arena, sizeof *region);

    if (find_region(t, region) != 0 && region->pid != t->pid)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u was forked by process %u while that was recorded, and has an "
                       "inactive copy of the recorder", t->pid, region->pid);
    if (region->magic != 0)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u is being recorded already, in %.1000s; `heaptap detach %u` ends "
                       "that", t->pid, region->profile, t->pid);
    if (target_find(t, "heaptap_recorder_v1", &s))
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u has a recorder already; `heaptap record %u --exact` lets it "
                       "record", t->pid, t->pid);
    if (target_find(t, "__asan_init", &s) || target_find(t, "__tsan_init", &s))
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u is built with a sanitizer, which needs the allocator alone",
                       t->pid);
    for (size_t i = 0; i < t->module_count; i++)
        for (size_t k = 0; k < countof(sanitizers); k++)
            if (strstr(t->modules[i].path, sanitizers[k]) != NULL)
                return err_set(err, HEAPTAP_BAD_INPUT,
                               "process %u uses a sanitizer, which needs the allocator alone",
                               t->pid);
    if (!target_find(t, "gnu_get_libc_version", &s))
        return err_set(err, HEAPTAP_BAD_INPUT, "the C library of process %u is not glibc",
                       t->pid);
    return 0;
}

/* Find the offset of a thread's id in its control block, which libc describes for debuggers: the
 * size in bits, the number of elements, and the offset. */
static int
find_tid(struct plan *p, struct err *err)
{
    struct target_symbol s;
    uint32_t description[3];

    if (!target_find(p->target, "_thread_db_pthread_tid", &s) ||
        !target_read(p->target, s.address, description, sizeof description) ||
        description[0] != 32 || description[2] > PAGE_BYTES)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the C library of process %u does not describe its threads", p->target->pid);
    p->tid_off = description[2];
    return 0;
}

/* Return the range of mappings of the object that contains ADDRESS. */
static void
object_range(const struct target *t, uint64_t address, uint64_t *ret_low, uint64_t *ret_high)
{
    const struct target_map *of = target_map_at(t, address);

    *ret_low = *ret_high = address;
    for (size_t i = 0; of != NULL && i < t->map_count; i++) {
        if (strcmp(t->maps[i].path, of->path) != 0)
            continue;
        if (t->maps[i].start < *ret_low)
            *ret_low = t->maps[i].start;
        if (t->maps[i].end > *ret_high)
            *ret_high = t->maps[i].end;
    }
}

/* Return true if an attach replaces function number INDEX, which is at S. */
static bool
is_replaced(const struct plan *p, uint32_t index, const struct target_symbol *s)
{
    if (s->type == STT_GNU_IFUNC)
        return false;
    return index < ATTACH_OPERATORS_FROM ||
           (s->module == p->allocator.module && p->request->is_glibc == 0);
}

/* Prepare the jump from function number INDEX, which is at S. */
static int
prepare_jump(struct plan *p, uint32_t index, const struct target_symbol *s, struct err *err)
{
    struct region *region = p->region;
    struct patch *patch = &region->patches[region->patch_count];
    char entry[64] = "heaptap_attached_";
    int r;

    strcat(entry, function_names[index]);
    patch->trampoline = region->code + TRAMPOLINE_BYTES * (region->patch_count + 1);
    r = patch_prepare(p->target, function_names[index], s->address, s->size_bytes,
                      region->library + library_offset(&p->library, entry), patch,
                      p->code + (patch->trampoline - region->code), err);
    if (r == 0) {
        p->request->functions[index] = patch->trampoline;
        region->patch_count++;
    }
    return r;
}

/* Return true if a jump at ADDRESS reaches the library. */
static bool
is_near(const struct plan *p, uint64_t address)
{
    int64_t low = (int64_t)(p->base - address);
    int64_t high = (int64_t)(p->base + p->region->size_bytes - address);

    return low == (int32_t)low && high == (int32_t)high;
}

/* Prepare function number INDEX, if it is replaced. Two names may have one function. */
static int
prepare_function(struct plan *p, uint32_t index, struct err *err)
{
    const struct region *region = p->region;
    struct target_symbol s;

    if (index == ATTACH__dl_find_object || !target_find(p->target, function_names[index], &s) ||
        !is_replaced(p, index, &s))
        return 0;
    for (uint64_t i = 0; i < region->patch_count; i++)
        if (region->patches[i].function == s.address) {
            p->request->functions[index] = region->patches[i].trampoline;
            return 0;
        }
    if (s.module != p->allocator.module && !is_near(p, s.address))
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the allocator of process %u is a part of the program, far from %s in the C "
                       "library; start the program with heaptap run instead", p->target->pid,
                       function_names[index]);
    return prepare_jump(p, index, &s, err);
}

/* Prepare the search for objects. It is replaced if operators are, because only these throw. */
static int
prepare_finder(struct plan *p, struct err *err)
{
    struct target_symbol s;
    bool has_operators = false;

    if (!target_find(p->target, function_names[ATTACH__dl_find_object], &s))
        return 0; // The library cannot be bound then, which is reported.
    p->request->functions[ATTACH__dl_find_object] = s.address;
    for (uint32_t i = ATTACH_OPERATORS_FROM; i < ATTACH_FUNCTION_COUNT; i++)
        has_operators |= p->request->functions[i] != 0;
    p->region->has_finder = has_operators;
    return has_operators ? prepare_jump(p, ATTACH__dl_find_object, &s, err) : 0;
}

/* Find the allocator's direct branches to its own functions. */
static int
prepare_branches(struct plan *p, struct err *err)
{
    const struct target *t = p->target;
    const struct target_map *of = target_map_at(t, p->allocator.address);
    struct region *region = p->region;

    // In an allocator that is a part of the program, the recorder recognises inner calls itself.
    if (p->allocator.module == t->modules)
        return 0;
    for (size_t i = 0; of != NULL && i < t->map_count; i++) {
        if ((t->maps[i].access & TARGET_EXECUTE) == 0 || strcmp(t->maps[i].path, of->path) != 0)
            continue;
        region->branch_count +=
            patch_branches(t, t->maps[i].start, t->maps[i].end, region->patches,
                           region->patch_count, region->branches + region->branch_count,
                           BRANCHES_MAX - region->branch_count);
        if (region->branch_count > BRANCHES_MAX)
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "the allocator of process %u calls itself from more than %d places",
                           t->pid, BRANCHES_MAX);
    }
    return 0;
}

/* Choose the addresses of all parts. */
static int
place_region(struct plan *p, struct err *err)
{
    uint64_t low, high, bytes = REGION_BYTES + CODE_BYTES + p->library.size_bytes + STACK_BYTES;
    struct region *region = p->region;

    object_range(p->target, p->allocator.address, &low, &high);
    p->base = target_gap(p->target, low, high, bytes);
    if (p->base == 0)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u has no free memory within 2 GiB of the allocator",
                       p->target->pid);
    region->magic = REGION_MAGIC;
    region->pid = p->target->pid;
    region->version = VERSION;
    region->size_bytes = bytes;
    region->code = p->base + REGION_BYTES;
    region->library = p->library.base = region->code + CODE_BYTES;
    region->stack_top = p->base + bytes - REMOTE_RESULT_BYTES;
    strcpy(region->name, "heaptap");
    memcpy(p->code, REMOTE_CALL, REMOTE_CALL_BYTES);
    return 0;
}

static int
fill_request(struct plan *p, const struct attach_how *how, struct err *err)
{
    struct attach_request *q = p->request;
    struct target_symbol s;

    if (q->magic != ATTACH_MAGIC || q->version != ATTACH_VERSION ||
        how->settings_bytes + 1 > sizeof q->settings)
        return err_set(err, HEAPTAP_BAD_INPUT, "%s is of another version of heaptap",
                       how->library);
    q->tid_off = (uint32_t)p->tid_off;
    q->is_quiet = p->target->is_filtered;
    q->is_glibc = target_find(p->target, "gnu_get_libc_version", &s) &&
                  s.module == p->allocator.module;
    q->usable_size = target_find(p->target, "malloc_usable_size", &s) &&
                             s.module == p->allocator.module ? s.address : 0;
    memcpy(q->settings, how->settings, how->settings_bytes);
    return 0;
}

/* Prepare everything for process T. */
static int
make_plan(struct target *t, const struct attach_how *how, struct plan *p, struct err *err)
{
    int r;

    *p = (struct plan){.target = t};
    p->region = arena_alloc(&t->arena, REGION_BYTES);
    p->code = arena_alloc(&t->arena, CODE_BYTES);
    if (strlen(how->profile) >= sizeof p->region->profile)
        return err_set(err, HEAPTAP_BAD_INPUT, "the path of the profile is too long");
    strcpy(p->region->profile, how->profile);
    if (!target_find(t, "malloc", &p->allocator))
        return err_set(err, HEAPTAP_BAD_INPUT, "process %u has no malloc", t->pid);
    if ((r = find_tid(p, err)) != 0 || (r = library_read(how->library, t, &p->library, err)) != 0 ||
        (r = place_region(p, err)) != 0 ||
        (r = library_relocate(&p->library, t, TLS_OFF, err)) != 0)
        return r;
    p->region->tls_bytes = library_tls_bytes(&p->library);
    p->owner_off = library_offset(&p->library, "heaptap_attach_owner");
    if (p->region->tls_bytes > TLS_BYTES || p->owner_off + sizeof(struct attach_owner) > TLS_BYTES)
        return err_set(err, HEAPTAP_BUG, "%s needs too much memory in each thread", how->library);
    p->request = (struct attach_request *)(void *)(p->library.bytes +
                                           library_offset(&p->library, "heaptap_attach_request"));
    p->begin_function = p->library.base + library_offset(&p->library, "heaptap_attach_begin");
    p->region->end_function = p->library.base + library_offset(&p->library, "heaptap_attach_end");
    r = fill_request(p, how, err);
    for (uint32_t i = 0; r == 0 && i < ATTACH_FUNCTION_COUNT; i++)
        r = prepare_function(p, i, err);
    if (r == 0)
        r = prepare_finder(p, err);
    return r != 0 ? r : prepare_branches(p, err);
}

/* --- Threads' control blocks ------------------------------------------------------------------ */

static void
clear_block(const struct target *t, const struct stopped *s, uint64_t tls_bytes)
{
    static const unsigned char zeros[TLS_BYTES];

    if (!s->has_ended && s->registers.fs_base != 0 && tls_bytes <= sizeof zeros)
        target_write(t, s->registers.fs_base + TLS_OFF, zeros, tls_bytes);
}

/* Check that each thread's control block is as glibc lays it out, and that the recorder's part of
 * it is unused. */
static int
check_blocks(const struct plan *p, const struct threads *s, struct err *err)
{
    for (size_t i = 0; i < s->count; i++) {
        static const unsigned char zeros[TLS_BYTES];
        unsigned char bytes[TLS_BYTES];
        uint64_t block = s->v[i].registers.fs_base;
        struct attach_owner owner;
        uint32_t tid = 0;

        if (s->v[i].has_ended)
            continue;
        if (target_word(p->target, block + SELF_OFF) != block ||
            !target_read(p->target, block + p->tid_off, &tid, sizeof tid) ||
            !target_read(p->target, block + TLS_OFF, bytes, sizeof bytes))
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "thread %u of process %u was not created by the C library",
                           s->v[i].tid, p->target->pid);
        if (memcmp(bytes, zeros, sizeof bytes) == 0)
            continue;
        // A new thread has got the control block of one that ended while it was recorded.
        memcpy(&owner, bytes + p->owner_off, sizeof owner);
        if (owner.magic == ATTACH_OWNER_MAGIC && owner.tid != tid)
            clear_block(p->target, &s->v[i], p->region->tls_bytes);
        else
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "the C library of process %u uses the part of thread %u's control block "
                           "that the recorder needs", p->target->pid, s->v[i].tid);
    }
    return 0;
}

/* --- Starting --------------------------------------------------------------------------------- */

/* Return the address of memory for arguments of system calls: a part of the unused stack. */
static uint64_t
scratch_of(const struct plan *p)
{
    return round_down(p->region->stack_top, PAGE_BYTES) - 2 * PAGE_BYTES;
}

/* Return the error for a failed system call in the process; RESULT is its result. */
static int
report_call(const struct plan *p, const char *what, long result, struct err *err)
{
    errno = (int)-result;
    return err_errno(err, HEAPTAP_BAD_INPUT, "process %u cannot %s", p->target->pid, what);
}

/* Write all parts to the mapped region, and protect them. */
static int
fill_region(const struct plan *p, struct remote *r, struct err *err)
{
    const struct target *t = p->target;
    struct library_part part;
    long result = remote_syscall(r, SYS_mprotect, p->region->code, CODE_BYTES,
                                 PROT_READ | PROT_EXEC, 0, 0, 0);

    if (!target_write(t, p->base, p->region, sizeof *p->region) ||
        !target_write(t, p->region->code, p->code, CODE_BYTES) ||
        !target_write(t, p->library.base, p->library.bytes, p->library.size_bytes))
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot write to process %u", t->pid);
    for (size_t i = 0; result == 0 && library_part(&p->library, i, &part); i++)
        result = remote_syscall(r, SYS_mprotect, p->library.base + part.off, part.size_bytes,
                                (uint64_t)part.protection, 0, 0, 0);
    if (result < 0)
        return report_call(p, "make memory executable", result, err);
    // The name is a help for readers of /proc/PID/maps; old kernels have none.
    remote_syscall(r, SYS_prctl, PR_SET_VMA_, 0, p->base, p->region->size_bytes,
                   p->base + offsetof(struct region, name), 0);
    r->call_at = p->region->code;
    r->stack_top = p->region->stack_top;
    return 0;
}

/* Pass the profile, and start the recorder. */
static int
start_recorder(const struct plan *p, struct remote *r, const struct attach_how *how,
               struct err *err)
{
    uint64_t request = p->library.base + library_offset(&p->library, "heaptap_attach_request");
    int fd = remote_give_file(r, how->profile_fd, scratch_of(p)), fault;
    long result;
    bool came_back;

    if (fd < 0)
        return report_call(p, "receive the profile", fd, err);
    if (!target_write(p->target, request + offsetof(struct attach_request, profile_fd), &fd,
                      sizeof fd))
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot write to process %u", p->target->pid);
    clear_block(p->target, &r->threads->v[0], TLS_BYTES);
    came_back = remote_call(r, p->begin_function, &result, &fault);
    clear_block(p->target, &r->threads->v[0], p->region->tls_bytes);
    if (!came_back)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the recorder does not start in process %u (signal %d); the process "
                       "continues without it", p->target->pid, fault);
    if (result != 1) {
        remote_syscall(r, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the recorder cannot start in process %u: the disk is full, or a limit of "
                       "the process on the size of files (ulimit -f) or on its memory is too low",
                       p->target->pid);
    }
    return 0;
}

/* Return true if the borrowed thread may read the cycle counter, as the recorder does. */
static bool
may_read_cycles(const struct plan *p, struct remote *r)
{
    uint64_t at = scratch_of(p);
    uint32_t allowed = 0;

    return remote_syscall(r, SYS_prctl, PR_GET_TSC, at, 0, 0, 0, 0) != 0 ||
           !target_read(p->target, at, &allowed, sizeof allowed) || allowed != PR_TSC_SIGSEGV;
}

/* Map the region and start the recorder in a borrowed thread. Returns HEAPTAP_NOT_FOUND if the
 * process has used the region's place meanwhile. */
static int
start_in_thread(const struct plan *p, const struct attach_how *how, struct attach_cost *cost,
                struct err *err)
{
    struct threads one;
    struct remote *r = arena_alloc(&p->target->arena, sizeof *r);
    int result = threads_stop_one(p->target, &one, err);
    long mapped;

    if (result != 0)
        return result;
    result = check_blocks(p, &one, err);
    if (result == 0)
        result = remote_take(r, &one, err);
    if (result != 0) {
        threads_resume(&one);
        return result;
    }
    mapped = remote_syscall(r, SYS_mmap, p->base, p->region->size_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE,
                            UINT64_MAX, 0);
    if ((uint64_t)mapped != p->base) {
        result = mapped == -EEXIST ? HEAPTAP_NOT_FOUND : report_call(p, "map memory", mapped, err);
        if (mapped > 0)
            remote_syscall(r, SYS_munmap, (uint64_t)mapped, p->region->size_bytes, 0, 0, 0, 0);
    } else {
        result = fill_region(p, r, err);
        if (result == 0 && !may_read_cycles(p, r))
            result = err_set(err, HEAPTAP_BAD_INPUT,
                             "process %u has forbidden itself the cycle counter (PR_SET_TSC)",
                             p->target->pid);
        if (result == 0)
            result = start_recorder(p, r, how, err);
        if (result != 0)
            remote_syscall(r, SYS_munmap, p->base, p->region->size_bytes, 0, 0, 0, 0);
    }
    remote_give_back(r);
    cost->borrowed_ns = threads_now_ns() - one.began_ns;
    threads_resume(&one);
    return result;
}

/* Return the number of words on the stacks that look like the address of an instruction which a
 * jump would overwrite, and which a signal handler interrupted. */
static size_t
words_in_patches(const struct threads *s, const struct region *region)
{
    struct word_range ranges[ATTACH_FUNCTION_COUNT];

    for (uint64_t i = 0; i < region->patch_count; i++)
        ranges[i] = (struct word_range){region->patches[i].function + 1,
                                        region->patches[i].function + PATCH_JUMP_BYTES};
    return threads_words_in(s, ranges, region->patch_count);
}

/* Move thread T between a function and its trampoline if it is at a moved instruction. INTO: to the
 * trampoline. Return true if it was moved. */
static bool
move_thread(struct stopped *t, const struct region *region, bool into)
{
    for (uint64_t i = 0; i < region->patch_count; i++) {
        const struct patch *p = &region->patches[i];

        for (uint32_t k = 0; k < p->count; k++) {
            uint64_t inside = p->function + p->from[k], outside = p->trampoline + p->to[k];

            // At its first instruction the jump takes the thread itself.
            if (t->registers.rip != (into ? inside : outside) || (into && k == 0))
                continue;
            t->registers.rip = into ? outside : inside;
            t->is_changed = true;
            return true;
        }
    }
    return false;
}

/* Write the jumps and the changed branches, or all original bytes. The search for objects keeps its
 * jump until restore_finder. Return false on failure. */
static bool
write_patches(const struct target *t, const struct region *region, bool jumps)
{
    uint64_t count = region->patch_count - (jumps ? 0 : region->has_finder);
    bool ok = true;

    for (uint64_t i = 0; i < region->branch_count; i++) {
        const struct branch *b = &region->branches[i];

        ok = target_write(t, b->at, jumps ? &b->changed : &b->original, sizeof b->original) && ok;
    }
    for (uint64_t i = 0; i < count; i++)
        ok = (jumps ? patch_apply(t, &region->patches[i]) : patch_remove(t, &region->patches[i])) &&
             ok;
    return ok;
}

/* Restore the search for objects. Return false on failure. */
static bool
restore_finder(const struct target *t, const struct region *region)
{
    return region->has_finder == 0 ||
           patch_remove(t, &region->patches[region->patch_count - 1]);
}

/* Stop all threads, without any that a jump would hurt. */
static int
stop_for_patches(const struct plan *p, struct threads *s, struct attach_cost *cost,
                 struct err *err)
{
    for (cost->attempts = 1; cost->attempts <= ATTEMPTS_MAX; cost->attempts++) {
        int r;

        target_read_maps(p->target); // Before the stop, which must be short.
        r = threads_stop(p->target, s, err);

        if (r == 0)
            r = check_blocks(p, s, err);
        if (r != 0) {
            threads_resume(s);
            return r;
        }
        for (size_t i = 0; i < s->count; i++)
            cost->moved += move_thread(&s->v[i], p->region, true);
        if (words_in_patches(s, p->region) == 0)
            return 0;
        for (size_t i = 0; i < s->count; i++)
            s->v[i].is_changed = false; // The trampoline would do as well, but nothing is patched.
        threads_resume(s);
        cost->moved = 0;
        attach_wait(PAUSE_NS_MIN * cost->attempts);
    }
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "process %u has signal handlers that interrupt its allocator all the time; try "
                   "again later", p->target->pid);
}

/* Write the jumps. */
static int
patch_process(const struct plan *p, struct attach_cost *cost, struct err *err)
{
    struct threads all;
    int r = stop_for_patches(p, &all, cost, err);

    if (r != 0)
        return r;
    cost->threads = all.count;
    p->region->is_active = 1;
    if (!write_patches(p->target, p->region, true) ||
        !target_write(p->target, p->base, p->region, sizeof *p->region)) {
        write_patches(p->target, p->region, false);
        restore_finder(p->target, p->region);
        r = err_set(err, HEAPTAP_BAD_INPUT, "the code of process %u cannot be changed",
                    p->target->pid);
    }
    cost->stopped_ns = threads_now_ns() - all.began_ns;
    threads_resume(&all);
    return r;
}

/* --- Ending -----------------------------------------------------------------------------------
 * Return true if the only thread of S is outside the region at BASE. UNWINDER may be NULL. Clear
 * the thread's words of the recorder then. */
static bool
is_outside(const struct threads *s, uint64_t base, const struct region *region,
           struct inside *unwinder)
{
    const struct word_range all = {base, base + region->size_bytes};

    if (s->v[0].has_ended)
        return true;
    if (threads_words_in(s, &all, 1) != 0 &&
        !inside_is_not(unwinder, s->v[0].tid, all.low, all.high))
        return false;
    clear_block(s->target, &s->v[0], region->tls_bytes);
    return true;
}

/* Store in TIDS the threads of S that may be inside the region. Return their number. UNWINDER may
 * be NULL. */
static size_t
find_inside(const struct threads *s, uint64_t base, const struct region *region,
            struct inside *unwinder, uint32_t *tids)
{
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++) {
        struct threads one = *s;

        one.v = &s->v[i];
        one.count = 1;
        if (!is_outside(&one, base, region, unwinder))
            tids[count++] = s->v[i].tid;
    }
    return count;
}

/* Wait until the COUNT threads TIDS have left the region at BASE. Set *RET_UNWINDER once the words
 * on a stack do not suffice. Return false if one stays. */
static bool
await_leaving(struct target *t, uint64_t base, const struct region *region, uint32_t *tids,
              size_t count, struct inside **ret_unwinder)
{
    const char *state = target_status(t, t->pid, "State:");
    bool is_stopped = state != NULL && *state == 'T';
    uint64_t deadline_ns = threads_now_ns() + (is_stopped ? STOPPED_NS_MAX : LEAVE_NS_MAX);
    uint64_t pause_ns = PAUSE_NS_MIN;

    while (count > 0 && threads_now_ns() < deadline_ns) {
        attach_wait(pause_ns);
        pause_ns = pause_ns * 2 < PAUSE_NS_MAX ? pause_ns * 2 : PAUSE_NS_MAX;
        if (pause_ns == PAUSE_NS_MAX && *ret_unwinder == NULL)
            *ret_unwinder = inside_open(t->pid);
        target_read_maps(t);
        for (size_t i = 0; i < count;) {
            struct threads one;
            bool stopped = threads_stop_this(t, tids[i], &one);

            if (!stopped && target_status(t, tids[i], "State:") != NULL) {
                i++; // It exists, but does not stop now.
                continue;
            }
            if (!stopped || is_outside(&one, base, region, *ret_unwinder))
                tids[i] = tids[--count];
            else
                i++;
            if (stopped)
                threads_resume(&one);
        }
    }
    return count == 0;
}

/* Return the index of a thread of S that can be borrowed; S's count if there is none. */
static size_t
find_borrowable(const struct threads *s)
{
    size_t i = 0;

    while (i < s->count && (s->v[i].has_ended || threads_has_signal(s->target, &s->v[i])))
        i++;
    return i;
}

/* End the recorder and unmap the region at BASE, in thread number INDEX of S. Requires all threads
 * of S to be outside the region. */
static int
unmap_region(const struct threads *s, size_t index, uint64_t base, const struct region *region,
             struct err *err)
{
    struct target *t = s->target;
    struct remote *r = arena_alloc(&t->arena, sizeof *r);
    struct threads one = *s;
    int result, fault;
    long ended;

    one.v += index;
    one.count = 1;
    result = remote_take(r, &one, err);
    if (result != 0)
        return result;
    r->call_at = region->code;
    r->stack_top = region->stack_top;
    if (remote_call(r, region->end_function, &ended, &fault))
        remote_syscall(r, SYS_munmap, base, region->size_bytes, 0, 0, 0, 0);
    else
        result = err_set(err, HEAPTAP_BAD_INPUT,
                         "the recorder does not end in process %u (signal %d); it records no more, "
                         "but its memory stays", t->pid, fault);
    clear_block(t, one.v, region->tls_bytes);
    remote_give_back(r);
    return result;
}

/* Stop all threads when none is inside the region at BASE, and remove it. */
static int
remove_when_outside(struct target *t, uint64_t base, const struct region *region,
                    struct inside *unwinder, struct attach_cost *cost, struct err *err)
{
    for (size_t i = 1; i <= ATTEMPTS_MAX; i++) {
        struct threads all;
        size_t index;
        uint32_t *tids;
        int r;

        target_read_maps(t);
        r = threads_stop(t, &all, err);
        if (r != 0)
            return r;
        tids = arena_array(&t->arena, all.count, sizeof *tids);
        index = find_borrowable(&all);
        if (index < all.count && find_inside(&all, base, region, unwinder, tids) == 0) {
            restore_finder(t, region);
            r = unmap_region(&all, index, base, region, err);
            cost->stopped_ns = threads_now_ns() - all.began_ns;
            threads_resume(&all);
            return r;
        }
        threads_resume(&all);
        attach_wait(PAUSE_NS_MIN * i);
    }
    return err_set(err, HEAPTAP_BAD_INPUT, STAYS, t->pid);
}

/* Remove the region at BASE from process T. */
static int
remove_region(struct target *t, uint64_t base, const struct region *region,
              struct attach_cost *cost, struct err *err)
{
    struct inside *unwinder = NULL;
    struct threads all;
    uint32_t *tids;
    size_t inside;
    bool ok;
    int r;

    target_read_maps(t);
    r = threads_stop(t, &all, err);
    if (r != 0)
        return r;
    ok = region->is_active == 0 || write_patches(t, region, false);
    for (size_t i = 0; i < all.count; i++)
        cost->moved += move_thread(&all.v[i], region, false);
    tids = arena_array(&t->arena, all.count, sizeof *tids);
    inside = find_inside(&all, base, region, NULL, tids);
    cost->threads = all.count;
    cost->stopped_ns = threads_now_ns() - all.began_ns;
    threads_resume(&all);
    if (!ok)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "another program has changed the allocator of process %u since the attach; "
                       "the recorder stays in it", t->pid);
    if (await_leaving(t, base, region, tids, inside, &unwinder))
        r = remove_when_outside(t, base, region, unwinder, cost, err);
    else
        r = err_set(err, HEAPTAP_BAD_INPUT, STAYS, t->pid);
    inside_close(unwinder);
    return r;
}

int
attach_begin(uint32_t pid, const struct attach_how *how, struct attach_cost *ret, struct err *err)
{
    struct attach_cost undo = {0};
    struct target t;
    struct plan p;
    int r;

    *ret = (struct attach_cost){0};
    if (!patch_is_available())
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "this heaptap was built without Zydis, which attach needs; install "
                       "libzydis-dev (version 4 or later) and run `make` again");
    r = target_open(pid, &t, err);
    if (r != 0)
        return r;
    r = check_process(&t, err);
    // A busy process may map something where the region was to lie.
    for (int i = 0, more = 1; r == 0 && more && i < PLANS_MAX; i++) {
        target_read_maps(&t);
        if ((r = make_plan(&t, how, &p, err)) == 0)
            r = start_in_thread(&p, how, ret, err);
        more = r == HEAPTAP_NOT_FOUND;
        if (more)
            r = i + 1 < PLANS_MAX ? 0
                                  : err_set(err, HEAPTAP_BAD_INPUT,
                                            "process %u maps memory too fast; try again later",
                                            pid);
    }
    if (r == 0 && (r = patch_process(&p, ret, err)) != 0) {
        p.region->is_active = 0;
        remove_region(&t, p.base, p.region, &undo, NULL);
    }
    // Steps fail in strange ways when the process ends meanwhile.
    if (r != 0 && target_status(&t, t.thread, "VmSize:") == NULL)
        r = err_set(err, HEAPTAP_BAD_INPUT, "process %u has ended", pid);
    target_close(&t);
    return r;
}

int
attach_end(uint32_t pid, struct attach_cost *ret, struct err *err)
{
    struct target t;
    struct region *region;
    uint64_t base;
    int r = target_open(pid, &t, err);

    *ret = (struct attach_cost){0};
    if (r != 0)
        return r;
    region = arena_alloc(&t.arena, sizeof *region);
    base = find_region(&t, region);
    r = base == 0 || region->pid != pid ? HEAPTAP_NOT_FOUND
                                        : remove_region(&t, base, region, ret, err);
    target_close(&t);
    return r;
}
