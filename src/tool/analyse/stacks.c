/* stacks.c: build the stacks that users see from sites.
 *
 *     site ──► node ──► chain of locations ──► frames, inlined ones expanded
 *                                              │ keep?   (filter: any frame matches)
 *                                              │ fold    (innermost wrappers are dropped)
 *                                              ▼
 *                                              equal to a stack we have? add : append
 *
 * For each frame it is determined once whether it matches the filter and whether it is a wrapper.
 * Each frame also gets a canonical frame: the first frame with equal text. Stacks are equal if
 * their canonical frames are, so comparing two stacks compares integers. A frame with only a
 * module, without function and file, is shown as its address and is its own canonical frame. Heap
 * and labels are compared separately, because they are not frames.
 *
 * Recursion creates a stack for each depth. Folding recursion drops a run of frames that calls the
 * same functions as the run just inside it: f g f g main becomes f g main. The innermost run stays,
 * because its line allocates. Only immediate repeats fold, so that no function disappears.
 *
 * The filter reads the stack before folding, so that --filter xmalloc finds the allocations of
 * xmalloc. Performs no I/O and is independent of the views.
 *
 * Building all stacks takes longer than all other work on a profile, and a one-line summary needs
 * few frames of each. struct stack_ends therefore reads only the inner ends of stacks. */
#include "analyse/stacks.h"

#include <string.h>

#include "analyse/fold.h"
#include "analyse/frame_name.h"
#include "base/hash.h"
#include "profile/profile_valid.h"
#include "util/ensure.h"
#include "util/pattern.h"

enum {
    RECURSION_PERIOD_MAX = 32, // Longer cycles are not detected.
    SEEN_WORDS = 8,            // Size of a Bloom filter for some 40 frames with few collisions.
};

/* Numbers of additional frames to read, one after another, while recursion may still change the
 * requested frames. After the last one the whole stack is read. */
static const size_t frames_more[] = {0, 3, 16};

/* Flags in the keys of functions; ids and addresses are far below them. */
#define UNSYMBOLIZED (UINT64_C(1) << 63)
#define UNKNOWN_START (UINT64_C(1) << 62)

enum verdict { UNKNOWN = 0, NO, YES }; // Cached facts about a frame.

#define NO_FRAME UINT32_MAX

/* Result of folding a stack. */
struct fold {
    uint32_t inner;  // The stack's innermost frame, or NO_FRAME.
    uint32_t frames; // Number of innermost frames charged to their caller.
};

struct builder {
    const struct profile *p;
    const struct stacks_options *options;
    struct arena *arena;
    struct stacks *ret;
    regex_t filter, fold;      // Valid if the option is set.
    uint8_t *matches, *wraps;  // enum verdict by frame.
    // enum verdict by unsymbolized module: YES if it may have wrappers; NULL = not yet known.
    uint8_t *wrappers;
    uint8_t *folds;    // enum verdict by location: YES if all of its frames may fold.
    uint32_t *calls;   // Locations of the calls that fold_depth read last.
    size_t call_capacity;
    uint32_t *canonical;       // By frame: its canonical frame plus 1; 0 = not yet known.
    uint32_t *next_frame;      // By canonical frame: the next one with the same hash, plus 1.
    struct map frames_by_hash; // Hash to the newest canonical frame with that hash, plus 1.
    struct map stacks_by_hash; // Hash to the newest stack with that hash, plus 1.
    uint32_t *next_stack;      // By stack: the next one with the same hash, plus 1.
    struct map stacks_by_node; // Node and tags to stack plus 1, so that each stack is read once.
    struct tag_picks picks;
    uint32_t *site_stacks;
    uint32_t *frames, *locations; // The stack read last, before folding.
    uint64_t *functions; // By index into frames: its function_key.
    size_t frame_capacity, location_capacity, function_capacity, depth;
    uint32_t flags;
    bool shortened; // Folding recursion removed frames of it.
    bool by_language;  // The site's: a script's function replaced frames of the runtime.
    bool site_matched; // The filter matched a frame of the site.
    bool dropped_by_caller;
    struct map split; // Groups (struct errors) that lost stacks to `keep` by callers.
};

static uint32_t stacks_add_site(struct builder *b, const struct profile_site *site);
static bool all_may_fold(struct builder *b, uint32_t location);

static int
compile_options(struct builder *b, struct err *err)
{
    int rc = 0;

    if (b->options->filter)
        rc = pattern_compile(&b->filter, b->options->filter, "filter", err);
    if (rc == 0 && b->options->fold) {
        rc = pattern_compile(&b->fold, b->options->fold, "fold", err);
        if (rc != 0 && b->options->filter)
            regfree(&b->filter);
    }
    return rc;
}

/* Return true if callers decide how much of the site of S is in the total. */
static bool
is_divided(const struct builder *b, const struct stack *s)
{
    if (b->options->only != NULL || (b->options->filter != NULL && !s->site_matched))
        return true;
    // Closed groups have no number.
    return s->errors != NULL && s->errors->group != 0
               ? map_get(&b->split, s->errors->group) != NULL
               : b->dropped_by_caller;
}

