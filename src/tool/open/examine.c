/* examine.c: open a dump or a process, and find the files that belong to it.
 *
 * Much can be missing. The dump may be cut short, or come from a process that was not recorded, or
 * from another program. Its profile may be gone, or another run's profile may have its name. Each
 * case has a separate message with a remedy, because there is no second dump of the same crash. */
#include "open/open_set.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "image/blocks.h"
#include "image/elf_core.h"
#include "image/examined.h"
#include "image/live_memory.h"
#include "image/memory_profile.h"
#include "image/snapshot.h"
#include "option/opts.h"
#include "profile/origin.h"
#include "util/path.h"
#include "view/phrases.h"
#include "view/style.h"

/* A process is stopped no longer without --force. The second value is how much of a process's
 * memory a search examines in a millisecond; measured: 1 GiB with a million blocks in 4 s. */
#define STOP_NS_MAX UINT64_C(1000000000)
#define SEARCH_BYTES_PER_MS (UINT64_C(256) << 10)

/* Attempts to find a thread that can make a call, and the time between them. */
enum { BORROW_ATTEMPTS = 20, BORROW_WAIT_NS = 2000000 };

/* Number of snapshots with zeros after which a search does without. */
enum { SNAPSHOTS_MAX = 4 };

/* Return true if the recorder is among the libraries of M's process. */
static bool
has_recorder(const struct memory *m)
{
    for (size_t i = 0; i < m->mapping_count; i++)
        if (strcmp(path_basename(m->mappings[i].path), "libheaptap.so") == 0)
            return true;
    return false;
}

/* Return true if a file of M's process has a name that begins with PREFIX. */
static bool
has_file(const struct memory *m, const char *prefix)
{
    for (size_t i = 0; i < m->mapping_count; i++)
        if (strncmp(path_basename(m->mappings[i].path), prefix, strlen(prefix)) == 0)
            return true;
    return false;
}

/* Return true if the process of M has no dynamic linker. */
static bool
is_static(const struct memory *m)
{
    // The list of files has the program, unless there is none.
    return m->mapping_count > 0 && !has_file(m, "ld-linux") && !has_file(m, "ld-2") &&
           !has_file(m, "ld.so");
}

/* Return why the process of the dump M was not recorded, as far as the dump shows, and the
 * remedy. */
static const char *
unrecorded_cause(const struct memory *m)
{
    if (m->machine != EM_X86_64 || m->word_bytes != 8)
        return ": it has another architecture than this heaptap; if its blocks are annotated, use "
               "heaptap rawdump";
    if (has_file(m, "ld-musl-"))
        return ": its C library is musl; link it statically with musl/libheaptap_static.a";
    if (is_static(m))
        return ": it is statically linked; link it with libheaptap_static.a";
    return "; record the next one with `heaptap run`";
}

/* Report that nothing of M was recorded, and the signal that ended it, if known. Returns the exit
 * code. */
static int
examine_report_unrecorded(const struct memory *m, struct arena *arena)
{
    static const char complete[] = "make a complete dump (ulimit -c unlimited, room on the disk)";

    if (has_recorder(m) && m->missing_bytes > 0)
        message_error("%s is truncated, and the recorder's memory is in the missing part; %s",
                      m->name, complete);
    // gdb writes the list of mapped files after all memory, so it is the first part to be cut off.
    else if (m->missing_bytes > 0)
        message_error("%s is truncated, and the missing part would show whether heaptap recorded "
                      "the process; %s",
                      m->name, complete);
    else if (has_recorder(m) && !m->lives)
        message_error("%s: the recorder was there, but its memory is not in the dump: it recorded "
                      "nothing in this process, or the filter left private memory out (bit 0 of "
                      "/proc/PID/coredump_filter)",
                      m->name);
    else if (has_recorder(m))
        message_error(
            "%s: the recorder is loaded, but has recorded nothing yet: a forked child is "
            "recorded from its first allocation, unless options of `heaptap run` exclude it",
            m->name);
    else if (m->lives)
        message_error("%s is not being recorded by heaptap (start it with `heaptap run`)", m->name);
    else
        message_error("%s: this process%s%s%s was not recorded by heaptap%s", m->name,
                      *m->program != '\0' ? " (" : "", m->program,
                      *m->program != '\0' ? ")" : "", unrecorded_cause(m));
    if (m->signal.number != 0)
        message_error("%s: %s", m->name, memory_signal_words(arena, m));
    return EXIT_BAD_INPUT;
}

