/* language_path.c: builds the path of a C stack with the frames of a language among the C frames.
 *
 *     C frames, by slot          frames of the language, by address      the path in the tree
 *
 *     malloc's caller  s0
 *     luaH_resize      s1        s2 < a0:  "insert" fill.lua:7           luaH_resize
 *     luaV_execute     s2        s2 < a1:  "fill"   fill.lua:19          "insert"
 *     lua_pcall        s3                                                "fill"
 *     main             s4                                                luaV_execute …
 *
 * A language frame whose address is between the slots of two C frames belongs to the outer C frame.
 * It becomes a child of the outer C frame and the parent of the inner C frame. All C frames stay in
 * the tree; runtime frames get a flag, so that readers can omit them.
 *
 * Deep stacks. Successive stacks mostly share their outer frames, and so their outer path. The
 * *spine* caches, for each memo frame, the node of the path up to that frame and the number of
 * language frames in that path. A new path is built only inside the innermost frame whose path is
 * proved unchanged. stack.c proves the C frames by counting the unchanged memo frames. Language
 * frames are compared word by word.
 *
 *     memo       [1] main … [40] ecl_interpret  [41] ecl_interpret │ [42] cl_list
 *     spine           node          node             node          │  made for this event
 *     answer          ──────── so many are the same ───────        │  the rest
 *
 * If an adapter reports unchanged outer frames, the recorder does not compare or place these frames
 * again. If a C frame contains many language frames, their nodes are in a run (language_runs.c), so
 * that only the changed ones are looked up.
 *
 * Some adapters need the C frames to place their own frames. If such an adapter can place the inner
 * frames alone (place_inner), it is not called again for the outer frames either.
 *
 * The spine is valid only if the address of each language frame is in a C frame. If a language
 * frame has no such address, or if several languages run, the whole path is built again.
 *
 * A wrong answer of an adapter can only cause wrong names. A language frame whose address is not in
 * a C frame is assigned to the C frame of the language frame before it. The path never has more
 * frames than the depth limit. */
#define HEAPTAP_IS_RECORDER

#include "mixed/language_frames.h"

#include <string.h>

#include "account/label.h"
#include "stack/stack_state.h"

/* Return the number of the C frame that contains ADDRESS. Search from number AT outwards to
 * OUTERMOST. Return 0 if no C frame contains it. */
static uint32_t
native_around(struct language_memo *m, uint64_t address, uint32_t at, uint32_t outermost)
{
    uint64_t slot;

    for (uint32_t i = at; i > 1 && i >= outermost; i--)
        if (language_native_at(m, i)->slot < address &&
            address < language_native_at(m, i - 1)->slot)
            return i;
    slot = at > 0 && outermost <= 1 ? language_native_at(m, 1)->slot : 0;
    return slot != 0 && slot < address ? 1 : 0;
}

/* Give each placed frame without an address the address of the frame before it. */
static void
fill_addresses(struct heaptap_frame *placed, uint32_t count)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (placed[i].at == 0)
            placed[i].at = at;
        at = placed[i].at;
    }
}

/* Place the COUNT frames of the answer. Call the adapters that compute the frames' addresses. */
static void
find_all_addresses(struct language_memo *m, uint32_t count)
{
    uint32_t from = 0, number = load_acquire(&language_count);

    memcpy(m->placed, m->asked, count * sizeof *m->placed);
    for (uint32_t i = 0; i < number && from < count; i++) {
        if (language_adapters[i]->place != NULL)
            language_adapters[i]->place(m->placed + from, m->ends[i] - from,
                                language_native_at(m, m->native_count), m->native_count);
        fill_addresses(m->placed + from, m->ends[i] - from);
        from = m->ends[i];
    }
}

/* Return true if there is one language, whose adapter can place inner frames without all outer
 * frames. */
static inline bool
places_inner(void)
{
    return load_acquire(&language_count) == 1 && language_adapters[0]->place_inner != NULL;
}