/* Return true if the filter matched all stacks of RET by their sites. */
static bool
filters_sites(const struct stacks *ret)
{
    bool all = ret->count > 0;

    for (size_t i = 0; i < ret->count; i++)
        all &= ret->v[i].site_matched;
    return all;
}

/* Add to the errors of RET's total that it may have more of the blocks whose callers are
 * unknown. */
static void
add_callerless(struct stacks *ret)
{
    memcpy(ret->errors.callerless, ret->callerless, sizeof ret->callerless);
    for (size_t i = 0; i < ret->count; i++)
        if (ret->v[i].flags & NODE_CALLERLESS)
            shares_add_counters(ret->errors.callerless_in, &ret->v[i].counters);
}

/* Add the uncertainty of callers to the errors of the total, if callers decide which stacks are in
 * it. */
static void
add_shares(struct builder *b)
{
    struct errors shares = {0};

    for (size_t i = 0; i < b->ret->count; i++)
        if (is_divided(b, &b->ret->v[i]))
            errors_add(&shares, b->ret->v[i].errors);
    errors_close(&shares);
    memcpy(b->ret->errors.shares, shares.shares, sizeof shares.shares);
    if (b->options->filter != NULL && !filters_sites(b->ret))
        add_callerless(b->ret);
}

/* Mark the nodes of short stacks, and add up their counters. */
static void
find_callerless(struct builder *b)
{
    const struct profile *p = b->p;
    bool *callerless; // By node.

    b->ret->has_callerless = p->has_callerless;
    if (!p->has_callerless)
        return;
    callerless = arena_alloc(b->arena, p->node_count);
    for (size_t i = 1; i < p->node_count; i++)
        callerless[i] =
            (p->nodes[i].flags & NODE_CALLERLESS) != 0 || callerless[p->nodes[i].parent];
    for (size_t i = 0; i < p->site_count; i++)
        if (callerless[p->sites[i].node] && tags_keep(&b->picks, &p->sites[i]) &&
            (b->options->only == NULL || b->options->only[i]))
            shares_add_counters(b->ret->callerless, &p->sites[i].counters);
}

/* Allocate the tables of facts about frames. */
static void
prepare_facts(struct builder *b)
{
    const struct profile *p = b->p;

    ENSURE(p->symbolised);
    b->wraps = arena_alloc(b->arena, p->frame_count);
    b->canonical = arena_array(b->arena, p->frame_count, sizeof *b->canonical);
    b->next_frame = arena_array(b->arena, p->frame_count, sizeof *b->next_frame);
    b->folds = arena_alloc(b->arena, p->location_count);
}

int
stacks_build(const struct profile *p, const struct stacks_options *options, struct arena *arena,
             struct stacks *ret, struct err *err)
{
    struct builder b = {.p = p, .options = options, .arena = arena, .ret = ret};
    int rc = compile_options(&b, err);
    struct errors missed;

    *ret = (struct stacks){.total = COUNTERS_ZERO};
    if (rc != 0)
        return rc;
    prepare_facts(&b);
    b.matches = arena_alloc(arena, p->frame_count);
    b.site_stacks = arena_array(arena, p->site_count, sizeof *b.site_stacks);
    // There are at most as many stacks as sites. Growing would leave the smaller arrays in the
    // arena, while the unused rest of a large array takes no memory.
    ret->v = arena_array(arena, p->site_count, sizeof *ret->v);
    b.next_stack = arena_array(arena, p->site_count, sizeof *b.next_stack);
    map_reserve(&b.stacks_by_node, p->site_count);
    map_reserve(&b.stacks_by_hash, p->site_count);
    ret->site_stacks = b.site_stacks;
    tags_pick(p, &options->tags, arena, &b.picks);
    find_callerless(&b);
    ret->filtered = options->filter || tags_are_picked(&b.picks);
    for (size_t i = 0; i < p->site_count; i++) {
        b.site_stacks[i] = stacks_add_site(&b, &p->sites[i]);
        if (b.site_stacks[i] == 0) {
            ret->filtered = true;
            continue;
        }
        counters_add(&ret->total, &p->sites[i].counters);
        errors_add_site(&ret->errors, profile_site_errors(p, i));
    }
    add_shares(&b);
    ret->recorded = b.stacks_by_node.count;
    // The units of the errors are needed even if the filter dropped all stacks.
    missed = profile_missed(p, &ret->total);
    errors_add_units(&ret->errors, &missed);
    map_release(&b.frames_by_hash);
    map_release(&b.stacks_by_hash);
    map_release(&b.stacks_by_node);
    map_release(&b.split);
    if (options->filter)
        regfree(&b.filter);
    if (options->fold)
        regfree(&b.fold);
    ENSURE_VALID(stacks_are_valid(p, ret));
    return 0;
}

static bool
matches_filter(struct builder *b, uint32_t frame, uint32_t location)
{
    if (b->matches[frame] == UNKNOWN) {
        const struct profile_frame *f = &b->p->frames[frame];
        struct unsymbolized_text name = {{0}, {0}};
        const char *texts[] = {profile_string(b->p, f->function), profile_string(b->p, f->file),
                               b->p->modules[f->module].path, NULL, NULL};

        if (f->function == 0)
            name = frame_unsymbolized(b->p, location);
        texts[3] = name.shown;
        texts[4] = name.bare;

        b->matches[frame] = NO;
        for (size_t i = 0; i < countof(texts); i++)
            if (*texts[i] != '\0' && regexec(&b->filter, texts[i], 0, NULL, 0) == 0)
                b->matches[frame] = YES;
    }
    return b->matches[frame] == YES;
}

