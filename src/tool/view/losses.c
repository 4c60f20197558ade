/* losses.c: events that the recorder lost or recorded only in part, with their meaning.
 *
 * The first rows are lost events, each row with one cause. If only the sum is shown (in the summary
 * of a run or a session), the causes follow it, because a bare number does not show whether the
 * profile is reliable. A row names its remedy, if there is one. */
#include "view/table.h"

#include <string.h>

#include "analyse/totals.h"
#include "view/style.h"

// clang-format off
#define FIELD(name, one, many) {#name, offsetof(struct profile_losses, name), one, many, NULL, 0}
#define CAUSE(name, text, remedy) \
    {#name, offsetof(struct profile_losses, name), text, text, remedy, 0}
#define STACKS(name, bytes, text, remedy) \
    {#name, offsetof(struct profile_losses, name), "allocation " text, "allocations " text, \
     remedy, offsetof(struct profile_losses, bytes)}
// clang-format on

static const char room[] = "a larger --max-memory, --reserve or ulimit -v gives it more room";

/* Replaces the remedy of a lack of memory if the user limited it by --reserve. */
static const char room_of_reserve[] = "the memory of --reserve was used up, so reserve more";

/* Follows the files that have code without unwind tables. */
static const char without_table[] = "compile it with -fasynchronous-unwind-tables, or add .cfi "
                                    "directives to assembly";

const struct loss_field loss_fields[] = {
    FIELD(events, "event lost", "events lost"),
    CAUSE(reentrant_events, "lost in signal handlers that interrupted the recorder", NULL),
    CAUSE(no_memory_events, "lost because the recorder got no memory, or none within --max-memory",
          "raise the limits on memory (ulimit -v, --max-memory) and see that the disk has room"),
    CAUSE(no_thread_events, "lost in threads that it had no memory to follow, or too many at once",
          "raise the limits on memory (ulimit -v, --max-memory), or run fewer threads at once"),
    CAUSE(early_events, "lost in other threads while it was starting",
          "with --reserve 64M recording starts before main, and so before there are threads"),
    CAUSE(heap_events, "lost of heaps of the program's own: too many, or destroyed before",
          "see heaptap.h on the life of heaps"),
    FIELD(unseen_allocators, "C library whose own malloc could not be recorded",
          "C libraries whose own malloc could not be recorded"),
    FIELD(ledger_events, "block whose free could not be followed",
          "blocks whose free could not be followed"),
    STACKS(other_site_events, other_site_bytes,
           "charged to \"other\": the call tree had no room", NULL),
    STACKS(shortened_stacks, shortened_bytes,
           "with innermost frames only: the call tree was full", room),
    FIELD(label_sets, "set of labels that found no room: charged to \"other labels\"",
          "sets of labels that found no room: charged to \"other labels\""),
    STACKS(truncated_stacks, truncated_bytes, "with a stack deeper than the recorder follows",
           NULL),
    FIELD(guessed_frames, "allocation with a guessed frame (no unwind information)",
          "allocations with a guessed frame (no unwind information)"),
    FIELD(frames_without_module, "code address without a name: too many libraries",
          "code addresses without a name: too many libraries"),
    STACKS(unwind_failures, broken_bytes, "whose stack broke off", NULL),
    CAUSE(ends_without_table, "of them at a frame without unwind tables", without_table),
    FIELD(unknown_frees, "free of a block that was not live (foreign, older or freed twice)",
          "frees of blocks that were not live (foreign, older or freed twice)"),
    FIELD(double_frees, "of them freed twice", "of them freed twice"),
    FIELD(unrecorded_frees, "free of a block from when not all was recorded",
          "frees of blocks from when not all was recorded"),
    FIELD(inherited_frees, "free of a block from before the fork",
          "frees of blocks from before the fork"),
    FIELD(overwritten_blocks, "block whose free was not seen", "blocks whose free was not seen"),
    FIELD(lost_sizes, "free of a block whose size was overwritten: its bytes are a guess",
          "frees of blocks whose sizes were overwritten: their bytes are guesses"),
    FIELD(failed_calls, "call that returned no block", "calls that returned no block"),
    FIELD(damaged_blocks, "block that was written out of: see damaged blocks",
          "blocks that were written out of: see damaged blocks"),
    FIELD(history_records, "value at a snapshot, or snapshot, that found no room",
          "values at a snapshot, or snapshots, that found no room"),
};
const size_t loss_field_count = countof(loss_fields);
const size_t loss_cause_end = 6;
const size_t loss_stack_field_count = 16;

const char loss_of_file[] =
    "its file could not grow, so not all is counted; no number is exact";
const char loss_of_file_remedy[] =
    "the disk had no room, or the program had dropped its privileges; with --reserve 64M the file "
    "never has to grow";

uint64_t
loss_value(const struct profile_losses *losses, const struct loss_field *field)
{
    uint64_t value;

    memcpy(&value, (const char *)losses + field->offset, sizeof value);
    return value;
}

const char *
loss_meaning(const struct loss_field *field, uint64_t value)
{
    return value == 1 ? field->meaning_of_one : field->meaning;
}

const char *
loss_share(struct arena *arena, const struct profile *p, const struct loss_field *field)
{
    uint64_t bytes;

    if (field->bytes_offset == 0)
        return NULL;
    memcpy(&bytes, (const char *)&p->losses + field->bytes_offset, sizeof bytes);
    return arena_printf(
        arena, "%s of the calls, and %s or %s of the bytes: inclusive values are lower bounds",
        style_percent(arena, (int64_t)loss_value(&p->losses, field), p->totals.allocations),
        style_bytes(arena, (int64_t)bytes),
        style_percent(arena, (int64_t)bytes, p->totals.allocated_bytes));
}

/* Return the remedy of FIELD in LOSSES; NULL if there is none. */
static const char *
remedy_of(const struct profile_losses *losses, const struct loss_field *field)
{
    bool lacks_memory =
        field->offset == offsetof(struct profile_losses, no_memory_events) ||
        field->offset == offsetof(struct profile_losses, no_thread_events);

    return losses->reserved && (lacks_memory || field->remedy == room) ? room_of_reserve
                                                                       : field->remedy;
}

/* Return the files of P whose code ends stacks, and the remedy. */
static const char *
remedy_of_table(struct arena *arena, const struct profile *p)
{
    enum { SHOWN = 3 };
    struct tableless_files files;
    const char *names = "";

    tableless_files_build(p, arena, &files);
    for (size_t i = 0; i < files.count && i < SHOWN; i++)
        names = arena_printf(arena, "%s%s%s (%s)", names, i > 0 ? ", " : "", files.v[i].path,
                             style_count(arena, (int64_t)files.v[i].allocations));
    if (files.count > SHOWN)
        names = arena_printf(arena, "%s and %s", names,
                             style_plural(arena, (int64_t)(files.count - SHOWN), "more file"));
    if (files.count == 0)
        return "in code that no file contains, such as a compiler's at run time";
    return arena_printf(arena, "in %s: %s", names, without_table);
}

const char *
loss_field_remedy(struct arena *arena, const struct profile *p, const struct loss_field *field)
{
    if (field->remedy == without_table)
        return remedy_of_table(arena, p);
    if (p->losses.reserved)
        return remedy_of(&p->losses, field);
    if (field->remedy != room || p->recorder.limit_bytes == 0)
        return field->remedy;
    return arena_printf(arena,
                        "the recorder's memory was limited to %s; --max-memory SIZE sets another "
                        "limit (default: a quarter of the memory)",
                        style_bytes(arena, (int64_t)p->recorder.limit_bytes));
}

/* Return the part of TEXT after "lost". */
static const char *
cause(const char *text)
{
    static const char lost[] = "lost ";

    return strncmp(text, lost, sizeof lost - 1) == 0 ? text + sizeof lost - 1 : text;
}

const char *
loss_causes(struct arena *arena, const struct profile_losses *losses)
{
    const char *causes = "";

    for (size_t i = 1; i < loss_cause_end; i++) {
        uint64_t n = loss_value(losses, &loss_fields[i]);

        if (n == losses->events && n != 0)
            return cause(loss_fields[i].meaning);
        if (n != 0)
            causes = arena_printf(arena, "%s%s%s %s", causes, *causes ? "; " : "",
                                  style_count(arena, (int64_t)n), cause(loss_fields[i].meaning));
    }
    return causes;
}

const char *
loss_remedy(const struct profile_losses *losses)
{
    const struct loss_field *most = NULL;

    for (size_t i = 1; i < loss_cause_end; i++) {
        const struct loss_field *f = &loss_fields[i];

        if (f->remedy != NULL && loss_value(losses, f) != 0 &&
            (most == NULL || loss_value(losses, f) > loss_value(losses, most)))
            most = f;
    }
    return most != NULL ? remedy_of(losses, most) : NULL;
}

const char *
loss_gap(struct arena *arena, const struct profile_losses *losses, bool may_lag)
{
    const char *remedy = loss_remedy(losses), *causes = loss_causes(arena, losses);

    if (losses->file_failed)
        return "could not grow, so not all is counted";
    if (may_lag)
        return "is a copy made before the end, so not all is counted";
    if (losses->events == 0)
        return NULL;
    return arena_printf(arena, "lacks %s%s%s%s%s",
                        style_plural(arena, (int64_t)losses->events, "event"),
                        *causes ? ", lost " : "", causes, remedy ? "; " : "", remedy ? remedy : "");
}