/* Return the number of the answer's outermost frames that are in spine_raw and may keep their
 * addresses, if the C frames up to number I are unchanged. These are the frames up to spine entry
 * I, and further frames if one C frame contains all of them. COUNT is the length of the answer. */
static uint32_t
count_same(struct language_memo *m, uint32_t i, uint32_t count)
{
    const struct heaptap_frame *outermost = m->asked + count;
    uint32_t same = m->spine_same < count ? m->spine_same : count;
    uint32_t max = m->spine[i].asked < count ? m->spine[i].asked : count;

    if (same > max && m->spine_asked[max].at == m->spine_asked[same - 1].at)
        return same;
    if (same >= max)
        return max;
    while (same < max && language_are_same(&outermost[-1 - (int)same], &m->spine_raw[same], 1))
        same++;
    if (m->only != NULL)
        m->spine_same = same;
    return same;
}

/* Reuse the outer frames of the answer that equal the spine's frames up to entry I, and let the
 * adapter place the other frames. The adapter also places the innermost reused frame again. If this
 * frame has not moved, the frames outside it have not moved either, because no inner frame
 * influences them. Return the number of reused frames; 0 if no frame can be proved unchanged. */
static uint32_t
place_inner(const struct thread *t, struct language_memo *m, uint32_t joined, uint32_t i,
            uint32_t count)
{
    uint32_t same = count_same(m, i, count), inner = count - same + 1;

    if (same == 0)
        return 0;
    // Find the C frame that contained the innermost reused frame, or the next one outwards.
    while (i > 1 && m->spine[i - 1].asked >= same)
        i--;
    language_natives_outer(t, m, joined, i);
    memcpy(m->placed, m->asked, inner * sizeof *m->placed);
    if (!language_adapters[0]->place_inner(m->placed, inner, language_native_at(m, m->native_count),
                                   m->native_count - i + 1))
        return 0;
    fill_addresses(m->placed, inner);
    return m->placed[inner - 1].at == m->spine_asked[same - 1].at ? same : 0;
}

static void
find_addresses(const struct thread *t, struct language_memo *m, uint32_t joined, uint32_t count)
{
    if (load_relaxed(&language_needs.place))
        language_natives_outer(t, m, joined, 1);
    find_all_addresses(m, count);
}

/* Assign each frame in [FROM, END) of m->placed to the C frame that contains its address. Search
 * only C frame number OUTERMOST and the C frames inside it. If none of them contains the address,
 * use the C frame of the frame before. Return false if that was necessary. */
static bool
language_path_place(struct language_memo *m, uint32_t from, uint32_t end, uint32_t outermost)
{
    uint32_t at = m->native_count;
    bool all = true;

    for (; from < end; from++) {
        uint32_t found = native_around(m, m->placed[from].at, at, outermost);

        if (found != 0)
            at = found;
        else
            all = false;
        m->inside[from] = at;
    }
    return all;
}

/* A path of C frames and language frames, built from the outermost in. */
struct path {
    uint32_t node;
    uint32_t left_out;        // Number of outermost frames that the path must still omit.
    uint32_t frames;          // Number of frames in the path.
    uint32_t left[LANGUAGES]; // Indexed by language: end of the language's frames in `placed` that
                              // the path does not contain yet.
    bool folds;               // True if the path omits frames of a runtime, as readers do.
    uint32_t asked;           // Length of the answer.
    struct language_run *run; // Store the nodes of language frames here, unless NULL.
};

/* Count the next frame. Return true if PATH includes it, false if PATH must omit it. */
static inline bool
is_included(struct path *path)
{
    if (unlikely(path->left_out > 0)) {
        path->left_out--;
        return false;
    }
    path->frames++;
    return true;
}

/* Return true if a path with `folds` set omits the C frame with the facts F and the return address
 * PC. Readers omit such a frame because a named frame represents it. Frames of an adapter stay in
 * the path: events of the adapter's heaps skip them, and they show which memory belongs to the
 * interpreter. */
