/* fuzz_merge.c: merge any profile that loads, with a valid one and with itself. The sum's totals
 * must equal the sum of the parts. The sum can be written, loads again without a complaint and with
 * the same contents, and a merge of merges has the same totals. A sum whose parts' histories share
 * one clock is also valid, and has the same allocations.
 *
 * Inputs are profiles, so fuzz_profile.c's mutator is used. */
/* covers: merge.c merger.c merge_tree.c merge_timeline.c merge_history.c merge_notes.c writer.c */
/* covers: write_model.c */
#define LLVMFuzzerTestOneInput fuzz_profile_one
#include "fuzz_profile.c"
#undef LLVMFuzzerTestOneInput

#include "merge/merge.h"
#include "profile/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* Return a profile with an element of each kind. */
static struct profile *
sound_profile(void)
{
    static struct profile_module modules[] = {
        {.path = ""}, {.start = 0x400000, .end = 0x500000, .bias = 0x400000, .path = "/bin/prog"}};
    static struct profile_location locations[] = {{0}, {.address = 0x401000, .module = 1}};
    static struct profile_node nodes[] = {{0}, {.flags = NODE_OTHER}, {.location = 1}};
    static const struct counters c = {.allocations = 3,
                                      .allocated_bytes = 30,
                                      .frees = 1,
                                      .freed_bytes = 10,
                                      .peak_blocks = 2,
                                      .peak_bytes = 20,
                                      .size_min = 10,
                                      .size_max = 10};
    static struct profile_site sites[] = {{.node = 2}};
    static struct profile_thread threads[] = {{.name = "prog", .uses = 1}};
    static struct profile_thread_site thread_sites[1];
    static struct profile_recording_mode phases[1];
    static struct profile_heap heaps[] = {{.name = "malloc", .backing = COUNTERS_ZERO}};
    static struct profile_label_set label_sets[] = {{.text = ""}};
    struct profile *p = xmalloc(sizeof *p);

    heaps[0].counters = label_sets[0].counters = c;
    sites[0].counters = threads[0].counters = c;
    *p = (struct profile){.totals = c,
                          .modules = modules,
                          .module_count = countof(modules),
                          .locations = locations,
                          .location_count = countof(locations),
                          .nodes = nodes,
                          .node_count = countof(nodes),
                          .sites = sites,
                          .site_count = 1,
                          .threads = threads,
                          .thread_count = 1,
                          .thread_sites = thread_sites,
                          .thread_site_count = 1,
                          .heaps = heaps,
                          .heap_count = 1,
                          .label_sets = label_sets,
                          .label_set_count = 1,
                          .path = "",
                          .modes = phases,
                          .mode_count = 1};
    p->process = (struct profile_process){.command = "prog",
                                          .executable = "/bin/prog",
                                          .kernel = "",
                                          .heaptap = "",
                                          .machine = "x86_64",
                                          .start_unix_ns = UINT64_C(1700000000000000000),
                                          .elapsed_ns = 1000000000,
                                          .ended = true};
    strtab_id(&p->strings, "");
    return p;
}

static bool
same_counters(const struct counters *a, const struct counters *b)
{
    return a->allocations == b->allocations && a->allocated_bytes == b->allocated_bytes &&
           a->frees == b->frees && a->freed_bytes == b->freed_bytes &&
           a->reallocations == b->reallocations && a->moved == b->moved &&
           a->grown_bytes == b->grown_bytes && a->temporary == b->temporary &&
           a->ended_16 == b->ended_16 && a->ended_256 == b->ended_256 &&
           a->lifetimes_unknown == b->lifetimes_unknown;
}

/* Sum PARTS and check the sum. Return the sum as loaded from its file, or NULL if the loader would
 * refuse the file. */
static struct profile *
sum_of(const struct profile *const *parts, size_t count)
{
    struct merge *m = merge_new();
    struct counters wanted = COUNTERS_ZERO;
    struct strbuf file = {0};
    struct err err = {""};
    struct profile *got = NULL;
    const struct profile *p;

    for (size_t i = 0; i < count; i++) {
        merge_add(m, parts[i]);
        counters_add(&wanted, &parts[i]->totals);
    }
    p = merge_finish(m);
    demand(same_counters(&p->totals, &wanted), "the totals of a sum equal those of the parts");
    check_valid(p);
    demand(write_model(p, &file, &err) == 0, "a sum can be written");
    if (load_bytes(file.text, file.length, "sum", &got, &err) == 0) {
        demand(got->note_count == 0, "the written file is sound");
        demand(same_counters(&got->totals, &wanted), "the file read back has the same totals");
        demand(got->merged_processes == p->merged_processes,
               "the file read back has the number of processes");
        check_valid(got);
        check_sampling(got);
    } else {
        demand(strstr(err.text, "stacks") != NULL, "only stacks without end are refused");
    }
    strbuf_release(&file);
    merge_free(m);
    return got;
}

/* Return the sum of A and B with their histories, checked. */
static void
sum_in_time(const struct profile *a, const struct profile *b)
{
    const uint64_t day_ns = UINT64_C(86400000000000);
    uint64_t from_ns = a->process.start_unix_ns;
    struct counters wanted = a->totals;
    struct merge *m = merge_new();
    const struct profile *p;

    if (b->process.start_unix_ns < from_ns)
        from_ns = b->process.start_unix_ns;
    merge_keep_history(m, from_ns, from_ns + day_ns);
    merge_add(m, a);
    merge_add(m, b);
    counters_add(&wanted, &b->totals);
    p = merge_finish(m);
    check_valid(p);
    demand(p->totals.allocations == wanted.allocations &&
               p->totals.allocated_bytes == wanted.allocated_bytes,
           "a sum over time has all allocations");
    merge_free(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct err err = {""};
    struct profile *input, *sound, *once, *twice;

    if (!is_moderate(data, size_bytes) || load_bytes(data, size_bytes, "input", &input, &err) < 0)
        return REFUSED;
    sound = sound_profile();
    once = sum_of((const struct profile *[]){sound, input}, 2);
    if (once != NULL) {
        twice = sum_of((const struct profile *[]){input, once, input, sound}, 4);
        profile_free(twice);
    }
    sum_in_time(sound, input);
    profile_free(once);
    profile_free(sound);
    profile_free(input);
    return 0;
}
