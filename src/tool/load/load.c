/* load.c: build the model from the file's tables.
 *
 * The recorder keeps data separate for speed; loading joins it, in this order: the call tree and
 * its sites (load_tree.c) with heaps and labels (load_heaps.c), the counters of all threads
 * (load_counters.c), recording modes and errors (load_sampling.c), the history (load_history.c).
 * The remaining parts are independent: timeline, frees of unknown blocks, the header.
 *
 * Everything is computed from one copy of the rows, or from the file if no process writes it.
 * Therefore totals equal the sum of the shown values, even while the process runs. A copy may
 * contain a half-applied event; a value is then off by one event.
 *
 * Records are untrusted: ids are checked before use, invalid records are skipped and counted, and
 * one note per kind reports the number. */
#include "load/load.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "load/loader.h"
#include "profile/listing.h"
#include "profile/origin.h"
#include "profile/processes.h"
#include "profile/profile_valid.h"
#include "util/amount.h"
#include "util/ensure.h"
#include "util/strbuf.h"

enum { RUN_NOTES_MAX = 4096, SIGNAL_MAX = 64 };

#define ENDED_NS_MAX ((uint64_t)1 << 61)
#define EARLIER_MAX  ((uint64_t)1 << 48) // Blocks or bytes: address space is not larger.

static int
load_by_time(const void *a, const void *b)
{
    const struct profile_time_point *x = a, *y = b;

    return x->elapsed_ns < y->elapsed_ns ? -1 : x->elapsed_ns > y->elapsed_ns;
}

static void
load_timeline(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_TIMELINE);
    size_t kept = 0;

    p->timeline = arena_array(&p->arena, count, sizeof *p->timeline);
    for (size_t i = 0; i < count; i++) {
        const struct disk_time_point *d = raw_record(l->raw, DISK_TIMELINE, i);

        if (d->elapsed_ns != 0)
            p->timeline[kept++] =
                (struct profile_time_point){d->elapsed_ns, d->live_bytes, d->events};
    }
    if (kept > 1)
        qsort(p->timeline, kept, sizeof *p->timeline, load_by_time);
    for (size_t i = 0; i < kept; i++)
        if (p->time_point_count == 0 ||
            p->timeline[p->time_point_count - 1].elapsed_ns != p->timeline[i].elapsed_ns)
            p->timeline[p->time_point_count++] = p->timeline[i];
}

static int
by_count(const void *a, const void *b)
{
    const struct profile_unknown_free *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static void
load_unknown_frees(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_UNKNOWN_FREES);

    p->unknown_frees = arena_array(&p->arena, count, sizeof *p->unknown_frees);
    for (size_t i = 1; i < count; i++) {
        const struct disk_unknown_free *d = raw_record(l->raw, DISK_UNKNOWN_FREES, i);
        bool known = d->node < l->disk_node_count && l->node_of[d->node] != 0;

        if (d->count == 0 || d->kind < FREE_FOREIGN || d->kind > FREE_INHERITED)
            continue;
        p->unknown_frees[p->unknown_free_count++] = (struct profile_unknown_free){
            .kind = d->kind,
            .node = known ? l->node_of[d->node] - 1 : 1,
            .site_node = loader_node_at(l, d->site),
            .count = d->count,
            .address = d->address,
        };
    }
    if (p->unknown_free_count > 1)
        qsort(p->unknown_frees, p->unknown_free_count, sizeof *p->unknown_frees, by_count);
}

static void
load_corruptions(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_CORRUPTIONS);

    p->corruptions = arena_array(&p->arena, count, sizeof *p->corruptions);
    for (size_t i = 0; i < count; i++) {
        const struct disk_corruption *d = raw_record(l->raw, DISK_CORRUPTIONS, i);
        bool known = d->node < l->disk_node_count && l->node_of[d->node] != 0;
        struct profile_corruption *to = &p->corruptions[p->corruption_count];

        if (d->kind < CORRUPTED_PAST_END || d->kind > CORRUPTED_OVERWRITTEN ||
            d->found < CORRUPTION_BY_FREE || d->found > CORRUPTION_BY_CHECK)
            continue;
        *to = (struct profile_corruption){
            .kind = d->kind,
            .found = d->found,
            .node = known && d->node != 0 ? l->node_of[d->node] - 1 : 0,
            .site_node = loader_node_at(l, d->site),
            .front_node = loader_node_at(l, d->front_site),
            .written_bytes = d->written_bytes < PROFILE_CORRUPTION_BYTES ? d->written_bytes
                                                                         : PROFILE_CORRUPTION_BYTES,
            .address = d->address,
            .size_bytes = d->size_bytes,
            .front_address = d->front_address,
            .front_size_bytes = d->front_size_bytes,
            .at = d->at,
            .found_ns = d->found_ns,
            .whole_ns = d->whole_ns,
        };
        static_assert(sizeof to->written == sizeof d->written, "one copy");
        memcpy(to->written, d->written, sizeof to->written);
        p->corruption_count++;
    }
    profile_sort_corruptions(p);
}