/* Return true if --fold matches FUNCTION, or its name without return type and parameters. Users of
 * ^ and $ usually mean the name without these. */
static bool
matches_fold(const struct builder *b, const char *function)
{
    char name[FOLD_NAME_MAX];

    if (b->options->fold == NULL)
        return false;
    fold_plain_name(function, name);
    return regexec(&b->fold, function, 0, NULL, 0) == 0 || regexec(&b->fold, name, 0, NULL, 0) == 0;
}

/* Return true if --fold matches the substitute name of the unsymbolized function at LOCATION. */
static bool
matches_fold_unsymbolized(const struct builder *b, uint32_t location)
{
    struct unsymbolized_text name;

    if (b->options->fold == NULL)
        return false;
    name = frame_unsymbolized(b->p, location);
    return *name.shown != '\0' && (regexec(&b->fold, name.shown, 0, NULL, 0) == 0 ||
                                   regexec(&b->fold, name.bare, 0, NULL, 0) == 0);
}

static bool
is_wrapper(struct builder *b, uint32_t frame, uint32_t location)
{
    if (b->wraps[frame] == UNKNOWN) {
        const char *function = profile_string(b->p, b->p->frames[frame].function);
        bool wraps = *function == '\0' ? matches_fold_unsymbolized(b, location)
                                       : (!b->options->no_fold && fold_is_wrapper(function)) ||
                                             matches_fold(b, function);

        b->wraps[frame] = wraps ? YES : NO;
    }
    return b->wraps[frame] == YES;
}

static bool
frames_read_same(const struct profile_frame *a, const struct profile_frame *b)
{
    return a->function == b->function && a->file == b->file && a->line == b->line &&
           a->module == b->module && a->inlined == b->inlined;
}

static uint32_t
canonical_frame(struct builder *b, uint32_t frame)
{
    const struct profile_frame *f = &b->p->frames[frame];
    uint32_t key[] = {f->function, f->file, f->line, f->module, f->inlined};
    uint64_t *head;
    uint32_t i;

    if (b->canonical[frame] != 0)
        return b->canonical[frame] - 1;
    b->canonical[frame] = frame + 1;
    if (f->function == 0 && f->file == 0)
        return frame;
    head = map_put(&b->frames_by_hash, hash_bytes(key, sizeof key), NULL);
    for (i = (uint32_t)*head; i != 0; i = b->next_frame[i - 1])
        if (frames_read_same(f, &b->p->frames[i - 1])) {
            b->canonical[frame] = i;
            return i - 1;
        }
    b->next_frame[frame] = (uint32_t)*head;
    *head = frame + 1;
    return frame;
}

/* Make room for a stack of DEPTH frames. */
static void
make_room(struct builder *b, size_t depth)
{
    if (depth <= b->frame_capacity && depth <= b->location_capacity)
        return;
    arena_grow(b->arena, &b->frames, &b->frame_capacity, depth, sizeof *b->frames);
    arena_grow(b->arena, &b->locations, &b->location_capacity, depth, sizeof *b->locations);
}

/* Read the frames of NODE's stack into b->frames, innermost first, until there are at least COUNT.
 * Return true if that is the whole stack. Parents have smaller ids, so the walk ends. */
static bool
read_some(struct builder *b, uint32_t node, size_t count)
{
    const struct profile *p = b->p;
    uint32_t flags = 0;
    size_t depth = 0;

    while (node != 0 && depth < count) {
        const struct profile_node *n = &p->nodes[node];
        const struct profile_location *l = &p->locations[n->location];
        uint32_t first = l->first_frame, frame_count = l->frame_count, location = n->location;

        flags |= n->flags;
        node = n->parent;
        make_room(b, depth + frame_count);
        for (uint32_t i = 0; i < frame_count; i++) {
            b->frames[depth] = first + i;
            b->locations[depth++] = location;
        }
    }
    b->depth = depth;
    b->flags = flags;
    b->shortened = false;
    return node == 0;
}

static void
stacks_read_stack(struct builder *b, uint32_t node)
{
    read_some(b, node, SIZE_MAX);
}

struct stack
stack_of_node(const struct profile *p, uint32_t node, struct arena *arena)
{
    struct builder b = {.p = p, .arena = arena};

    stacks_read_stack(&b, node);
    return (struct stack){.frames = b.frames,
                          .locations = b.locations,
                          .depth = (uint32_t)b.depth,
                          .flags = b.flags,
                          .node = node,
                          .counters = COUNTERS_ZERO};
}

/* Return true if the frame at LOCATION is in views only because of its callers: a function of a
 * language replaces the runtime's frames inside it. */
static bool
depends_on_language(const struct profile *p, uint32_t location)
{
    const struct profile_location *l = &p->locations[location];

    return p->modules[l->module].runtime || profile_language(p, l) != 0;
}

/* Return the number of frames from FIRST on that belong to the recorded site; 0 if callers decide
 * whether views show these. */