static bool
is_folded(const struct native_facts *f, uint64_t pc)
{
    return f->flags == 0 && language_is_interpreter(pc);
}

static void
add_native(struct path *path, struct language_memo *m, uint32_t number)
{
    const struct native_facts *f = language_facts_at(m, number);
    bool of_runtime = language_is_runtime(language_native_at(m, number)->pc);

    if (path->folds && is_folded(f, language_native_at(m, number)->pc))
        return;
    if (!is_included(path))
        return;
    path->node = nodes_child(path->node, f->frame, f->flags);
    if (of_runtime)
        nodes_flag(path->node, DISK_NODE_RUNTIME);
}

static void
language_path_add_named(struct path *path, uint32_t id)
{
    if (is_included(path))
        path->node = nodes_child(path->node, named_frame(id), 0);
}

/* Find the C frames from number FIRST inwards that run compiled functions of a language, and store
 * the ids of these functions. Skip a C frame that contains one of the COUNT innermost placed
 * frames, because the two represent the same function. Requires that the placed frames are assigned
 * to C frames. Return the number of ids. */
static uint32_t
find_codes(struct language_memo *m, uint32_t first, uint32_t count)
{
    uint32_t number = load_acquire(&language_count), codes = 0;

    if (!load_relaxed(&language_needs.code))
        return 0;
    for (uint32_t i = first; i <= m->native_count; i++) {
        uint32_t *code = &language_facts_at(m, i)->code;

        *code = 0;
        for (uint32_t l = 0; l < number && *code == 0; l++)
            if (language_adapters[l]->code != NULL)
                *code = language_adapters[l]->code(language_native_at(m, i)->pc);
        codes += *code != 0;
    }
    for (uint32_t i = 0; i < count && m->native_count > 0; i++) {
        codes -= language_facts_at(m, m->inside[i])->code != 0;
        language_facts_at(m, m->inside[i])->code = 0;
    }
    return codes;
}

static inline bool
has_placed(const struct language_memo *m, const struct path *path, uint32_t l, uint32_t number)
{
    return path->left[l] > (l > 0 ? m->ends[l - 1] : 0) && m->inside[path->left[l] - 1] == number;
}

/* Append the language frames inside C frame NUMBER. If NUMBER is 0, append the language frames
 * outside all C frames. */
static void
add_all_in(struct path *path, struct language_memo *m, uint32_t number)
{
    uint32_t languages_present = load_acquire(&language_count);

    for (uint32_t l = 0; l < languages_present; l++)
        while (has_placed(m, path, l, number)) {
            language_path_add_named(path, m->placed[--path->left[l]].id);
            if (path->run != NULL)
                path->run->nodes[path->asked - path->left[0]] = path->node;
        }
}

/* Append C frame NUMBER and the language frames inside it. */
static void
add_all_of(struct path *path, struct language_memo *m, uint32_t number)
{
    add_native(path, m, number);
    if (language_facts_at(m, number)->code != 0)
        language_path_add_named(path, language_facts_at(m, number)->code);
    add_all_in(path, m, number);
}

/* --- The spine -------------------------------------------------------------------------------- */

/* Return the address of language frame N + 1, counted from the outermost. The outer KNOWN frames
 * are in the spine, the other frames in m->placed. */
static inline uint64_t
place_at(const struct language_memo *m, uint32_t n, uint32_t known, uint32_t count)
{
    return n < known ? m->spine_asked[n].at : m->placed[count - 1 - n].at;
}

/* Return the number of the innermost memo frame, at most I, whose spine entry is valid for these
 * COUNT language frames. Return 0 if the whole path must be built. The outer KNOWN frames are in
 * the spine, the other frames in m->placed. */