/* Warn if PROGRAM, the program that the user named, is not among the files of M. */
static void
check_program(const struct memory *m, const char *program)
{
    const char *name = path_basename(program);

    for (size_t i = 0; i < m->mapping_count; i++)
        if (strcmp(path_basename(m->mappings[i].path), name) == 0)
            return;
    message_warning("%s does not seem to be a dump of %s, which is not among its "
                    "files", m->name, program);
}

/* The bytes of a profile. */
struct profile_bytes {
    void *data; // NULL = not read yet.
    size_t size_bytes;
};

/* Read the profile of E into RAW: from READ, or from the file. Return 0, or an exit code after
 * printing an error. */
static int
read_profile(struct examined *e, struct profile_bytes read, struct raw_file *raw)
{
    struct err err = {""};
    int r = read.data != NULL ? 0
                              : origin_read(e->profile, &e->arena, &read.data, &read.size_bytes,
                                            &err);

    if (r == 0)
        r = raw_parse(read.data, read.size_bytes, e->profile, &e->arena, raw, &err);
    if (r == 0)
        return 0;
    message_error("%s", err.text);
    return exit_code(r);
}

/* Read the profile in E's memory into RAW and, unchanged, into FILE. Return 0, or an exit code
 * after printing an error. */
static int
read_memory_profile(struct examined *e, struct strbuf *file, struct raw_file *raw)
{
    struct err err = {""};
    uint64_t missing;
    int r = memory_profile(&e->memory, &e->record, file, &missing, &err);

    if (r == 0)
        r = raw_parse(file->text, file->length, e->memory.name, &e->arena, raw, &err);
    if (r != 0) {
        message_error("%s", err.text);
        return exit_code(r);
    }
    if (missing > 0)
        message_warning("%s: %s of the profile in its memory are missing", e->memory.name,
                        style_bytes(&e->arena, (int64_t)missing));
    return 0;
}

static int
report_gone(struct examined *e)
{
    message_error(
        "%s: its profile %s is gone, and with it the stacks of all blocks; if the profile "
        "has moved, name it with --profile; to need no profile, record with `heaptap run "
        "--self-contained-core`",
        e->memory.name, style_clean(&e->arena, e->record.path));
    return EXIT_BAD_INPUT;
}

/* Find the profile that belongs to E, and store its path in E; without one, fall back to annotated
 * blocks. Return 0, or an exit code after printing why there is neither. */
static int
find_profile(const struct examine_request *w, struct examined *e)
{
    struct err err = {""};
    const char *path = w->profile;
    struct disk_header h;

    // A child that records nothing has no profile; its record names the parent's profile.
    if (path == NULL && w->core == NULL && !e->inherited.silent &&
        origin_of_pid(w->pid, &e->arena, &path, &err) != 0)
        path = NULL;
    if (path == NULL)
        path = record_find_profile(&e->record, w->core, &e->arena);
    e->stacks_carried = path == NULL && w->core != NULL && e->record.annotated != 0;
    if (path == NULL)
        return e->stacks_carried ? 0 : report_gone(e);
    if (origin_header(path, &h) && !record_is_of(&e->record, &h)) {
        message_error("%s is not the profile of %s: it is of process %" PRIu32
                      ", and another run; its own was %s",
                      style_clean(&e->arena, path), e->memory.name, h.pid,
                      style_clean(&e->arena, e->record.path));
        return EXIT_BAD_INPUT;
    }
    e->profile = path;
    return 0;
}

/* Read the stacks in the annotations of E's blocks. Return 0, or an exit code after printing an
 * error. */
static int
read_carried(struct examined *e)
{
    struct err err = {""};
    uint32_t frames;
    int r = annotated_stacks_read(e, &frames, &err);

    if (r == HEAPTAP_NOT_FOUND)
        return report_gone(e);
    if (r != 0) {
        message_error("%s", err.text);
        return exit_code(r);
    }
    message_warning(
        "%s: its profile %s is gone; stacks are those that the annotated blocks carry, of "
        "at most %s",
        e->memory.name, style_clean(&e->arena, e->record.path),
        style_plural(&e->arena, frames, "frame"));
    return 0;
}