static uint32_t
site_depth(struct builder *b, size_t first)
{
    bool folds = true; // With wrappers further out.
    size_t n = 0;

    while (n < b->depth && b->p->locations[b->locations[n]].of_site &&
           !depends_on_language(b->p, b->locations[n]))
        folds = all_may_fold(b, b->locations[n++]) && folds;
    return n <= first || folds || b->by_language ? 0 : (uint32_t)(n - first);
}

static bool
passes_filter(struct builder *b)
{
    b->site_matched = false;
    if (b->options->filter == NULL)
        return true;
    for (size_t i = 0; i < b->depth; i++)
        if (matches_filter(b, b->frames[i], b->locations[i])) {
            b->ret->filter_matched = true;
            b->site_matched = i < site_depth(b, 0);
            return true;
        }
    return false;
}

static bool
is_unsymbolized(const struct builder *b, uint32_t frame)
{
    return b->p->frames[frame].function == 0 && b->p->frames[frame].file == 0;
}

/* Return true if an unsymbolized function of MODULE may be part of a wrapper of that module. Most
 * modules without names have no wrapper. Then the frames further out cannot change the folding of a
 * stack that begins in the module, and need not be read. */
static bool
has_wrappers(struct builder *b, uint32_t module)
{
    const struct profile *p = b->p;

    if (b->options->fold != NULL) // --fold may match it by its address.
        return true;
    if (b->wrappers == NULL) {
        b->wrappers = arena_alloc(b->arena, p->module_count);
        for (uint32_t i = 0; i < p->frame_count; i++)
            if (is_unsymbolized(b, i))
                b->wrappers[p->frames[i].module] = NO;
        for (uint32_t i = 0; i < p->frame_count; i++) {
            uint8_t *known = &b->wrappers[p->frames[i].module];

            if (*known == NO && is_wrapper(b, i, 0)) // Without --fold the location is not used.
                *known = YES;
        }
    }
    return b->wrappers[module] == YES;
}

/* Return true if frames further out may change the folding of a stack that begins with FRAME, at
 * LOCATION. */
static bool
may_fold(struct builder *b, uint32_t frame, uint32_t location)
{
    return is_wrapper(b, frame, location) ||
           (!b->options->no_fold && is_unsymbolized(b, frame) &&
            has_wrappers(b, b->p->frames[frame].module));
}

/* Return true if all frames of LOCATION may fold. Then the frames further out decide how the stack
 * folds. */
static bool
all_may_fold(struct builder *b, uint32_t location)
{
    const struct profile_location *l = &b->p->locations[location];
    uint32_t k = 0;

    if (b->folds[location] == UNKNOWN) {
        while (k < l->frame_count && may_fold(b, l->first_frame + k, location))
            k++;
        b->folds[location] = k == l->frame_count ? YES : NO;
    }
    return b->folds[location] == YES;
}

/* Return the folding of a stack that begins with the frames of LOCATION. OUTER is the folding of
 * its other frames. */
static struct fold
fold_location(struct builder *b, uint32_t location, struct fold outer)
{
    const struct profile_location *l = &b->p->locations[location];
    struct fold f = outer;

    for (uint32_t k = l->frame_count; k-- > 0;) {
        uint32_t frame = l->first_frame + k;

        if (f.inner != NO_FRAME &&
            (is_wrapper(b, frame, location) ||
             (f.frames > 0 && may_fold(b, frame, location) &&
              b->p->frames[frame].module == b->p->frames[f.inner].module)))
            f.frames++;
        else
            f.frames = 0;
        f.inner = frame;
    }
    return f;
}

/* Return the number of innermost frames of NODE's stack that are charged to their caller; at least
 * one frame stays. An unsymbolized frame that a wrapper of its module called belongs to the
 * wrapper, because a stripped library keeps only its exported names. The walk stops at the first
 * frame that does not fold. *RET_CALLS is the number of nodes that the walk has visited. */
static uint32_t
fold_depth(struct builder *b, uint32_t node, size_t *ret_calls)
{
    const struct profile_node *nodes = b->p->nodes;
    struct fold f = {.inner = NO_FRAME};
    size_t count = 0;

    for (uint32_t at = node; at != 0 && f.inner == NO_FRAME; at = nodes[at].parent) {
        arena_grow(b->arena, &b->calls, &b->call_capacity, count, sizeof *b->calls);
        b->calls[count++] = nodes[at].location;
        if (!all_may_fold(b, nodes[at].location))
            f.inner = 0; // Any frame except NO_FRAME, because the walk ends here.
    }
    *ret_calls = count;
    while (count-- > 0)
        f = fold_location(b, b->calls[count], f);
    return f.frames;
}

/* Return a key that is equal for frames of one function. An unsymbolized function is identified by
 * its start address, if that is known, else by its frame. */
static uint64_t
function_key(const struct builder *b, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &b->p->frames[frame];
    uint64_t start = b->p->locations[location].function_start;

    if (f->function != 0)
        return (uint64_t)f->function << 32 | profile_function_home(f);
    return start != 0 ? UNSYMBOLIZED | start : UNSYMBOLIZED | UNKNOWN_START | frame;
}