static uint32_t
same_spine(const struct thread *t, struct language_memo *m, uint32_t i, uint32_t count,
           uint32_t known)
{
    const struct heaptap_frame *outermost = m->placed + count;
    uint32_t max = count, same = known;

    // place_inner may depend on data that the placed frames lack, so compare the raw frames first.
    if (places_inner())
        max = known > 0 ? known : count_same(m, i, count);
    while (i > 0 && m->spine[i].asked > max)
        i--;
    while (same < m->spine[i].asked &&
           language_are_same(&outermost[-1 - (int)same], &m->spine_asked[same], 1))
        same++;
    if (m->only != NULL && m->spine_same < same)
        m->spine_same = same;
    while (i > 0 && m->spine[i].asked > same)
        i--;
    // The next language frame must be in a C frame further in than the entry's.
    while (i > 0 && m->spine[i].asked < count &&
           place_at(m, m->spine[i].asked, known, count) >= t->memo[i].slot)
        i--;
    return i;
}

/* Return the number of outer language frames whose places are proved the same as in spine_asked,
 * and place the other frames. If no place is proved, place no frame and return 0. */
static uint32_t
known_spine(const struct thread *t, struct language_memo *m, uint32_t joined, uint32_t i,
            uint32_t count)
{
    uint32_t same = m->spine_same < count ? m->spine_same : count;

    if (places_inner())
        return place_inner(t, m, joined, i, count);
    // A frame without an address gets the address of the next inner frame, which may have changed.
    if (m->only == NULL || same == 0 || load_relaxed(&language_needs.place) ||
        m->asked[count - same].at == 0)
        return 0;
    memcpy(m->placed, m->asked, (count - same) * sizeof *m->placed);
    fill_addresses(m->placed, count - same);
    return same;
}

/* Like same_spine, for a stack that shares JOINED frames with the memo. Also place the frames, out
 * of COUNT language frames, and store in *RET_KNOWN the number of outer frames that spine_asked has
 * already. */
static uint32_t
join_spine(const struct thread *t, struct language_memo *m, uint32_t joined, uint32_t count,
           uint32_t *ret_known)
{
    uint32_t i = joined < m->spine_count ? joined : m->spine_count, known;

    *ret_known = 0;
    if (load_acquire(&language_count) > 1) {
        find_addresses(t, m, joined, count);
        return 0;
    }
    known = known_spine(t, m, joined, i, count);
    if (known == 0)
        find_addresses(t, m, joined, count);
    *ret_known = known;
    return same_spine(t, m, i, count, known);
}

/* --- Building --------------------------------------------------------------------------------- */

/* Like struct path, for the path of one language that the spine will have. */
struct joining {
    uint32_t joined; // Number of memo frames in the stack.
    uint32_t known;  // Number of outer language frames that spine_asked has already.
    uint32_t from;   // Number of the spine entry that the path begins with.
    uint32_t next;   // Number of the next C frame whose language frames are not in the path.
};

static inline void
keep_entry(struct language_memo *m, const struct path *path, uint32_t number)
{
    m->spine[number] = (struct language_spine){path->node, path->asked - path->left[0],
                                               path->frames, path->left_out};
}

/* Store the language frames that were added to PATH since there were BEFORE left to add. */
static inline void
keep_named(struct language_memo *m, const struct path *path, uint32_t before)
{
    for (; before > path->left[0]; before--) {
        m->spine_asked[path->asked - before] = m->placed[before - 1];
        m->spine_raw[path->asked - before] = m->asked[before - 1];
    }
}

/* Drop the spine entries that the new path will replace, because a handler may jump out of here. */
static void
begin_spine(struct language_memo *m, const struct joining *j)
{
    if (j->from < j->joined)
        m->spine_count = j->from;
    if (m->only != NULL) {
        // The path will replace all language frames inside the known ones.
        while (m->spine_count > 0 && m->spine[m->spine_count].asked > j->known)
            m->spine_count--;
        if (m->spine_same > j->known)
            m->spine_same = j->known;
    }
    signal_fence();
}

