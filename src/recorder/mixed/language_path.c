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
 * again.
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

/* Return the number of the answer's outermost frames that equal the spine's frames up to entry I.
 * COUNT is the length of the answer. */
static uint32_t
count_same(struct language_memo *m, uint32_t i, uint32_t count)
{
    const struct heaptap_frame *outermost = m->asked + count;
    uint32_t same = m->spine_same, max = m->spine[i].asked < count ? m->spine[i].asked : count;

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
    // Find the C frame that contained the innermost reused frame.
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

/* Append C frame NUMBER and the language frames inside it. If NUMBER is 0, append the language
 * frames outside all C frames. */
static void
add_all_in(struct path *path, struct language_memo *m, uint32_t number)
{
    uint32_t languages_present = load_acquire(&language_count);

    if (number > 0) {
        add_native(path, m, number);
        if (language_facts_at(m, number)->code != 0)
            language_path_add_named(path, language_facts_at(m, number)->code);
    }
    for (uint32_t l = 0; l < languages_present; l++)
        while (has_placed(m, path, l, number))
            language_path_add_named(path, m->placed[--path->left[l]].id);
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
    // A cut path omits outer frames. If the stack has become short, these frames would fit again.
    if (m->spine_first > 0 && (i < m->spine_first || m->spine[i].frames < LIMIT_DEPTH / 4))
        return 0;
    return i;
}

/* Return the number of outer language frames whose places in the spine up to entry I are proved,
 * and place the other frames. If no place is proved, place no frame and return 0. */
static uint32_t
known_spine(const struct thread *t, struct language_memo *m, uint32_t joined, uint32_t i,
            uint32_t count)
{
    uint32_t same = m->spine_same;

    if (places_inner())
        return place_inner(t, m, joined, i, count);
    // A frame without an address gets the address of the next inner frame, which may have changed.
    if (m->only == NULL || same == 0 || load_relaxed(&language_needs.place) ||
        m->asked[count - same].at == 0)
        return 0;
    same = same < m->spine[i].asked ? same : m->spine[i].asked;
    memcpy(m->placed, m->asked, (count - same) * sizeof *m->placed);
    fill_addresses(m->placed, count - same);
    return same;
}

/* Like same_spine, for a stack that shares JOINED frames with the memo. Also place the frames, out
 * of COUNT language frames, that are inside the spine entry; if the result is 0, place all
 * frames. */
static uint32_t
join_spine(const struct thread *t, struct language_memo *m, uint32_t joined, uint32_t count)
{
    uint32_t i = joined < m->spine_count ? joined : m->spine_count, known, from;

    if (load_acquire(&language_count) > 1) {
        find_addresses(t, m, joined, count);
        return 0;
    }
    known = known_spine(t, m, joined, i, count);
    if (known == 0)
        find_addresses(t, m, joined, count);
    from = same_spine(t, m, i, count, known);
    for (uint32_t n = from > 0 ? m->spine[from].asked : 0; n < known; n++)
        m->placed[count - 1 - n] = m->spine_asked[n];
    return from;
}

/* Build the rest of the path from spine entry FROM inwards, and return its node. Requires that the
 * placed frames, out of COUNT, that are not yet in the path are assigned to C frames. If KEEPS, the
 * spine covers the memo up to JOINED afterwards. */
static uint32_t
language_path_make_path(struct language_memo *m, struct path *path, uint32_t from, uint32_t joined,
                        uint32_t count, bool keeps)
{
    if (from == 0)
        add_all_in(path, m, 0);
    if (keeps && from < joined) {
        // Mark the entry as absent until it is complete, because a handler may jump out of here.
        m->spine_count = from;
        if (from == 0)
            m->spine_first = path->left_out > 0 ? LIMIT_DEPTH + 1 : 0;
        signal_fence();
    }
    for (uint32_t i = from + 1; i <= m->native_count; i++) {
        uint32_t before = path->left[0];

        add_all_in(path, m, i);
        if (!keeps || i > joined || from == joined)
            continue;
        for (; before > path->left[0]; before--) {
            m->spine_asked[count - before] = m->placed[before - 1];
            m->spine_raw[count - before] = m->asked[before - 1];
        }
        m->spine[i] = (struct language_spine){path->node, count - path->left[0], path->frames};
        if (path->left_out == 0 && m->spine_first > i)
            m->spine_first = i;
    }
    signal_fence();
    if (keeps && from < joined) {
        m->spine_count = joined;
        if (m->only != NULL && m->spine_same < m->spine[joined].asked)
            m->spine_same = m->spine[joined].asked;
    }
    return path->node;
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

/* Build the whole path. If it is too long, omit its outermost frames and keep depth_max frames. If
 * depth_max is the limit, keep only half of that, so that the path can grow before it is cut
 * again. */
static uint32_t
merge_all(struct language_memo *m, uint32_t joined, uint32_t count)
{
    bool placed = language_path_place(m, 0, count, 1);
    uint32_t named = count + find_codes(m, 1, count), frames = m->native_count + named;
    bool keeps = placed && m->native_count > 0 && load_acquire(&language_count) == 1;
    struct path path = {.node = m->root, .folds = folds(named)};

    if (unlikely(path.folds) && frames > stack_state()->depth_max)
        frames -= count_folded(m);
    if (frames > stack_state()->depth_max) {
        keeps = keeps && stack_state()->depth_max == LIMIT_DEPTH;
        path.left_out = frames - (keeps ? LIMIT_DEPTH / 2 : stack_state()->depth_max);
        path.node = DISK_NODE_TRUNCATED;
    }
    memcpy(path.left, m->ends, sizeof path.left);
    if (!keeps)
        m->spine_count = 0;
    m->spine[0] = (struct language_spine){.node = path.node};
    return language_path_make_path(m, &path, 0, joined, count, keeps);
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

uint32_t
language_path(struct thread *t, struct language_memo *m, const struct stack_target *target,
              uint32_t count)
{
    uint32_t joined = language_natives_inner(t, m, target), from, left, node;
    struct path path;

    from = join_spine(t, m, joined, count);
    if (from > 0) {
        left = count - m->spine[from].asked;
        language_natives_outer(t, m, joined, from); // C frame FROM is needed too: it bounds the
                                                    // frames inside it.
        path = (struct path){.node = m->spine[from].node,
                             .frames = m->spine[from].frames,
                             .left = {left},
                             .folds = folds(count)};
        if (language_path_place(m, 0, left, from + 1) &&
            path.frames + left + m->native_count - from + find_codes(m, from + 1, left) <=
                stack_state()->depth_max) {
            node = language_path_make_path(m, &path, from, joined, count, true);
            return node != DISK_NODE_OTHER ? node : language_path_shorten(t, m, joined, count);
        }
        find_addresses(t, m, joined, count);
    }
    language_natives_outer(t, m, joined, 1);
    node = merge_all(m, joined, count);
    return node != DISK_NODE_OTHER ? node : language_path_shorten(t, m, joined, count);
}