/* Add KEY to the Bloom filter SEEN. Return true if it may have been added before. */
static bool
note_seen(uint64_t seen[SEEN_WORDS], uint64_t key)
{
    uint64_t hash = hash_u64(key), bit = (uint64_t)1 << hash % 64;
    uint64_t *word = &seen[hash / 64 % SEEN_WORDS];
    bool before = *word & bit;

    *word |= bit;
    return before;
}

/* Remove runs of frames that repeat the run just inside them, from the frame FIRST outwards. */
static void
stacks_fold_recursion(struct builder *b, size_t first)
{
    uint64_t seen[SEEN_WORDS] = {0};
    size_t n = first;

    arena_grow(b->arena, &b->functions, &b->function_capacity, b->depth, sizeof *b->functions);
    for (size_t i = first; i < b->depth; i++) {
        uint64_t *functions = b->functions;

        b->frames[n] = b->frames[i];
        b->locations[n] = b->locations[i];
        functions[n] = function_key(b, b->frames[n], b->locations[n]);
        n++;
        if (!note_seen(seen, functions[n - 1])) // Nearly always true.
            continue;
        for (size_t period = 1, same; period <= RECURSION_PERIOD_MAX; period++) {
            if (n - first < 2 * period)
                break;
            for (same = 0; same < period; same++)
                if (functions[n - 1 - same] != functions[n - 1 - same - period])
                    break;
            if (same < period)
                continue;
            n -= period;
            break;
        }
    }
    b->shortened = n < b->depth;
    b->depth = n;
}

static bool
reads_same(struct builder *b, const struct stack *s, const struct profile_site *site,
           const uint32_t *frames, size_t depth)
{
    if (s->depth != depth || s->flags != b->flags || s->heap != site->heap ||
        (s->labels != site->labels && !b->options->merge_labels))
        return false;
    for (size_t i = 0; i < depth; i++)
        if (canonical_frame(b, s->frames[i]) != canonical_frame(b, frames[i]))
            return false;
    return true;
}

static uint32_t
append_stack(struct builder *b, size_t folded, const struct profile_site *site)
{
    size_t depth = b->depth - folded, i = b->ret->count;
    uint32_t *frames = arena_array(b->arena, depth, sizeof *frames);
    uint32_t *locations = arena_array(b->arena, depth, sizeof *locations);

    if (depth > 0) {
        memcpy(frames, b->frames + folded, depth * sizeof *frames);
        memcpy(locations, b->locations + folded, depth * sizeof *locations);
    }
    b->ret->v[i] = (struct stack){.recursion_folded = b->shortened,
                                  .frames = frames,
                                  .locations = locations,
                                  .depth = (uint32_t)depth,
                                  .site_depth = site_depth(b, folded),
                                  .site_matched = b->site_matched,
                                  .by_language = depth > 0 && depends_on_language(b->p, *locations),
                                  .flags = b->flags,
                                  .node = site->node,
                                  .heap = site->heap,
                                  .labels = site->labels,
                                  .counters = COUNTERS_ZERO};
    b->ret->v[i].useful_depth = stack_useful_depth(b->p, &b->ret->v[i]);
    b->ret->count++;
    return (uint32_t)i;
}

/* Return a hash of SITE's stack, which is in b->frames, without its first FOLDED frames. */
static uint64_t
hash_stack(struct builder *b, size_t folded, const struct profile_site *site)
{
    uint64_t hash = b->flags | site->heap << 8;

    if (!b->options->merge_labels)
        hash |= (uint64_t)site->labels << 32;
    for (size_t k = folded; k < b->depth; k++)
        hash = hash_u64(hash * 31 + canonical_frame(b, b->frames[k]) + 1);
    return hash;
}

/* Return the index of SITE's stack, which is in b->frames, without its first FOLDED frames. Create
 * the stack if it is new. */
static uint32_t
find_stack(struct builder *b, size_t folded, const struct profile_site *site)
{
    uint64_t *head = map_put(&b->stacks_by_hash, hash_stack(b, folded, site), NULL);
    uint32_t i;

    for (i = (uint32_t)*head; i != 0; i = b->next_stack[i - 1])
        if (reads_same(b, &b->ret->v[i - 1], site, b->frames + folded, b->depth - folded))
            return i - 1;
    i = append_stack(b, folded, site);
    b->next_stack[i] = (uint32_t)*head;
    *head = i + 1;
    return i;
}

/* Return a key of the properties that the sites of one stack share. */
static uint64_t
stack_key(const struct builder *b, const struct profile_site *site)
{
    uint64_t key = (uint64_t)site->node << 32 | site->heap << 16;

    // The loader limits heaps and label sets to less than 2^16.
    return b->options->merge_labels ? key : key | site->labels;
}

/* Return true if the caller's filter keeps SITE, whose stack was read. */
static bool
stacks_keep_site(struct builder *b, const struct profile_site *site)
{
    enum stacks_keep kept = STACKS_KEEP;
    uint32_t group;

    if (b->options->keep != NULL)
        kept = b->options->keep(b->options->keep_arg, site, b->frames, b->locations, b->depth);
    if (kept == STACKS_DROP_BY_CALLER) {
        group = profile_site_errors(b->p, (size_t)(site - b->p->sites))->group;
        b->dropped_by_caller = true;
        if (group != 0)
            map_put(&b->split, group, NULL);
    }
    return kept == STACKS_KEEP;
}