/* Return true if M, which has no record, has blocks that a walk of the heap finds. */
static bool
may_walk(const struct memory *m)
{
    return !has_recorder(m) && m->missing_bytes == 0 && m->machine == EM_X86_64 &&
           m->word_bytes == 8;
}

static int
open_memory(const struct examine_request *w, struct examined *e)
{
    struct core_origin origin;
    struct err err = {""};
    int r = w->core != NULL ? elf_core_open(w->core, &e->memory, &err)
                            : live_memory_open(w->pid, &e->memory, &err);

    if (r == 0)
        r = record_find(&e->memory, &e->record, &err);
    if (r == HEAPTAP_NOT_FOUND && record_find_origin(&e->memory, &origin)) {
        e->record = record_of_child(&origin);
        e->inherited = (struct inherited){.forked = true, .silent = true, .parent = origin.pid};
        r = 0;
    }
    if (r == HEAPTAP_NOT_FOUND && (w->unrecorded || may_walk(&e->memory))) {
        e->unrecorded = true;
        if (w->program != NULL)
            check_program(&e->memory, w->program);
        return 0;
    }
    if (r == HEAPTAP_NOT_FOUND)
        return examine_report_unrecorded(&e->memory, &e->arena);
    if (r != 0) {
        message_error("%s", err.text);
        return exit_code(r);
    }
    if (e->memory.missing_bytes > 0)
        message_warning("%s is truncated: %s of memory are missing, with all blocks there",
                        e->memory.name, style_bytes(&e->arena, (int64_t)e->memory.missing_bytes));
    if (w->program != NULL)
        check_program(&e->memory, w->program);
    return 0;
}

/* Write FILE to an unnamed file. Return the descriptor, or -1 after printing an error. */
static int
examine_keep(const struct strbuf *file)
{
    int fd = memfd_create("heaptap", MFD_CLOEXEC);
    size_t done = 0;

    while (fd >= 0 && done < file->length) {
        ssize_t n = write(fd, file->text + done, file->length - done);

        if (n <= 0) {
            close(fd);
            fd = -1;
        } else {
            done += (size_t)n;
        }
    }
    if (fd < 0)
        message_error("no memory for a profile: %s", strerror(errno));
    return fd;
}

/* Write HELD, the profile that E's memory holds, to an unnamed file, and set *RET_FILE. If HELD is
 * empty, write a profile of E's live blocks instead. Unless ALL_COUNTERS, do the same for a process
 * with blocks inherited from its parent, because the counters lack these. Return 0, or an exit code
 * after printing an error. */
static int
make_file(struct examined *e, const struct strbuf *held, bool all_counters, int *ret_file)
{
    struct strbuf live = {0};
    struct err err = {""};
    int r = 0;

    e->live_only = held->length == 0 || (e->inherited.count > 0 && !all_counters);
    if (e->live_only)
        r = heap_snapshot_write(&e->raw, &e->blocks, e->memory.name, !e->memory.lives, &live, &err);
    if (r == 0)
        *ret_file = examine_keep(e->live_only ? &live : held);
    strbuf_release(&live);
    if (r != 0) {
        message_error("%s", err.text);
        return exit_code(r);
    }
    return *ret_file < 0 ? EXIT_BAD_INPUT : 0;
}

static uint64_t
examine_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Stop the threads of E's process as ANSWER requires, and return the time of the stop. The search
 * for corruptions needs no registers, so threads that a stop would harm continue, unless one of
 * them HAS_MOVED. */
static uint64_t
stop_threads(struct examined *e, const struct memory_answer *answer, bool has_moved)
{
    bool spare_sleeping =
        (answer->question == MEMORY_CHECK || answer->question == MEMORY_RESIDENT) && !has_moved;
    uint64_t since_ns;

    if (!spare_sleeping)
        live_memory_await(&e->memory);
    e->held = 0;
    since_ns = examine_now_ns();
    e->running = live_memory_stop(&e->memory, spare_sleeping ? LIVE_STOP_SPARING : LIVE_STOP_ALL);
    for (size_t i = 0; i < e->memory.thread_count; i++)
        e->held += e->memory.threads[i].register_count == 0 &&
                   e->memory.threads[i].asleep_in == NULL;
    return since_ns;
}

/* Return the reason why E's process, or a part of it, could not be stopped, and the remedy; "" if
 * unknown. */