/* Build the rest of PATH from C frame J->next inwards. Requires that the placed frames that are not
 * yet in the path are assigned to C frames. The spine has the path afterwards. */
static void
extend_spine(struct language_memo *m, struct path *path, const struct joining *j)
{
    for (uint32_t i = j->next; i <= m->native_count; i++) {
        uint32_t before = path->left[0];

        if (path->run != NULL)
            add_all_in(path, m, i);
        else
            add_all_of(path, m, i);
        if (path->run != NULL) {
            signal_fence();
            language_run_extend(m, path->run, path->asked - path->left[0]);
            path->run = NULL;
        }
        if (m->only != NULL || (i <= j->joined && j->from != j->joined))
            keep_named(m, path, before);
        if (i <= j->joined && j->from != j->joined)
            keep_entry(m, path, i);
    }
    signal_fence();
    if (j->from < j->joined)
        m->spine_count = j->joined;
    if (m->only != NULL)
        m->spine_same = path->asked;
}

/* Return true if a path with COUNT named frames should omit the frames of the runtime. This is so
 * in a nearly full tree, which has no room for frames that readers hide. */
static bool
folds(uint32_t count)
{
    uint32_t *flags = &state->header->process_flags;

    if (count == 0 || likely(!nodes_are_scarce()))
        return false;
    if (!(load_relaxed(flags) & DISK_PROCESS_FOLDED))
        or_relaxed(flags, (uint32_t)DISK_PROCESS_FOLDED);
    return true;
}

/* Return the number of C frames that a path with `folds` set omits. */
static uint32_t
count_folded(struct language_memo *m)
{
    uint32_t n = 0;

    for (uint32_t i = 1; i <= m->native_count; i++)
        n += is_folded(language_facts_at(m, i), language_native_at(m, i)->pc);
    return n;
}

/* Build PATH without the spine. */
static uint32_t
merge_apart(struct language_memo *m, struct path *path)
{
    m->spine_count = 0;
    m->spine_same = 0;
    add_all_in(path, m, 0);
    for (uint32_t i = 1; i <= m->native_count; i++)
        add_all_of(path, m, i);
    return path->node;
}

/* Build the whole path. If it is too long, omit its outermost frames and keep depth_max frames. If
 * depth_max is the limit, keep only half of that, so that the path can grow before it is cut
 * again. */
static uint32_t
merge_all(struct language_memo *m, uint32_t joined, uint32_t count)
{
    bool placed = language_path_place(m, 0, count, 1);
    uint32_t named = count + find_codes(m, 1, count), frames = m->native_count + named;
    bool keeps = placed && m->native_count > 0 && load_acquire(&language_count) == 1;
    struct path path = {.node = m->root, .folds = folds(named), .asked = count};
    const struct joining j = {.joined = joined, .next = 1};

    if (unlikely(path.folds) && frames > stack_state()->depth_max)
        frames -= count_folded(m);
    if (frames > stack_state()->depth_max) {
        keeps = keeps && stack_state()->depth_max == LIMIT_DEPTH;
        path.left_out = frames - (keeps ? LIMIT_DEPTH / 2 : stack_state()->depth_max);
        path.node = DISK_NODE_TRUNCATED;
    }
    memcpy(path.left, m->ends, sizeof path.left);
    if (!keeps)
        return merge_apart(m, &path);
    begin_spine(m, &j);
    m->spine[0] = (struct language_spine){.node = path.node, .left_out = path.left_out};
    if (joined > 0)
        m->spine_is_cut = path.left_out > 0;
    add_all_in(&path, m, 0);
    extend_spine(m, &path, &j);
    return path.node;
}

/* Append a frame to FRAMES. Return false if FRAMES is full afterwards. */
static inline bool
add_short(struct nodes_frame *frames, uint32_t *count, uint64_t frame, uint32_t flags)
{
    frames[(*count)++] = (struct nodes_frame){frame, flags};
    return *count < NODES_SHORT_FRAMES;
}