/* Return the index of SITE's stack plus 1; 0 if the filter drops it. */
static uint32_t
stack_of_site(struct builder *b, const struct profile_site *site)
{
    uint64_t *known;

    if (!tags_keep(&b->picks, site) ||
        (b->options->only != NULL && !b->options->only[site - b->p->sites]))
        return 0;
    b->by_language = site->by_language;
    known = map_put(&b->stacks_by_node, stack_key(b, site), NULL);
    if (*known == 0 || b->options->keep) {
        stacks_read_stack(b, site->node);
        if (!passes_filter(b))
            return 0;
        if (!stacks_keep_site(b, site))
            return 0;
        if (*known == 0) {
            size_t calls, folded = fold_depth(b, site->node, &calls);

            if (b->options->fold_recursion)
                stacks_fold_recursion(b, folded);
            *known = (uint64_t)find_stack(b, folded, site) + 1;
        }
    }
    return (uint32_t)*known;
}

/* Charge SITE to its stack. Return the result of stack_of_site. */
static uint32_t
stacks_add_site(struct builder *b, const struct profile_site *site)
{
    uint32_t stack = stack_of_site(b, site);
    struct stack *s;

    if (stack == 0)
        return 0;
    s = &b->ret->v[stack - 1];
    if (s->labels != site->labels)
        s->labels = STACK_LABELS_SEVERAL;
    if (site->by_language) {
        s->by_language = true;
        s->site_depth = 0;
    }
    counters_add(&s->counters, &site->counters);
    if (b->p->site_error_capacity > 0)
        errors_add(errors_of(&s->errors, b->arena),
                   profile_site_errors(b->p, (size_t)(site - b->p->sites)));
    return stack;
}

void
stack_errors_add(struct errors **sum, const struct stacks *stacks, const struct stack *s,
                 uint32_t frame, struct arena *arena)
{
    struct errors *to;

    if (s->errors == NULL && !stacks->has_callerless)
        return;
    to = errors_of(sum, arena);
    if (frame < s->site_depth)
        errors_add_site(to, errors_or_none(s->errors));
    else
        errors_add(to, s->errors);
    // A function further out may have more of these, and a script's function any.
    if (frame >= s->site_depth && (frame > 0 || s->by_language))
        memcpy(to->callerless, stacks->callerless, sizeof to->callerless);
    if (s->flags & NODE_CALLERLESS)
        shares_add_counters(to->callerless_in, &s->counters);
}

bool
stack_function_is_start_up(const char *function)
{
    static const char *const names[] = {"_start",
                                        "_dl_start_user",
                                        "__libc_start_main",
                                        "__libc_start_main_impl",
                                        "__libc_start_call_main",
                                        "start_thread",
                                        "clone",
                                        "clone3",
                                        "__clone",
                                        "__clone3",
                                        "__clone_internal"};

    if (*function != '_' && *function != 's' && *function != 'c') // Nearly all names end here.
        return false;
    function += fold_alias_length(function); // With debug symbols, glibc 2.41 has __GI___clone3.
    for (size_t i = 0; i < countof(names); i++)
        if (strcmp(function, names[i]) == 0)
            return true;
    return false;
}

static bool
is_start_up(const struct profile *p, uint32_t frame)
{
    const struct profile_frame *f = &p->frames[frame];
    const char *name = profile_string(p, f->function), *module, *slash;

    if (*name != '\0')
        return stack_function_is_start_up(name);
    // In a stripped libc, the outermost frames between main and _start, or below a thread, are
    // start-up code.
    module = p->modules[f->module].path;
    slash = strrchr(module, '/');
    return strncmp(slash ? slash + 1 : module, "libc.so.", 8) == 0;
}

const char *
stack_root(const struct profile *p, const struct stack *s)
{
    if (s->depth == 0)
        return FRAME_NAME_OTHER;
    if (s->flags & NODE_CALLERLESS)
        return FRAME_NAME_CALLERLESS;
    if ((s->flags & (NODE_SHORTENED | NODE_BROKEN)) ||
        ((s->flags & NODE_TRUNCATED) && p->frames_kept == 0))
        return FRAME_NAME_TRUNCATED;
    return NULL;
}

const char *
stacks_truncated(const struct profile *p, const struct stacks *s, struct counters *ret)
{
    const char *name = NULL;

    *ret = COUNTERS_ZERO;
    for (size_t i = 0; i < s->count; i++) {
        const char *root = stack_root(p, &s->v[i]);

        // Short stacks that only blocks of memory or accesses belong to have no counts.
        if (root == NULL || (s->v[i].counters.allocations == 0 && s->v[i].counters.frees == 0))
            continue;
        counters_add(ret, &s->v[i].counters);
        if (name == NULL || strcmp(root, FRAME_NAME_CALLERLESS) != 0)
            name = root;
    }
    return name;
}

uint32_t
stack_useful_depth(const struct profile *p, const struct stack *s)
{
    uint32_t depth = s->depth;

    if (s->useful_depth != 0)
        return s->useful_depth;
    // In a stripped program _start has no name, but it is the caller of the C library's start-up
    // code.
    if (depth > 2 && p->frames[s->frames[depth - 1]].function == 0 &&
        is_start_up(p, s->frames[depth - 2]))
        depth--;
    while (depth > 1 && is_start_up(p, s->frames[depth - 1]))
        depth--;
    return depth;
}