static const char *
tracer_words(struct examined *e)
{
    const char *name;
    uint32_t tracer = live_memory_tracer(&e->memory, &name);

    if (tracer == 0)
        return "";
    return arena_printf(&e->arena, " while process %" PRIu32 " (%s) traces it; detach that first",
                        tracer, style_clean(&e->arena, name));
}

/* Warn about the threads of E that were not stopped, and about the consequence for QUESTION. */
static void
warn_of_threads(struct examined *e, enum memory_question question)
{
    const struct memory *m = &e->memory;
    bool none = m->thread_count == 0;

    if (none || e->running > 0)
        message_warning("%s%s could not be stopped%s: %s",
                        none ? "" : arena_printf(&e->arena, "%s of ",
                                                 style_plural(&e->arena, (int64_t)e->running,
                                                              "thread")),
                        m->name, tracer_words(e),
                        question == MEMORY_CHECK
                        ? "blocks that change meanwhile may look damaged"
                        : question == MEMORY_RESIDENT
                        ? "parts that change meanwhile may not fit together"
                        : none ? "pointers that move meanwhile may be missed, and so are those in "
                                 "registers"
                               : "pointers that move meanwhile may be missed");
    if (e->held > 0)
        message_warning(
            "the kernel holds %s of %s, in vfork or waiting for a disk: blocks that only "
            "%s registers point to seem lost",
            style_plural(&e->arena, (int64_t)e->held, "thread"), m->name,
            e->held == 1 ? "its" : "their");
}

/* Change the header of E's profile, which is its parent's, to the child's. */
static void
become_child(struct examined *e)
{
    struct disk_header *h = &e->raw.header;

    h->parent_pid = h->pid;
    h->pid = e->memory.pid;
    h->process_flags |= DISK_PROCESS_FORKED;
}

/* Determine E's excluded memory. Warn about it if QUESTION is about pointers. */
static void
warn_of_excluded(struct examined *e, enum memory_question question)
{
    e->excluded_bytes = excluded_count(e);
    if (e->excluded_bytes > 0 && (question == MEMORY_LEAKS || question == MEMORY_POINTERS ||
                                  question == MEMORY_RETAIN))
        message_warning("%s lacks %s of writable memory, which the program excluded from dumps "
                        "(MADV_DONTDUMP) or never used: pointers there are unknown; "
                        "`heaptap core --pid` reads that memory of a running process",
                        e->memory.name, style_bytes(&e->arena, (int64_t)e->excluded_bytes));
}

/* Warn if a library of E, which is unrecorded, has another allocator. Return true if one has. */
static bool
warn_of_allocator(const struct examined *e)
{
    static const char *const names[] = {"libjemalloc", "libtcmalloc", "libmimalloc",
                                        "libtbbmalloc"};

    for (size_t i = 0; i < e->memory.mapping_count; i++)
        for (size_t k = 0; k < countof(names); k++) {
            const char *name = path_basename(e->memory.mappings[i].path);

            if (strncmp(name, names[k], strlen(names[k])) == 0) {
                message_warning("%s uses %s, whose blocks are known only if it is recorded",
                                e->memory.name, name);
                return true;
            }
        }
    return false;
}

/* Fill in ANSWER for E, which is unrecorded. Return 0, or an exit code after printing an error. */
static int
read_unrecorded(struct examined *e, struct memory_answer *answer)
{
    struct err err = {""};
    bool whole = true;

    int r = answer->question != MEMORY_RESIDENT ? walked_blocks_read(e, &whole, &err) : 0;

    if (r == HEAPTAP_NOT_FOUND) {
        message_error("%s has no heap of glibc's malloc, so its blocks are not known",
                      e->memory.name);
        return examine_report_unrecorded(&e->memory, &e->arena);
    }
    if (r != 0) {
        message_error("%s", err.text);
        return exit_code(r);
    }
    if (!e->memory.lives && is_static(&e->memory))
        message_hint("the program is statically linked: link it with libheaptap_static.a to "
                     "record it");
    if (!whole)
        message_warning("a heap of %s could not be walked to its end, so some blocks are missing",
                        e->memory.name);
    e->part_walked = !whole;
    if (answer->question != MEMORY_RESIDENT && warn_of_allocator(e))
        e->part_walked = true;
    warn_of_excluded(e, answer->question);
    memory_view_search(e, &e->arena, answer);
    return 0;
}

/* Read the blocks and the profile of E, and fill in ANSWER. A profile in E's memory is copied to
 * FILE; one in a file may have been READ. ONE_MOMENT means that all data is of one moment, although
 * the process lives. Return 0, or an exit code after printing an error. */
