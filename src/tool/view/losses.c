/* losses.c: what the recorder could not record, or only in part, each with what it means. */
#include "view/losses.h"

#include <string.h>

// clang-format off
#define FIELD(name, text) {#name, offsetof(struct profile_losses, name), text}
// clang-format on

const struct loss_field loss_fields[] = {
    FIELD(events, "events lost"),
    FIELD(reentrant_events, "lost in signal handlers that interrupted the recorder"),
    FIELD(no_memory_events, "lost because the recorder got no memory"),
    FIELD(no_thread_events, "lost because more threads ran at once than it follows"),
    FIELD(heap_events, "lost of heaps of the program's own"),
    FIELD(unseen_allocators, "C libraries whose own malloc could not be recorded"),
    FIELD(ledger_events, "blocks whose free could not be followed"),
    FIELD(other_site_events, "allocations charged to \"other\": the call tree was full"),
    FIELD(label_sets, "sets of labels that found no room: charged to \"other labels\""),
    FIELD(truncated_stacks, "allocations with a stack deeper than the recorder follows"),
    FIELD(guessed_frames, "allocations with a guessed frame (no unwind information)"),
    FIELD(frames_without_module, "code addresses without a name: too many libraries"),
    FIELD(unwind_failures, "allocations whose stack broke off"),
    FIELD(unknown_frees, "frees of what was not live (foreign, older or freed twice)"),
    FIELD(double_frees, "of them freed twice"),
    FIELD(unrecorded_frees, "frees of blocks from when not all was recorded"),
    FIELD(inherited_frees, "frees of blocks from before the fork"),
    FIELD(overwritten_blocks, "blocks whose free was not seen"),
    FIELD(failed_calls, "calls that returned no block"),
    FIELD(history_records, "values at a snapshot that found no room: later ones stand for them"),
};
const size_t loss_field_count = countof(loss_fields);
const size_t loss_stack_field_count = 13;

uint64_t
loss_value(const struct profile_losses *losses, const struct loss_field *field)
{
    uint64_t value;

    memcpy(&value, (const char *)losses + field->offset, sizeof value);
    return value;
}