/* Return true if FRAME belongs to code that calls static constructors: the loader, or the C library
 * if the program has them. */
static bool
calls_constructors(const struct profile *p, uint32_t frame)
{
    const char *module = path_basename(profile_code_of(p, &p->frames[frame]));
    const char *name = profile_string(p, p->frames[frame].function);

    return strncmp(module, "ld-linux", 8) == 0 || strncmp(module, "ld-musl", 7) == 0 ||
           strcmp(name, "call_init") == 0 || strcmp(name, "__libc_csu_init") == 0;
}

uint32_t
stack_depth_in_loader(const struct profile *p, const struct stack *s)
{
    uint32_t useful = stack_useful_depth(p, s), depth = useful;

    while (depth > 0 && calls_constructors(p, s->frames[depth - 1]))
        depth--;
    return depth > 0 ? depth : useful;
}

/* --- Plain stacks ----------------------------------------------------------------------------- */

/* A plain stack. Its frames are read again from its node for each comparison, because equal stacks
 * of different nodes are rare. */
struct plain_stack {
    uint32_t node, heap;
    uint32_t folded, depth; // Number of innermost frames that fold, and of the others.
    uint32_t next;          // The next one with the same hash, plus 1.
};

struct plain_builder {
    struct builder b;     // The stack of the present site.
    struct builder other; // The stack to compare it with.
    struct plain_stack *v;
    size_t count;
};

/* Return true if S reads the same as SITE's stack, which is in pb->b, without its first FOLDED
 * frames. */
static bool
plain_reads_same(struct plain_builder *pb, const struct plain_stack *s,
                 const struct profile_site *site, size_t folded)
{
    struct builder *b = &pb->b, *other = &pb->other;

    if (s->depth != b->depth - folded || s->heap != site->heap)
        return false;
    stacks_read_stack(other, s->node);
    if (other->flags != b->flags)
        return false;
    for (size_t i = 0; i < s->depth; i++)
        if (canonical_frame(b, other->frames[s->folded + i]) !=
            canonical_frame(b, b->frames[folded + i]))
            return false;
    return true;
}

/* Return the index of SITE's plain stack, created if it is new. */
static uint32_t
plain_find(struct plain_builder *pb, const struct profile_site *site)
{
    struct builder *b = &pb->b;
    size_t calls, folded;
    uint64_t *head;
    uint32_t i;

    stacks_read_stack(b, site->node);
    folded = fold_depth(b, site->node, &calls);
    head = map_put(&b->stacks_by_hash, hash_stack(b, folded, site), NULL);
    for (i = (uint32_t)*head; i != 0; i = pb->v[i - 1].next)
        if (plain_reads_same(pb, &pb->v[i - 1], site, folded))
            return i - 1;
    i = (uint32_t)pb->count++;
    pb->v[i] = (struct plain_stack){.node = site->node,
                                    .heap = site->heap,
                                    .folded = (uint32_t)folded,
                                    .depth = (uint32_t)(b->depth - folded),
                                    .next = (uint32_t)*head};
    *head = i + 1;
    return i;
}

void
stacks_plain(const struct profile *p, struct arena *arena, struct plain_stacks *ret)
{
    const struct stacks_options options = {.merge_labels = true};
    struct plain_builder pb = {.b = {.p = p, .options = &options, .arena = arena},
                               .other = {.p = p, .arena = arena}};
    uint32_t *of_site = arena_array(arena, p->site_count, sizeof *of_site), *depths;

    prepare_facts(&pb.b);
    pb.v = arena_array(arena, p->site_count, sizeof *pb.v);
    map_reserve(&pb.b.stacks_by_node, p->site_count);
    map_reserve(&pb.b.stacks_by_hash, p->site_count);
    for (size_t i = 0; i < p->site_count; i++) {
        bool is_new;
        uint64_t *known =
            map_put(&pb.b.stacks_by_node, stack_key(&pb.b, &p->sites[i]), &is_new);

        if (is_new)
            *known = plain_find(&pb, &p->sites[i]);
        of_site[i] = (uint32_t)*known;
    }
    map_release(&pb.b.frames_by_hash);
    map_release(&pb.b.stacks_by_hash);
    map_release(&pb.b.stacks_by_node);
    depths = arena_array(arena, pb.count, sizeof *depths);
    for (size_t i = 0; i < pb.count; i++)
        depths[i] = pb.v[i].depth;
    *ret = (struct plain_stacks){.of_site = of_site, .depths = depths, .count = pb.count};
}

/* --- Inner ends ------------------------------------------------------------------------------- */

struct stack_ends {
    struct builder b;
    struct stacks_options options;
    uint8_t *starts; // enum verdict by frame: is it start-up code?
    // Last stack: number of calls that fold_depth read, number of frames requested, and true if the
    // stack is whole.
    size_t calls, wanted;
    bool whole;
};