/* Store the innermost frames of both kinds in FRAMES. If FOLDS, omit the runtime's frames. Requires
 * that the placed frames are assigned to C frames. Return the number of stored frames. */
static uint32_t
find_innermost(struct language_memo *m, struct nodes_frame *frames, bool folds)
{
    uint32_t number = load_acquire(&language_count), from[LANGUAGES] = {0}, n = 0;
    bool more = true;

    for (uint32_t l = 1; l < number; l++)
        from[l] = m->ends[l - 1];
    for (uint32_t i = m->native_count + 1; i-- > 0 && more;) {
        const struct native_facts *f = i > 0 ? language_facts_at(m, i) : NULL;
        bool of_runtime = i > 0 && language_is_runtime(language_native_at(m, i)->pc);

        for (uint32_t l = number; l-- > 0;)
            for (; more && from[l] < m->ends[l] && m->inside[from[l]] == i; from[l]++)
                more = add_short(frames, &n, named_frame(m->placed[from[l]].id), 0);
        if (more && f != NULL && f->code != 0)
            more = add_short(frames, &n, named_frame(f->code), 0);
        if (more && f != NULL && !(folds && is_folded(f, language_native_at(m, i)->pc)))
            more = add_short(frames, &n, f->frame,
                             f->flags | (of_runtime ? (uint32_t)DISK_NODE_RUNTIME : 0));
    }
    return n;
}

/* Return a node with the innermost frames of a stack that does not fit into the tree. Omit runtime
 * frames if other frames represent them. */
static COLD uint32_t
language_path_shorten(struct thread *t, struct language_memo *m, uint32_t joined, uint32_t count)
{
    struct nodes_frame frames[NODES_SHORT_FRAMES];
    uint32_t named, n;

    language_natives_outer(t, m, joined, 1);
    find_addresses(t, m, joined, count);
    language_path_place(m, 0, count, 1);
    named = count + find_codes(m, 1, count);
    n = find_innermost(m, frames, folds(named));
    if (n > stack_state()->depth_max)
        return nodes_shorten(frames, stack_state()->depth_max, DISK_NODE_TRUNCATED);
    return nodes_shorten(frames, n, m->root);
}

/* Return the number of the first C frame from FIRST inwards that contains ADDRESS; 0 if none does.
 * FIRST is at least 2. */
static uint32_t
native_inwards(struct language_memo *m, uint64_t address, uint32_t first)
{
    for (uint32_t i = first; i <= m->native_count; i++) {
        uint64_t slot = language_native_at(m, i)->slot;

        if (slot != 0 && slot < address && address < language_native_at(m, i - 1)->slot)
            return i;
    }
    return 0;
}

/* Extend PATH, which is spine entry J->from, up to the C frame that contains the next language
 * frame, and by the unchanged language frames in its run. */
static void
join_run(struct language_memo *m, struct path *path, struct joining *j)
{
    uint32_t done = path->asked - path->left[0], last, omitted;
    uint32_t number = native_inwards(m, place_at(m, done, j->known, path->asked), j->next);
    struct language_run *r;

    if (number == 0)
        return;
    for (; j->next <= number; j->next++) {
        add_native(path, m, j->next);
        if (j->next < number && j->next <= j->joined)
            keep_entry(m, path, j->next);
    }
    j->next = number;
    path->run = r = language_run_of(m, number, path->node, path->left_out, done);
    last = language_run_last(m, r);
    if (last > j->known)
        last = j->known;
    // The addresses of language frames do not rise inwards, so the frames between are there too.
    if (last <= done || m->spine_asked[last - 1].at <= r->slot)
        last = done;
    omitted = last - done < path->left_out ? last - done : path->left_out;
    path->left_out -= omitted;
    path->frames += last - done - omitted;
    path->left[0] = path->asked - last;
    if (last > done)
        path->node = r->nodes[last];
    language_run_extend(m, r, last);
    signal_fence();
}

