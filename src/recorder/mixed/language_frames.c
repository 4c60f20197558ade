/* language_frames.c: merges frames of the program's own language with C frames.
 *
 * An adapter (heaptap/language.h) reads the frames of one runtime. At each allocation, the recorder
 * calls each adapter, which returns the functions of its language that run in the thread. The
 * recorder merges these answers with the C stack that stack.c found (language_path.c), and caches
 * the resulting node.
 *
 * Exactness. The merged node depends on only two inputs: the C frames with their addresses, and the
 * answers of the adapters. The memo proves the C frames at each event; the target's stamp and the
 * memo's version identify them. The answers are compared word by word. A cached node is reused only
 * if both are equal. So a language frame that changes leads to another node even when the C frames
 * stay the same.
 *
 * The recorder calls an adapter's `place` only on a cache miss, so its result must depend on its
 * arguments alone. An adapter that caches its frames (frames_again) returns the number of outer
 * frames that are unchanged since the previous event. Each frame then has the serial number of the
 * answer that last changed it. Each cached node has the serial number of the latest answer that was
 * equal to the node's answer. A frame whose number is not newer than the node's is unchanged, so
 * only newer frames are compared. An unchanged answer has the same number as before, so one
 * comparison finds the node of the previous event.
 *
 * Deep stacks. A path has only the innermost depth_max frames of a stack. The recorder reads this
 * number of frames of an answer, and one more that shows that the stack is cut
 * (language_frames_wanted); an adapter need not read further out. With frames_again, the frames of
 * a cut answer are numbered from its outermost frame on, so they have serial numbers too. Other
 * cut answers, and all if depth_max is below the limit, are compared as a whole with the latest
 * such answers, so the node of a repeated recursion is found.
 *
 * Processes without an adapter have no cost. With an adapter, tls.needs_slow_path is set
 * (thread.h), and events take the slow path. *Plain* stacks, whose C frames include no code of a
 * runtime, are an exception. An adapter that finds its frames from the C stack (`look`), or whose
 * frames need a C frame of the runtime (`only_in_code`), has no frames in a plain stack. The node
 * of a plain stack is then constant. It is stored in the stack's target, which is then *settled*:
 * its allocations may take the fast path, and no event of the stack calls an adapter. A program
 * that embeds an idle interpreter has plain stacks only. */
#define HEAPTAP_IS_RECORDER

#include "mixed/language_frames.h"

#include <string.h>

#include "account/account_state.h"
#include "account/label.h"
#include "platform/mem.h"
#include "stack/short.h"

/* Return true if TARGET, a stack of a thread with languages, has the node that counts its blocks.
 * The C frames of such a thread have no nodes (path_ids.c), so only plain stacks have one. */
static inline bool
is_settled(const struct stack_target *target)
{
    return nodes_of(target->sites) != DISK_NODE_OTHER;
}

static struct language_memo *
memo_of(struct thread *t)
{
    if (unlikely(t->language == NULL)) {
        struct language_memo *m = mem_private(sizeof *m);

        if (m == NULL)
            return NULL;
        m->latest = m->kept;
        signal_fence();
        t->language = m;
    }
    return t->language;
}

/* Return a hash of TARGET and of the innermost frames of an answer that has COUNT frames. */
static inline uint32_t
language_frames_hash_of(const struct language_memo *m, const struct stack_target *target,
                        uint32_t count)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    const struct heaptap_frame *f = m->asked;
    uint64_t hash = target->stamp + ((uint64_t)count << 32);

    if (likely(count >= 4))
        hash ^= ((uint64_t)f[0].id << 13) ^ ((uint64_t)f[1].id << 26) ^ ((uint64_t)f[2].id << 39) ^
                (uint64_t)f[3].id << 5;
    else if (count > 0)
        hash ^= (uint64_t)f[0].id << 13;
    return (uint32_t)(hash * factor >> 32);
}

/* Return true if the answer, of COUNT frames, equals K's answer. If both have serial numbers,
 * compare only the frames that changed since K's answer. Return false if K does not have all of
 * these frames. */