struct stack_ends *
stack_ends_new(const struct profile *p, bool fold_recursion, struct arena *arena)
{
    struct stack_ends *e = arena_alloc(arena, sizeof *e);

    ENSURE(p->symbolised);
    e->options.fold_recursion = fold_recursion;
    e->b = (struct builder){.p = p, .options = &e->options, .arena = arena};
    e->b.wraps = arena_alloc(arena, p->frame_count);
    e->starts = arena_alloc(arena, p->frame_count);
    e->b.folds = arena_alloc(arena, p->location_count);
    return e;
}

static bool
may_be_start_up(struct stack_ends *e, uint32_t frame)
{
    if (e->starts[frame] == UNKNOWN)
        e->starts[frame] = is_start_up(e->b.p, frame) ? YES : NO;
    return e->starts[frame] == YES;
}

/* Return true if frames further out cannot change the COUNT frames from FIRST on. They are final if
 * none is start-up code, which views drop at the outer end, and folding recursion can remove none.
 * Folding drops an outermost run that equals the run just inside it. So a frame whose function does
 * not occur further in stays, and so do all frames inside it. */
static bool
is_fold_final(struct stack_ends *e, size_t first, size_t count)
{
    const struct builder *b = &e->b;
    const uint64_t *functions = b->functions + first;
    size_t depth = b->depth - first;

    if (depth < count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (may_be_start_up(e, b->frames[first + i]))
            return false;
    for (size_t i = count - 1; i < depth && e->options.fold_recursion; i++) {
        size_t k = 0;

        while (k < i && functions[k] != functions[i])
            k++;
        if (k == i)
            return true;
    }
    return !e->options.fold_recursion;
}

struct stack
stack_ends_read(struct stack_ends *e, uint32_t node, uint32_t count, bool *ret_whole)
{
    struct builder *b = &e->b;
    size_t folded = fold_depth(b, node, &e->calls);
    bool final = false;

    for (size_t i = 0; i < countof(frames_more) && !final; i++) {
        e->wanted = folded + count + frames_more[i];
        *ret_whole = read_some(b, node, e->wanted);
        if (e->options.fold_recursion)
            stacks_fold_recursion(b, folded);
        final = *ret_whole || is_fold_final(e, folded, count);
    }
    if (!final) {
        *ret_whole = true;
        stacks_read_stack(b, node);
        if (e->options.fold_recursion)
            stacks_fold_recursion(b, folded);
    }
    if (!*ret_whole)
        b->depth = folded + count;
    e->whole = *ret_whole;
    return (struct stack){.frames = b->frames + folded,
                          .locations = b->locations + folded,
                          .depth = (uint32_t)(b->depth - folded),
                          .flags = b->flags,
                          .node = node,
                          .recursion_folded = b->shortened,
                          .counters = COUNTERS_ZERO};
}

bool
stack_ends_are_known_from(const struct stack_ends *e, size_t calls)
{
    // Each call has at least one frame.
    return !e->whole && e->calls <= calls && e->wanted <= calls;
}

static bool
frames_are_valid(const struct profile *p, const struct stack *s)
{
    for (uint32_t i = 0; i < s->depth; i++) {
        const struct profile_location *l;

        VALID(s->locations[i] < p->location_count); // A node's location.
        l = &p->locations[s->locations[i]];
        // The location has the frame.
        VALID(s->frames[i] - l->first_frame < l->frame_count);
    }
    return true;
}

static bool
stack_is_valid(const struct profile *p, const struct stack *s)
{
    VALID(s->node != 0 && s->node < p->node_count); // The node belongs to a site of this stack.
    VALID(s->heap < p->heap_count);                 // All sites of this stack are in this heap.
    VALID(s->labels < p->label_set_count || s->labels == STACK_LABELS_SEVERAL);
    return frames_are_valid(p, s);
}

/* Return true if each site is in at most one stack and the sums agree. SUMS has a zero for each
 * stack. */
static bool
shares_are_valid(const struct profile *p, const struct stacks *s, struct counters *sums)
{
    struct counters total = COUNTERS_ZERO;

    for (size_t i = 0; i < p->site_count; i++) {
        uint32_t stack = s->site_stacks[i];

        VALID(stack <= s->count);         // An index plus 1.
        VALID(stack != 0 || s->filtered); // Views mention filtered sites.
        if (stack == 0)
            continue;
        counters_add(&sums[stack - 1], &p->sites[i].counters);
        counters_add(&total, &p->sites[i].counters);
    }
    for (size_t i = 0; i < s->count; i++)
        // The counters of a stack are the sum of its sites.
        VALID(counters_are_same(&sums[i], &s->v[i].counters));
    // The total is the sum of all stacks.
    VALID(counters_are_same(&total, &s->total));
    return true;
}

static struct counters *
stacks_new_sums(struct arena *scratch, size_t count)
{
    struct counters *sums = arena_array(scratch, count, sizeof *sums);

    for (size_t i = 0; i < count; i++)
        sums[i] = COUNTERS_ZERO;
    return sums;
}

bool
stacks_are_valid(const struct profile *p, const struct stacks *s)
{
    struct arena scratch = {0};
    bool valid = true;

    for (size_t i = 0; i < s->count && valid; i++)
        valid = stack_is_valid(p, &s->v[i]);
    valid = valid && shares_are_valid(p, s, stacks_new_sums(&scratch, s->count));
    arena_release(&scratch);
    return valid;
}