/* Return the arguments, which the file separates by NUL, joined by blanks. An empty argument is
 * shown as ''. */
static const char *
command_line(struct loader *l)
{
    struct disk_string s = l->raw->header.command;
    const struct raw_table *t = &l->raw->tables[DISK_STRINGS];
    struct strbuf text = {0};
    const char *arguments, *line;

    if (s.bytes == 0 || s.off > t->size_bytes || s.bytes > t->size_bytes - s.off)
        return "";
    arguments = (const char *)t->bytes + s.off;
    for (size_t i = 0; i < s.bytes;) {
        size_t length = strnlen(arguments + i, s.bytes - i);

        if (i > 0)
            strbuf_char(&text, ' ');
        if (length == 0)
            strbuf_str(&text, "''");
        strbuf_add(&text, arguments + i, length);
        i += length + 1;
    }
    line = arena_strdup(&l->p->arena, strbuf_text(&text));
    strbuf_release(&text);
    return line;
}

/* Convert SPENT cycles to nanoseconds, given that CYCLES took CLOCK_NS. Return 0 if that implies an
 * impossible frequency, because the run was shorter than a tick of the clock or the file is
 * damaged. */
static uint64_t
cycles_to_ns(uint64_t spent, uint64_t cycles, uint64_t clock_ns)
{
    double ns;

    if (cycles == 0 || clock_ns < 1000000 || clock_ns > UINT64_C(1) << 60)
        return 0;
    ns = (double)spent * ((double)clock_ns / (double)cycles);
    return ns < 1e18 ? (uint64_t)ns : 0;
}

/* Return the time since the recording of the living process of H began. The file's clock would only
 * give the time of the last tick. */
static uint64_t
elapsed_now(const struct disk_header *h)
{
    struct timespec now = {0};
    uint64_t ns;

    clock_gettime(CLOCK_MONOTONIC, &now);
    ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - h->start_monotonic_ns;
    return (int64_t)ns > (int64_t)h->shared.last_ns ? ns : h->shared.last_ns;
}

/* Set the recorded time of the process of H, which has ended. */
static void
set_elapsed(struct profile_process *ret, const struct disk_header *h)
{
    bool is_packed = h->state == DISK_STATE_PACKED;

    ret->elapsed_is_least = is_packed ? (h->process_flags & DISK_PROCESS_LASTED) != 0
                                      : h->state != DISK_STATE_ENDED;
    if (ret->elapsed_is_least && h->ended_ns > h->shared.last_ns && h->ended_ns <= ENDED_NS_MAX) {
        ret->elapsed_ns = h->ended_ns;
        ret->elapsed_is_least = false;
    }
}

/* Set the end of the process of H, if it is valid. */
static void
set_end(struct profile_process *ret, const struct disk_header *h)
{
    static_assert((int)END_UNKNOWN == DISK_END_UNKNOWN && (int)END_EXITED == DISK_END_EXITED &&
                      (int)END_KILLED == DISK_END_KILLED &&
                      (int)END_NO_MEMORY == DISK_END_NO_MEMORY,
                  "values of the file");
    bool is_exit = h->end_kind == DISK_END_EXITED;

    if (h->end_kind > DISK_END_NO_MEMORY || h->end_value > (is_exit ? UINT8_MAX : SIGNAL_MAX))
        return;
    ret->end_kind = (enum profile_end)h->end_kind;
    ret->end_value = h->end_value;
}