static inline bool
is_answer(const struct language_kept *k, const struct language_memo *m, uint32_t count)
{
    if (m->only == NULL)
        return count <= LANGUAGE_KEPT_FRAMES && language_are_same(k->frames, m->asked, count);
    for (uint32_t i = 0; i < count && m->only->since[count - i] > k->serial; i++)
        if (i == LANGUAGE_KEPT_FRAMES || !language_are_same(&k->frames[i], &m->asked[i], 1))
            return false;
    return true;
}

static inline bool
is_of_target(const struct language_found *f, const struct thread *t,
             const struct stack_target *target)
{
    return f->stamp == target->stamp && f->version == t->memo_version && f->sites == target->sites;
}

static inline bool
is_kept(const struct language_kept *k, const struct thread *t, const struct stack_target *target,
        uint32_t count)
{
    return is_of_target(&k->found, t, target) && k->found.count == count &&
           is_answer(k, t->language, count);
}

/* --- Calling adapters ------------------------------------------------------------------------- */

/* Let the adapters examine the C stack of TARGET, and store their notes in N. */
static void
language_frames_look(struct thread *t, struct language_memo *m, const struct stack_target *target,
                     struct language_noted *n)
{
    uint32_t number = load_acquire(&language_count);

    n->stamp = 0;
    signal_fence();
    language_natives_outer(t, m, language_natives_inner(t, m, target), 1);
    memset(n->notes, 0, sizeof n->notes);
    for (uint32_t i = 0; i < number; i++)
        if (language_adapters[i]->look != NULL)
            language_adapters[i]->look(language_native_at(m, m->native_count), m->native_count,
                               n->notes[i]);
    n->version = t->memo_version;
    n->sites = target->sites;
    signal_fence();
    n->stamp = target->stamp;
}

/* Return the adapters' notes about the C stack of TARGET. */
static const struct language_noted *
notes_of(struct thread *t, struct language_memo *m, const struct stack_target *target)
{
    struct language_noted *n =
        target->stamp != 0 ? &m->noted[target->stamp % LANGUAGE_NOTED] : &m->uncached;

    if (unlikely(n->stamp != target->stamp || n->version != t->memo_version ||
                 n->sites != target->sites || target->stamp == 0))
        language_frames_look(t, m, target, n);
    return n;
}

/* Call L, which is adapter number I and reports unchanged frames. L stores its answer at the end of
 * the result's `frames`. Return NULL if memory is exhausted. */
static INLINE struct language_said *
ask_again(struct language_memo *m, const struct heaptap_language *l, uint32_t i,
          const struct language_noted *noted, size_t *ret_same)
{
    struct language_said *s = m->said[i];
    uint32_t before;
    bool was_whole;

    if (unlikely(s == NULL))
        s = m->said[i] = mem_private(sizeof *s + l->memo_bytes);
    if (unlikely(s == NULL))
        return NULL;
    was_whole = s->is_whole;
    before = s->count;
    s->is_whole = false;
    signal_fence();
    s->count = (uint32_t)l->frames_again(s->frames + HEAPTAP_FRAMES_MAX, s->memo,
                                         noted != NULL ? noted->notes[i] : NULL, ret_same);
    if (unlikely(!was_whole))
        *ret_same = 0;
    // With fewer frames in a path, each path is built from all of its frames, so only these are
    // compared.
    if (unlikely(s->count > language_frames_wanted()) && stack_state()->depth_max < LIMIT_DEPTH)
        return s;
    if (*ret_same != s->count || s->count != before || unlikely(!was_whole)) {
        if (m->spine_same > *ret_same)
            m->spine_same = (uint32_t)*ret_same;
        language_runs_change(m, (uint32_t)*ret_same);
        s->serial++;
        for (uint32_t n = (uint32_t)*ret_same + 1; n <= s->count; n++)
            s->since[n] = s->serial;
    }
    signal_fence();
    s->is_whole = true;
    return s;
}

/* Call the only language, which reports unchanged frames. Return the number of frames in its
 * answer. */