static int
read_blocks(struct examined *e, struct memory_answer *answer, struct profile_bytes read,
            struct strbuf *file, bool one_moment)
{
    bool consistent;
    int r;

    e->read_ns = examine_now_ns();
    if (e->unrecorded)
        return read_unrecorded(e, answer);
    blocks_read(&e->memory, &e->record, &e->arena, &e->blocks);
    // A running process creates sites meanwhile. Therefore sites are read after blocks, so that
    // each block's site is known.
    if (e->memory.lives && !one_moment && e->profile == NULL)
        live_memory_renew(&e->memory);
    r = e->profile != NULL  ? read_profile(e, read, &e->raw)
        : e->stacks_carried ? read_carried(e)
                            : read_memory_profile(e, file, &e->raw);
    if (r != 0)
        return r;
    if (e->inherited.silent)
        become_child(e);
    inherited_read(e);
    warn_of_excluded(e, answer->question);
    consistent = e->memory.lives ? one_moment
                                 : e->profile == NULL || memory_has_died(&e->memory);
    block_sizes_infer(&e->memory, &e->raw, consistent, &e->blocks);
    memory_view_search(e, &e->arena, answer);
    return 0;
}

/* A search in a process that is stopped for it. */
struct stopped_search {
    const struct examine_request *request;
    struct snapshot snapshot;
    struct err refusal;  // Reason why there is no snapshot; "" = there is one.
    bool is_unbounded;   // The stop may take any time.
    unsigned wiped;      // Number of snapshots with zeros instead of memory.
    struct profile_bytes profile;
};