/* Return the node of the path that begins with spine entry J->from and has COUNT language frames.
 * Return DISK_NODE_ROOT if the whole path must be built. */
static uint32_t
merge_inner(struct thread *t, struct language_memo *m, struct joining *j, uint32_t count)
{
    const struct language_spine *s = &m->spine[j->from];
    struct path path = {.node = s->node,
                        .left_out = s->left_out,
                        .frames = s->frames,
                        .left = {count - s->asked},
                        .folds = folds(count),
                        .asked = count};
    uint32_t left, frames;

    // C frame J->from is needed too: it bounds the frames inside it.
    language_natives_outer(t, m, j->joined, j->from);
    begin_spine(m, j);
    if (m->only != NULL && s->asked < count && !load_relaxed(&language_needs.code))
        join_run(m, &path, j);
    left = path.left[0];
    for (uint32_t n = count - left; n < j->known; n++)
        m->placed[count - 1 - n] = m->spine_asked[n];
    if (!language_path_place(m, 0, left, j->next))
        return DISK_NODE_ROOT;
    frames = path.frames + left + m->native_count - j->next + (path.run == NULL) +
             find_codes(m, j->next, left);
    // A cut path omits outer frames. If the stack has become short, these frames would fit again.
    if (frames > stack_state()->depth_max + path.left_out ||
        (m->spine_is_cut && frames < LIMIT_DEPTH / 4 + path.left_out))
        return DISK_NODE_ROOT;
    extend_spine(m, &path, j);
    return path.node;
}

/* Return the number of the innermost spine entry, at most I, that has no language frames and can
 * begin the path of a plain stack. Return 0 if there is none. */
static uint32_t
plain_spine(const struct language_memo *m, uint32_t i)
{
    if (m->spine_is_cut)
        return 0;
    while (i > 0 && m->spine[i].asked > 0)
        i--;
    return i;
}

uint32_t
language_plain_path(struct thread *t, struct language_memo *m, const struct stack_target *target,
                    uint32_t joined)
{
    uint32_t count = m->spine_count, begins = plain_spine(m, joined < count ? joined : count);
    uint32_t node = begins > 0 ? m->spine[begins].node : m->root;
    bool extends = joined > count && begins == count;

    memset(m->ends, 0, sizeof m->ends); // The adapters may not have been asked.
    if (unlikely(m->native_count > stack_state()->depth_max))
        return language_path(t, m, target, 0);
    if (extends && begins == 0) {
        m->spine[0] = (struct language_spine){.node = node};
        m->spine_is_cut = false;
    }
    for (uint32_t i = begins + 1; i <= m->native_count; i++) {
        const struct native_facts *f = language_facts_at(m, i);

        node = nodes_child(node, f->frame, f->flags);
        if (extends && i <= joined)
            m->spine[i] = (struct language_spine){.node = node, .frames = i};
    }
    signal_fence();
    if (extends && load_acquire(&language_count) == 1)
        m->spine_count = joined;
    return likely(node != DISK_NODE_OTHER) ? node : language_path(t, m, target, 0);
}

uint32_t
language_path(struct thread *t, struct language_memo *m, const struct stack_target *target,
              uint32_t count)
{
    struct joining j = {.joined = language_natives_inner(t, m, target)};
    uint32_t node;

    j.from = join_spine(t, m, j.joined, count, &j.known);
    if (j.from > 0) {
        if (j.known < m->spine[j.from].asked)
            j.known = m->spine[j.from].asked;
        j.next = j.from + 1;
        node = merge_inner(t, m, &j, count);
        if (node != DISK_NODE_ROOT)
            return node != DISK_NODE_OTHER ? node : language_path_shorten(t, m, j.joined, count);
    }
    if (j.known > 0)
        find_addresses(t, m, j.joined, count);
    language_natives_outer(t, m, j.joined, 1);
    node = merge_all(m, j.joined, count);
    return node != DISK_NODE_OTHER ? node : language_path_shorten(t, m, j.joined, count);
}