static uint32_t
ask_only(struct language_memo *m, const struct language_noted *noted)
{
    size_t same;
    const struct language_said *s = ask_again(m, language_adapters[0], 0, noted, &same);
    uint32_t count = s != NULL ? s->count : 0;

    m->only = s != NULL && s->is_whole ? s : NULL;
    if (m->only == NULL) {
        m->spine_same = 0;
        if (count > language_frames_wanted())
            count = language_frames_wanted();
    }
    m->asked = s != NULL ? s->frames + HEAPTAP_FRAMES_MAX - s->count : m->answer;
    m->ends[0] = count;
    return count;
}

/* Store up to MAX frames of language number I in TO. Return the number of stored frames. For a
 * language without frames_again, the result may be larger than MAX. */
static size_t
ask_one(struct language_memo *m, uint32_t i, const struct language_noted *noted,
        struct heaptap_frame *to, size_t max)
{
    const struct heaptap_language *l = language_adapters[i];
    const struct language_said *s;
    size_t same;

    if (l->frames_again == NULL)
        return l->frames(to, max);
    s = ask_again(m, l, i, noted, &same);
    if (s == NULL)
        return 0;
    max = max < language_frames_wanted() ? max : language_frames_wanted();
    max = s->count < max ? s->count : max;
    memcpy(to, s->frames + HEAPTAP_FRAMES_MAX - s->count, max * sizeof *to);
    return max;
}

/* Call the adapters of all languages. Return the number of frames in the answer. */
static inline uint32_t
language_frames_ask(struct thread *t, struct language_memo *m, const struct stack_target *target)
{
    uint32_t count = 0, number = load_acquire(&language_count);
    const struct language_noted *noted =
        load_relaxed(&language_needs.look) ? notes_of(t, m, target) : NULL;

    if (number == 1 && language_adapters[0]->frames_again != NULL)
        return ask_only(m, noted);
    m->asked = m->answer;
    m->only = NULL;
    m->spine_same = 0;
    for (uint32_t i = 0; i < number; i++) {
        size_t max = LIMIT_DEPTH - count, n = ask_one(m, i, noted, m->answer + count, max);

        count += (uint32_t)(n < max ? n : max);
        m->ends[i] = count;
    }
    return count;
}

/* Store NODE, for an answer of COUNT frames, in F. Store up to MAX of the answer's frames in
 * FRAMES. */
static void
keep_found(struct language_found *f, struct heaptap_frame *frames, uint32_t max,
           const struct thread *t, const struct stack_target *target, uint32_t count, uint32_t node)
{
    // Mark F as unused until it is complete, because a handler may jump out of here.
    f->stamp = 0;
    signal_fence();
    f->node = node;
    f->version = t->memo_version;
    f->sites = target->sites;
    f->count = count;
    memcpy(frames, t->language->asked, (count < max ? count : max) * sizeof *frames);
    signal_fence();
    f->stamp = target->stamp;
    signal_fence();
}

static void
language_frames_keep(struct language_kept *k, const struct thread *t,
                     const struct stack_target *target, uint32_t count, uint32_t node)
{
    struct language_memo *m = t->language;
    const struct language_said *only = m->only;

    if (target->stamp == 0)
        return;
    if (unlikely(!m->kept_touched)) {
        // An entry is read before it is written, so each page would fault twice.
        m->kept_touched = true;
        mem_touch(m->kept, m->kept + LANGUAGE_KEPT);
    }
    k->serial = 0;
    keep_found(&k->found, k->frames, LANGUAGE_KEPT_FRAMES, t, target, count, node);
    k->serial = only != NULL ? only->serial : 0;
}

/* Return the node for a long answer without serial numbers. */
static NOINLINE uint32_t
merge_deep(struct thread *t, struct language_memo *m, const struct stack_target *target,
           uint32_t count)
{
    struct language_deep *d = &m->deep[language_frames_hash_of(m, target, count) % LANGUAGE_DEEP];
    uint32_t node;

    if (likely(is_of_target(&d->found, t, target)) && likely(d->found.count == count) &&
        likely(language_are_all_same(d->frames, m->asked, count)))
        return d->found.node;
    node = language_path(t, m, target, count);
    if (target->stamp != 0)
        keep_found(&d->found, d->frames, LIMIT_DEPTH, t, target, count, node);
    return node;
}