/* Return the resident memory of E's process in bytes. */
static uint64_t
resident_of(const struct examined *e)
{
    uint64_t pages = 0;
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/statm", e->memory.thread);
    f = fopen(path, "re");
    if (f != NULL) {
        if (fscanf(f, "%*u %" SCNu64, &pages) != 1)
            pages = 0;
        fclose(f);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Return 0 if the process may be stopped as long as the search S needs, else an exit code after
 * printing an error. */
static int
may_stop(struct examined *e, const struct stopped_search *s)
{
    bool copied = s->refusal.text[0] == '\0';
    uint64_t expected_ns = copied ? snapshot_stop_ns(&s->snapshot)
                                  : resident_of(e) / SEARCH_BYTES_PER_MS * 1000000;

    if (expected_ns <= STOP_NS_MAX || s->is_unbounded || s->request->force ||
        (!copied && s->request->no_fork))
        return 0;
    if (copied)
        message_error("%s would be stopped for about %s; --force permits that", e->memory.name,
                      style_duration(&e->arena, expected_ns));
    else
        message_error("%s would be stopped for about %s, because its memory cannot be copied: "
                      "%s; --no-fork permits that",
                      e->memory.name, style_duration(&e->arena, expected_ns), s->refusal.text);
    return EXIT_BAD_INPUT;
}

/* Prepare the search S for QUESTION. */
static int
prepare_search(struct examined *e, enum memory_question question, struct stopped_search *s)
{
    if (question == MEMORY_RESIDENT) {
        s->is_unbounded = true;
        err_set(&s->refusal, HEAPTAP_OK, "a copy has other pages");
    } else if (s->request->no_fork) {
        err_set(&s->refusal, HEAPTAP_OK, "--no-fork");
    } else {
        snapshot_prepare(&e->memory, &s->snapshot, &s->refusal);
    }
    return may_stop(e, s);
}

/* Resume the threads of E's process, which were stopped at SINCE_NS. */
static void
resume_threads(struct examined *e, uint64_t since_ns)
{
    live_memory_go_on(&e->memory);
    e->stopped_ns += examine_now_ns() - since_ns;
}

/* Copy the memory of E's process, which was stopped at *SINCE_NS, and is stopped later again if
 * necessary. Return true if it can be resumed now. */
static bool
take_snapshot(struct examined *e, const struct memory_answer *answer, bool has_moved,
              struct stopped_search *s, uint64_t *since_ns)
{
    static const struct timespec while_ = {.tv_nsec = BORROW_WAIT_NS};
    int r = HEAPTAP_NOT_FOUND;

    if (s->refusal.text[0] != '\0' || e->memory.thread_count == 0)
        return false;
    for (int i = 0;; i++) {
        // To read all about the ranges takes as long as the rest of the stop.
        if (!live_memory_has_ranges(&e->memory))
            live_memory_renew(&e->memory);
        r = snapshot_take(&e->memory, &s->snapshot, &s->refusal);
        if (r == 0)
            break;
        if (r != HEAPTAP_NOT_FOUND || i == BORROW_ATTEMPTS)
            return false;
        s->refusal = (struct err){""};
        resume_threads(e, *since_ns);
        nanosleep(&while_, NULL);
        *since_ns = stop_threads(e, answer, has_moved);
    }
    if (e->profile != NULL &&
        origin_read(e->profile, &e->arena, &s->profile.data, &s->profile.size_bytes, NULL) != 0)
        s->profile.data = NULL;
    return true;
}

static void
release_snapshot(struct examined *e, struct stopped_search *s)
{
    if (!snapshot_release(&e->memory, &s->snapshot))
        message_warning("the copy of %s remains as a zombie until the process ends",
                        e->memory.name);
}

/* Like read_blocks, but stop the process, so that all data is of one moment: during the search, or,
 * with a snapshot, while its memory is copied. */
static int
read_stopped(const struct examine_request *request, struct examined *e,
             struct memory_answer *answer, struct strbuf *file)
{
    const struct inherited inherited = e->inherited;
    const struct memory_answer asked = *answer;
    struct stopped_search s = {.request = request};
    bool moved = false, copied = false;
    int lock = live_memory_lock(&e->memory), r = prepare_search(e, answer->question, &s);

    while (r == 0) {
        uint64_t since_ns;

        live_memory_renew(&e->memory);
        since_ns = stop_threads(e, answer, moved);
        copied = take_snapshot(e, answer, moved, &s, &since_ns);
        if (copied) {
            moved = live_memory_moved(&e->memory);
            resume_threads(e, since_ns);
            if (!live_memory_note_copied(&e->memory)) {
                moved = true;
                if (++s.wiped == SNAPSHOTS_MAX)
                    err_set(&s.refusal, HEAPTAP_OK, "it keeps more and more memory from children");
            }
        } else {
            r = may_stop(e, &s);
            live_memory_renew(&e->memory);
        }
        if (r == 0 && (!copied || !moved))
            r = read_blocks(e, answer, s.profile, file, true);
        if (copied) {
            release_snapshot(e, &s);
        } else {
            moved = r == 0 && live_memory_moved(&e->memory);
            resume_threads(e, since_ns);
        }
        if (!moved)
            break;
        e->inherited = inherited;
        e->raw = (struct raw_file){0};
        *answer = asked;
        strbuf_release(file);
    }
    if (lock >= 0)
        close(lock);
    e->copied = copied;
    if (!copied && !s.is_unbounded && !request->no_fork && s.refusal.text[0] != '\0')
        e->refusal = arena_strdup(&e->arena, s.refusal.text);
    if (r == 0)
        warn_of_threads(e, answer->question);
    return r;
}

int
examine_open(const struct examine_request *w, struct memory_answer *answer, struct examined *ret,
             int *ret_file)
{
    struct strbuf file = {0};
    bool held, stop;
    int r;

    *ret = (struct examined){0};
    r = open_memory(w, ret);
    held = r == 0 && ret->record.flags & CORE_SELF_CONTAINED && w->profile == NULL;
    // The walk of a heap that changes would lose its way.
    stop = w->core == NULL && (answer->question == MEMORY_LEAKS ||
                               answer->question == MEMORY_POINTERS ||
                               answer->question == MEMORY_CHECK ||
                               answer->question == MEMORY_RESIDENT ||
                               answer->question == MEMORY_RETAIN || ret->unrecorded);
    *ret_file = -1;
    if (r == 0 && !held && !ret->unrecorded)
        r = find_profile(w, ret);
    if (r == 0)
        r = stop ? read_stopped(w, ret, answer, &file)
                 : read_blocks(ret, answer, (struct profile_bytes){0}, &file, false);
    if (r == 0 && !(ret->unrecorded && answer->question == MEMORY_RESIDENT))
        r = make_file(ret, &file, w->all_counters, ret_file);
    strbuf_release(&file);
    if (r != 0)
        examine_close(ret);
    return r;
}

void
examine_close(struct examined *e)
{
    memory_close(&e->memory);
    arena_release(&e->arena);
    *e = (struct examined){0};
}