/* Load the inputs of a merged profile. */
static void
load_programs(struct loader *l)
{
    const struct disk_header *h = &l->raw->header;
    struct profile *p = l->p;
    size_t count = h->merged_processes ? raw_count(l->raw, DISK_PROGRAMS) : 0;

    p->merged_processes = h->merged_processes;
    p->merged_damaged = h->merged_damaged;
    p->merged_left_out = h->merged_left_out;
    p->programs = arena_array(&p->arena, count, sizeof *p->programs);
    for (size_t i = 0; i < count; i++) {
        const struct disk_program *d = raw_record(l->raw, DISK_PROGRAMS, i);

        p->programs[p->program_count++] = (struct profile_program){
            .executable = strtab_get(&p->strings, loader_string(l, d->executable)),
            .processes = d->processes,
        };
    }
}

/* Load the notes of tools. */
static void
load_notes(struct loader *l)
{
    struct profile *p = l->p;
    size_t count = raw_count(l->raw, DISK_NOTES);

    if (count > RUN_NOTES_MAX) {
        raw_damage(l->raw, "%zu notes are more than a tool writes; the rest was skipped", count);
        count = RUN_NOTES_MAX;
    }
    p->run_notes = arena_array(&p->arena, count, sizeof *p->run_notes);
    for (size_t i = 0; i < count; i++) {
        const struct disk_note *d = raw_record(l->raw, DISK_NOTES, i);

        if (d->kind != 0)
            p->run_notes[p->run_note_count++] = (struct profile_note){
                .kind = d->kind,
                .processes = d->processes,
                .text = strtab_get(&p->strings, loader_string(l, d->text)),
                .advice = strtab_get(&p->strings, loader_string(l, d->advice)),
                .process = strtab_get(&p->strings, loader_string(l, d->process)),
                .anonymous_bytes = d->anonymous_bytes,
                .recorded_bytes = d->recorded_bytes,
            };
    }
}

/* Store the blocks from before an attach, unless the numbers are impossible. */
static void
set_earlier(struct profile_process *ret, const struct disk_header *h)
{
    if (!ret->attached || h->earlier_blocks > EARLIER_MAX || h->earlier_bytes > EARLIER_MAX)
        return;
    ret->earlier_blocks = h->earlier_blocks;
    ret->earlier_bytes = h->earlier_bytes;
}

static void
load_header(struct loader *l)
{
    const struct disk_header *h = &l->raw->header;
    struct owner owner = {OWNER_GONE, 0, 0};
    struct profile *p = l->p;
    uint64_t clock_ns = h->last_cycles_ns - h->start_monotonic_ns;
    uint64_t cycles = h->last_cycles - h->start_cycles;

    if (l->raw->writer_pid != 0)
        owner = (struct owner){OWNER_ALIVE, l->raw->writer_pid, 0};
    else if (h->state != DISK_STATE_PACKED && l->raw->mapped == NULL)
        owner = owner_find(l->path, h);
    p->process = (struct profile_process){
        .pid = h->pid,
        .parent_pid = h->parent_pid,
        .command = command_line(l),
        .executable = raw_string(l->raw, h->executable),
        .kernel = raw_string(l->raw, h->kernel),
        .heaptap = raw_string(l->raw, h->heaptap),
        .machine = raw_machine_name(h->machine),
        .start_unix_ns = h->start_unix_ns,
        .elapsed_ns = h->shared.last_ns,
        .cpu_count = h->cpu_count,
        .page_bytes = h->page_bytes,
        .ended = h->state == DISK_STATE_PACKED ? (h->process_flags & DISK_PROCESS_GONE) != 0
                                               : owner.state != OWNER_ALIVE,
        .unsure = owner.state == OWNER_UNKNOWN && h->state == DISK_STATE_RECORDING,
        .pid_here = owner.pid != h->pid ? owner.pid : 0,
        .forked = h->process_flags & DISK_PROCESS_FORKED,
        .attached = h->process_flags & DISK_PROCESS_ATTACHED,
        .in_run = h->session_id != 0,
    };
    set_earlier(&p->process, h);
    if (p->process.ended)
        set_elapsed(&p->process, h);
    else if (h->state != DISK_STATE_PACKED)
        p->process.elapsed_ns = elapsed_now(h);
    set_end(&p->process, h);
    if (owner.state == OWNER_ALIVE && owner.pid != 0)
        p->sysroot = processes_root(owner.pid, &p->arena);
    p->sample_period_bytes = h->sample_period_bytes;
    p->peak_elapsed_ns = h->shared.peak_ns;
    p->losses.no_thread_events = h->losses.no_thread_events;
    p->losses.early_events = h->early_events;
    p->losses.no_memory_events += h->losses.no_memory_events;
    p->losses.frames_without_module = h->losses.frames_without_module;
    p->losses.history_records = h->losses.history_records;
    p->losses.damaged_blocks = h->damaged_blocks;
    p->losses.reentrant_events += h->losses.reentrant_events;
    p->losses.heap_events = h->losses.heap_events;
    p->losses.unseen_allocators = h->losses.unseen_allocators;
    p->losses.label_sets = h->losses.label_sets;
    p->losses.events = p->losses.reentrant_events + p->losses.no_memory_events +
                       p->losses.no_thread_events + p->losses.early_events +
                       p->losses.heap_events;
    p->losses.runtime_left_out = h->process_flags & DISK_PROCESS_FOLDED;
    p->losses.file_failed = h->process_flags & DISK_PROCESS_FILE_FAILED;
    p->losses.reserved = h->process_flags & DISK_PROCESS_RESERVED;
    p->may_lag = h->process_flags & DISK_PROCESS_IN_MEMORY;
    p->annotated = h->process_flags & DISK_PROCESS_ANNOTATED;
    p->recorder.file_bytes = l->raw->file_bytes;
    p->recorder.limit_bytes = h->limit_bytes;
    p->recorder.memory_bytes = h->recorder_bytes + l->raw->file_bytes;
    p->recorder.timed_ns = cycles_to_ns(p->recorder.timed_ns, cycles, clock_ns);
    p->recorder.overhead_limit = h->overhead_limit;
    p->recorder.overhead_ns = h->overhead_ns;
    p->recorder.overhead_program_ns = h->overhead_program_ns;
    if (p->recorder.timed_ns == 0)
        p->recorder.events_timed = 0;
}