uint32_t
language_merge(struct thread *t, const struct stack_target *target)
{
    struct language_memo *m;
    uint32_t count, node;
    struct language_kept *k;

    if (!t->merges || is_settled(target) || (m = memo_of(t)) == NULL)
        return nodes_of(target->sites);
    count = language_frames_ask(t, m, target);
    // Fast path: the answer is complete, and is the same as at the latest event.
    if (m->only != NULL && m->latest->serial == m->only->serial &&
        likely(is_of_target(&m->latest->found, t, target)))
        return m->latest->found.node;
    if (unlikely(count > LANGUAGE_KEPT_FRAMES) && m->only == NULL)
        return merge_deep(t, m, target, count);
    k = m->latest = &m->kept[language_frames_hash_of(m, target, count) % LANGUAGE_KEPT];
    if (likely(is_kept(k, t, target, count))) {
        if (m->only != NULL)
            k->serial = m->only->serial;
        return k->found.node;
    }
    node = language_path(t, m, target, count);
    language_frames_keep(k, t, target, count, node);
    return node;
}

/* --- Plain stacks ----------------------------------------------------------------------------- */

/* A counter that no block fits, for targets of stacks that are not plain. */
static struct disk_counter mixed_counter = {.size_min = UINT64_MAX / 2, .size_max = UINT64_MAX / 2};

/* Return true if no C frame of TARGET, which shares JOINED frames with the memo, is code of a
 * runtime. M has the C frames afterwards. If an adapter judges by that alone,
 * return false for a stack that lacks outer frames. Return false also on stacks other than the
 * thread's own, which have no stamp: the functions of the language may run on another stack. */
static bool
is_plain(struct thread *t, struct language_memo *m, const struct stack_target *target,
         uint32_t joined)
{
    uint32_t from;

    if (m->plain > m->natives_same)
        m->plain = m->natives_same;
    from = m->plain < joined ? m->plain : joined;
    language_natives_outer(t, m, joined, from + 1);
    if (load_relaxed(&language_needs.whole) && (target->stamp == 0 || m->root != DISK_NODE_ROOT))
        return false;
    for (uint32_t i = from + 1; i <= m->native_count; i++) {
        if (language_is_runtime(language_native_at(m, i)->pc))
            return false;
        if (m->plain == i - 1 && i <= m->natives_same)
            m->plain = i;
    }
    return true;
}

/* If TARGET's stack is plain, store the sites that count its blocks in TARGET, and return true.
 * Otherwise let no block fit TARGET's counters, and return false. */
static COLD bool
settle(struct thread *t, struct stack_target *target)
{
    struct language_memo *m;
    uint32_t joined, node;

    // Without languages, a signal handler has set a label since the event began.
    if (load_acquire(&language_count) == 0 || target->counter[0] == &mixed_counter)
        return false;
    if (is_settled(target) || !t->merges)
        return true;
    if ((m = memo_of(t)) != NULL) {
        joined = language_natives_inner(t, m, target);
        // With `look`, an adapter has no frames in a plain stack. Other adapters are asked once.
        if (is_plain(t, m, target, joined) &&
            (!load_relaxed(&language_needs.whole) || language_frames_ask(t, m, target) == 0)) {
            node = language_plain_path(t, m, target, joined);
            target->sites = account_state()->nodes[node].site;
            return true;
        }
    }
    for (uint32_t i = 0; i < DISK_SIZE_CLASSES; i++)
        target->counter[i] = &mixed_counter;
    return false;
}

uint32_t *
language_sites_separate(struct thread *t, struct stack_target *target)
{
    if (short_has(t, target))
        return target->sites;
    // A settled target leads language_merge to its node.
    if (!is_settled(target) && language_is_bound())
        settle(t, target);
    return account_state()->nodes[label_here(language_merge(t, target))].site;
}

COLD uint32_t *
language_constant_sites_separate(struct thread *t, struct stack_target *target)
{
    return short_has(t, target) || settle(t, target) ? target->sites : NULL;
}