/* Note references to records that the tables lack. In the copy of a file that is being written they
 * are not damage: the record's table may have been copied before the record was added, and the
 * reference afterwards. */
static void
note_loose_ends(struct loader *l)
{
    const struct {
        size_t count;
        const char *noun, *text;
    } ends[] = {
        {l->bad_nodes, "call tree node", "without a valid parent, skipped"},
        {l->bad_tags, "misplaced tag", "of heaps and labels, skipped"},
        {l->unknown_tags, "tag", "of heaps or labels that the file has not, shown as unknown"},
        {l->bad_sites, "site", "without a valid node, skipped"},
        {l->orphaned, "row", "of counters without a known site, shown as \"other\""},
        {l->threadless, "row", "of counters without a known thread, left out"},
    };

    for (size_t i = 0; i < countof(ends) && l->p->process.ended; i++)
        if (ends[i].count > 0)
            loader_note_of_loose(l)(l->raw, "it has %s %s",
                                    amount_plural(&l->p->arena, (int64_t)ends[i].count,
                                                  ends[i].noun),
                                    ends[i].text);
}

/* Return the model of the profile in RAW, called NAME. Invalid records are left out with a note.
 * Return NULL if the stacks are larger than in any real profile. */
static struct profile *
load_model(struct raw_file *raw, const char *name, const char *path)
{
    struct loader l = {.raw = raw, .p = xmalloc(sizeof *l.p), .path = path};
    struct profile *p = l.p;
    bool fit;

    *p = (struct profile){.totals = COUNTERS_ZERO};
    p->path = arena_strdup(&p->arena, name);
    p->frames_kept = raw->header.depth_max < DISK_DEPTH_MAX ? raw->header.depth_max : 0;
    load_modules(&l);
    load_heaps(&l);
    load_label_sets(&l);
    load_nodes(&l);
    load_sites(&l);
    load_threads(&l);
    l.orphaned = load_blocks(&l);
    l.orphaned += load_errors(&l);
    l.orphaned += load_accesses(&l);
    loader_raise_peak(p);
    ENSURE(counters_live_bytes(&p->totals) <= p->totals.peak_bytes);
    profile_sum_heaps(p);
    load_bins(&l);
    load_timeline(&l);
    load_modes(&l);
    loader_decide_lifetimes(&l);
    load_units(&l);
    load_unknown_frees(&l);
    load_corruptions(&l);
    loader_count_uncertain(p);
    load_header(&l);
    note_loose_ends(&l);
    load_programs(&l);
    load_notes(&l);
    loader_bound_peak(&l);
    load_history(&l);
    load_peak(p);
    profile_mark_programs(p);
    load_symbols(&l);
    load_types(&l);
    fit = loader_fit(&l);
    arena_release(&l.scratch);
    map_release(&l.known_strings);
    map_release(&l.known_nodes);
    map_release(&l.known_sites);
    map_release(&l.known_backings);
    map_release(&l.known_locations);
    map_release(&l.known_thread_sites);
    if (fit)
        return p;
    profile_free(p);
    return NULL;
}

/* Load the tables RAW of the file PATH, or of bytes called NAME, into *RET_PROFILE. */
static int
load(struct raw_file *raw, const char *name, const char *path, struct profile **ret_profile,
     struct err *err)
{
    struct profile *p = load_model(raw, name, path);

    if (p == NULL)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s is damaged or forged: it has more stacks than a file of that size can "
                       "hold",
                       name);
    // Strings that the model shares with the tables must outlive the tables.
    p->process.executable = arena_strdup(&p->arena, p->process.executable);
    p->process.kernel = arena_strdup(&p->arena, p->process.kernel);
    p->process.heaptap = arena_strdup(&p->arena, p->process.heaptap);
    p->notes = arena_array(&p->arena, raw->note_count, sizeof *p->notes);
    for (size_t i = 0; i < raw->note_count; i++)
        p->notes[i] = arena_strdup(&p->arena, raw->notes[i]);
    p->note_count = raw->note_count;
    p->damage = raw_damage_text(raw, &p->arena);
    if (p->damage == NULL)
        p->damage = profile_parts_damage(&p->arena, p->merged_damaged, p->merged_left_out);
    if (p->damage == NULL && (raw->header.process_flags & DISK_PROCESS_DAMAGED))
        p->damage = "was packed from a damaged file";
    ENSURE_VALID(profile_is_valid(p));
    ENSURE_VALID(loaded_is_valid(p));
    *ret_profile = p;
    return 0;
}

int
load_from_memory(const void *data, size_t size_bytes, const char *name, uint32_t pid,
                 struct profile **ret_profile, struct err *err)
{
    struct arena tables = {0};
    struct raw_file raw;
    int r = raw_parse(data, size_bytes, name, &tables, &raw, err);

    raw.writer_pid = pid;
    if (r == 0)
        r = load(&raw, name, NULL, ret_profile, err);
    arena_release(&tables);
    return r;
}

int
load_bytes(const void *data, size_t size_bytes, const char *name, struct profile **ret_profile,
           struct err *err)
{
    return load_from_memory(data, size_bytes, name, 0, ret_profile, err);
}

int
profile_open_tables(const char *what, struct arena *arena, struct raw_file *ret_raw,
                    struct profile **ret_profile, struct err *err)
{
    struct arena scratch = {0};
    const char *path = what;
    struct origin_file file;
    const char **paths;
    size_t count;
    uint32_t pid;
    int r;

    *ret_raw = (struct raw_file){0};
    if (origin_is_pid(what, &pid)) {
        r = origin_of_pid(pid, &scratch, &path, err);
    } else {
        r = profile_list_session(what, &scratch, &paths, &count, err);
        if (r == 0 && count > 1)
            r = err_set(err, HEAPTAP_BAD_INPUT, "%s has %zu profiles in it; name one", what,
                        count);
        else if (r == 0)
            path = paths[0];
    }
    if (r == 0 && (r = origin_open(path, &file, err)) == 0) {
        r = raw_parse_file(file.data, file.size_bytes, file.fd, &file.used, path, arena, ret_raw,
                           err);
        ret_raw->owner = file.owner;
        if (file.fd >= 0)
            file.data = NULL; // The tables lie in this mapping.
        origin_close(&file);
        if (r == 0)
            r = load(ret_raw, path, path, ret_profile, err);
    }
    arena_release(&scratch);
    return r;
}

int
profile_open(const char *what, struct profile **ret_profile, struct err *err)
{
    struct arena tables = {0};
    struct raw_file raw;
    int r = profile_open_tables(what, &tables, &raw, ret_profile, err);

    raw_release(&raw);
    arena_release(&tables);
    return r;
}
