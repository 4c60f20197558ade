/* language_frames.c: the frames of the program's own language, put between those of C.
 *
 * An adapter (heaptap/language.h) knows a runtime. At each allocation of a process that has one it
 * is asked which functions of the language run in the thread, and what it says is merged with the C
 * stack that stack.c has found:
 *
 *     C frames, by slot          frames of the language, by address      the path in the tree
 *
 *     malloc's caller  s0
 *     luaH_resize      s1        s2 < a0:  "insert" fill.lua:7           luaH_resize
 *     luaV_execute     s2        s2 < a1:  "fill"   fill.lua:19          "insert"
 *     lua_pcall        s3                                                "fill"
 *     main             s4                                                luaV_execute …
 *
 * A frame whose address lies between the slots of two C frames stands inside of the outer one: it
 * becomes a child of that, and the parent of what that had called. C frames stay in the tree, all
 * of them; those of the runtime get a flag, so that readers can leave them out.
 *
 * Exact, and never remembered unasked. The merged node follows from two things alone: which C
 * frames there are at which addresses, and what the adapters answer. The former is proved by the
 * memo for each event; it is told by the stamp of the target and the version of the memo. The
 * latter is compared word by word. So a node that was found before is taken again only if both are
 * equal, and a language frame that changes while the C frames beneath it do not changes the
 * answer. An adapter's `place` is asked only for what is not kept, which is why it must follow from
 * its arguments. An adapter that remembers what it has read (frames_again) says which outer frames
 * are as they were at the event before. Then each frame has the number of the answer since which it
 * has been there, and what was kept has that of the latest answer that it was: frames that are
 * older than that are the same, and only the others are compared. An answer that has not changed at
 * all keeps its number, so one comparison says that what was found the time before is right again.
 *
 * Deep stacks. What comes next has mostly the outer frames of what came before, so its path has
 * them too. The nodes of the path that the remembered stack has are kept by frame, the *spine*,
 * with how many frames of the language are placed up to there. A new path is made only from the
 * innermost frame on at which all that is outside is proved to be the same: the C frames by
 * stack.c, which says how many of them have stayed, the frames of the language word by word.
 *
 *     memo       [1] main … [40] ecl_interpret  [41] ecl_interpret │ [42] cl_list
 *     spine           node          node             node          │  made for this event
 *     asked           ──────── so many are the same ───────        │  the rest
 *
 * Of an adapter that says which outer frames are as they were, these are neither compared nor
 * placed again.
 *
 * An adapter that says where frames are only when it has seen the C frames is not asked again about
 * those outside, either, if it can do with the inner ones (place_inner).
 *
 * That holds for frames that are told by their address. If one was put beside another, or several
 * languages run, all is made again.
 *
 * Threads of processes without an adapter pay nothing: one that has any is apart (thread.h), and
 * goes the general way.
 *
 * An adapter that says nonsense costs nothing but its names: addresses that fit nowhere put a frame
 * beside the one before, and the path has no more frames than a stack may have.
 */
#define HEAPTAP_IS_RECORDER

#include "stack/language_frames.h"

#include <string.h>

#include "account/named.h"
#include "heaptap/language.h"
#include "platform/mem.h"
#include "stack/rules.h"

enum {
    LANGUAGES = 4,
    RUNTIME_RANGES = 64,
    KEPT = 256,       // Answers with their nodes, a power of two;
    KEPT_FRAMES = 61, // so many of their frames, from the innermost on.
    NOTED = 256,      // A power of two.
};

struct kept {
    uint32_t stamp; // Of the target; 0 = unused.
    uint32_t node;
    uint64_t version; // Of the memo.
    uint32_t *sites;  // Of the target.
    uint64_t serial;  // Of an answer that was this one.
    uint32_t count;
    struct heaptap_frame frames[KEPT_FRAMES];
};

/* The answers of a language that says which outer frames are as before. They are counted from the
 * outermost, 1, on, and number N ends at N frames before the end. */
struct said {
    uint64_t serial; // Of the latest one.
    bool is_whole;   // No handler has jumped out of it.
    uint32_t count;
    uint64_t since[HEAPTAP_FRAMES_MAX + 1]; // By number: the answer since which it is the same.
    struct heaptap_frame frames[HEAPTAP_FRAMES_MAX];
    uint64_t memo[]; // The adapter's.
};

/* What adapters have noted of a C stack. */
struct noted {
    uint32_t stamp; // Of the target; 0 = unused.
    uint64_t version;
    uint32_t *sites;
    unsigned long notes[LANGUAGES][HEAPTAP_NOTES];
};

/* A C frame besides what adapters see of it. */
struct native_facts {
    uint64_t frame; // Of its node,
    uint32_t flags; // and its flags.
    uint32_t code;  // The id of the compiled function that it is; 0 = none.
};

/* The merged path from its outermost frame to a C frame with all that stands inside of it. */
struct spine {
    uint32_t node;
    uint32_t asked;  // So many of the asked frames, from the outermost on, are in it.
    uint32_t frames; // Of both kinds.
};

/* What a thread needs to ask and to remember answers. C frames are counted from the outermost, 1,
 * on, as in the memo. */
struct language_memo {
    const struct heaptap_frame *asked; // The answer: one that was said, or:
    struct heaptap_frame answer[LIMIT_DEPTH + 1];
    struct said *said[LANGUAGES];
    const struct said *only; // The answer is this, of the only language, whole.
    struct heaptap_frame placed[LIMIT_DEPTH + 1]; // The same where addresses are known.
    uint32_t inside[LIMIT_DEPTH + 1]; // By placed frame: number of the C frame it is inside of.
    uint32_t ends[LANGUAGES];         // Where in those the frames of each language end.
    // Number N is at LIMIT_DEPTH - N, so that they lie innermost first and the outer ones stay.
    struct heaptap_native natives[LIMIT_DEPTH];
    struct native_facts facts[LIMIT_DEPTH];
    uint32_t native_count;
    uint32_t natives_same; // So many, from the outermost on, are those of the memo already.
    uint32_t root;         // What the outermost of them hangs on.
    // Of the memo's frames [spine_first, spine_count]; what is before has been cut. At 0 the root.
    struct spine spine[LIMIT_DEPTH + 1];
    uint32_t spine_first, spine_count;
    // The frames of the language in it, outermost first: placed, and as they were asked.
    struct heaptap_frame spine_asked[LIMIT_DEPTH + 1];
    struct heaptap_frame spine_raw[LIMIT_DEPTH + 1];
    uint32_t spine_same; // So many of them are the answer's, which is whole; perhaps more are.
    struct kept kept[KEPT];
    struct kept *latest; // Of them.
    struct noted noted[NOTED];
    struct noted strange; // Of a stack that cannot be told again.
};

uint32_t language_count;
static const struct heaptap_language *languages[LANGUAGES];
static uint32_t looking; // Atomic: some of them look at the C stack,
static uint32_t coding;  // some know names of compiled code,
static uint32_t placing; // and some need all C frames to say where frames are.

static struct {
    uint64_t start, end; // Atomic; end is written last, 0 = unused.
} runtime[RUNTIME_RANGES];
static uint32_t runtime_count; // Atomic; may run past the end.

bool
language_add(const struct heaptap_language *language)
{
    uint32_t count = load_acquire(&language_count);

    // Adapters are added by constructors, one after the other.
    if (count >= LANGUAGES)
        return false;
    languages[count] = language;
    if (language->look != NULL)
        store_release(&looking, 1u);
    if (language->code != NULL)
        store_release(&coding, 1u);
    if (language->place != NULL)
        store_release(&placing, 1u);
    store_release(&language_count, count + 1);
    return true;
}

bool
language_runtime_code(uint64_t start, uint64_t end)
{
    uint32_t index = add_relaxed(&runtime_count, 1u);

    if (index >= RUNTIME_RANGES || start >= end)
        return false;
    store_relaxed(&runtime[index].start, start);
    store_release(&runtime[index].end, end);
    return true;
}

/* The range of a runtime's code that the call before PC is in; RUNTIME_RANGES if it is in none. */
static uint32_t
runtime_around(uint64_t pc)
{
    uint32_t count = load_relaxed(&runtime_count);

    for (uint32_t i = 0; i < count && i < RUNTIME_RANGES; i++)
        if (pc - 1 < load_acquire(&runtime[i].end) && pc - 1 >= load_relaxed(&runtime[i].start))
            return i;
    return RUNTIME_RANGES;
}

static bool
is_runtime(uint64_t pc)
{
    return runtime_around(pc) < RUNTIME_RANGES;
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

static inline struct kept *
place_of(struct language_memo *m, const struct stack_target *target, uint32_t count)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    const struct heaptap_frame *f = m->asked;
    uint64_t hash = target->stamp + ((uint64_t)count << 32);

    if (likely(count >= 4))
        hash ^= ((uint64_t)f[0].id << 13) ^ ((uint64_t)f[1].id << 26) ^
                ((uint64_t)f[2].id << 39) ^ (uint64_t)f[3].id << 5;
    else if (count > 0)
        hash ^= (uint64_t)f[0].id << 13;
    return &m->kept[(hash * factor >> 32) % KEPT];
}

/* Are COUNT frames the same? In words: what comes here is short, and compared at each event. */
static inline bool
are_same(const struct heaptap_frame *a, const struct heaptap_frame *b, uint32_t count)
{
    const uint64_t *x = (const uint64_t *)(const void *)a, *y = (const uint64_t *)(const void *)b;
    uint64_t different = 0;

    static_assert(sizeof *a == 2 * sizeof *x, "the loop");
    for (uint32_t i = 0; i < count; i++)
        different |= (x[2 * i] ^ y[2 * i]) | (x[2 * i + 1] ^ y[2 * i + 1]);
    return different == 0;
}

/* Is the answer, of COUNT frames, that of K? Of one that was said whole only those need be looked
 * at that have changed since K was it; and no more than K has may have. */
static inline bool
is_answer(const struct kept *k, const struct language_memo *m, uint32_t count)
{
    if (m->only == NULL)
        return count <= KEPT_FRAMES && are_same(k->frames, m->asked, count);
    for (uint32_t i = 0; i < count && m->only->since[count - i] > k->serial; i++)
        if (i == KEPT_FRAMES || !are_same(&k->frames[i], &m->asked[i], 1))
            return false;
    return true;
}

static inline bool
is_of_target(const struct kept *k, const struct thread *t, const struct stack_target *target)
{
    return k->stamp == target->stamp && k->version == t->memo_version && k->sites == target->sites;
}

static inline bool
is_kept(const struct kept *k, const struct thread *t, const struct stack_target *target,
        uint32_t count)
{
    return is_of_target(k, t, target) && k->count == count && is_answer(k, t->language, count);
}

/* --- The C frames ----------------------------------------------------------------------------- */

static inline struct heaptap_native *
native_at(struct language_memo *m, uint32_t number)
{
    return &m->natives[LIMIT_DEPTH - number];
}

static inline struct native_facts *
facts_at(struct language_memo *m, uint32_t number)
{
    return &m->facts[LIMIT_DEPTH - number];
}

static inline void
take_native(struct language_memo *m, uint32_t number, uint64_t frame, uint32_t flags, uint64_t slot)
{
    *native_at(m, number) = (struct heaptap_native){slot, frame & DISK_ADDRESS_MASK};
    *facts_at(m, number) = (struct native_facts){frame, flags, 0};
}

static inline void
take_frame(struct language_memo *m, uint32_t number, const struct stack_frame *f)
{
    take_native(m, number, f->frame, f->flags, f->slot);
}

/* The C frames of passing stack P beyond the remembered one, from its outermost in, of which the
 * words that prove it have slots and return addresses. Rules have the rest, as when it was walked,
 * or it would have been forgotten. */
static void
take_passing(struct thread *t, struct language_memo *m, const struct stack_passing *p)
{
    uint32_t number = p->join;

    for (uint32_t i = 0; i < p->check_count && number < m->native_count; i++) {
        const struct rule_entry *e;
        bool ends;

        if (!(p->slots >> i & 1))
            continue;
        e = rules_find(t->rules, p->checks[i].value);
        // See breaks_off in stack.c.
        ends = number == 0 && p->root == DISK_NODE_ROOT;
        take_native(m, ++number, e->frame,
                    e->rule.kind == RULE_NO_TABLE && !ends ? DISK_NODE_GUESSED : 0,
                    p->checks[i].address);
    }
}

/* How many of the memo's frames are the outer ones of TARGET. */
static inline uint32_t
joined_of(const struct thread *t, const struct stack_target *target)
{
    const struct stack_passing *p;

    if (target == &t->leaf)
        return t->memo_count;
    p = stack_passing_of(t, target);
    return p != NULL ? p->join : 0;
}

/* Forget what was of frames of the memo that have changed. */
static inline void
forget_changed(struct thread *t, struct language_memo *m)
{
    if (m->natives_same > t->memo_same)
        m->natives_same = t->memo_same;
    if (m->spine_count > t->memo_same)
        m->spine_count = t->memo_same;
    signal_fence();
    t->memo_same = t->memo_count;
}

/* The C frames of TARGET that go on from number JOINED of the memo. */
static void
find_inner_natives(struct thread *t, struct language_memo *m, const struct stack_target *target,
                   uint32_t joined)
{
    const struct stack_passing *p = stack_passing_of(t, target);
    uint32_t n;

    if (target == &t->leaf) {
        m->native_count = joined;
        return;
    }
    n = p != NULL ? p->target.frames - joined : t->walked_count;
    if (n > LIMIT_DEPTH - joined)
        n = LIMIT_DEPTH - joined;
    m->native_count = joined + n;
    if (joined == 0)
        m->root = p != NULL ? p->root : t->walked_root;
    if (m->natives_same > joined && n > 0)
        m->natives_same = joined;
    if (p != NULL)
        take_passing(t, m, p);
    for (uint32_t i = 0; p == NULL && i < n; i++)
        take_frame(m, n - i, &t->walked[i]);
}

/* Those of the memo up to number JOINED, from FIRST on. */
static void
find_outer_natives(const struct thread *t, struct language_memo *m, uint32_t joined,
                   uint32_t first)
{
    uint32_t from = first > m->natives_same ? first : m->natives_same + 1;

    if (joined == 0)
        return;
    for (uint32_t i = from; i <= joined; i++)
        take_frame(m, i, &t->memo[i]);
    if (from == m->natives_same + 1 && joined > m->natives_same)
        m->natives_same = joined;
    m->root = t->memo_root;
}

static void
find_natives(struct thread *t, struct language_memo *m, const struct stack_target *target)
{
    uint32_t joined = joined_of(t, target);

    forget_changed(t, m);
    find_inner_natives(t, m, target, joined);
    find_outer_natives(t, m, joined, 1);
}

/* --- Asking ----------------------------------------------------------------------------------- */

/* Have adapters look at the C stack. */
static void
look(struct thread *t, struct language_memo *m, const struct stack_target *target, struct noted *n)
{
    uint32_t number = load_acquire(&language_count);

    n->stamp = 0;
    signal_fence();
    find_natives(t, m, target);
    memset(n->notes, 0, sizeof n->notes);
    for (uint32_t i = 0; i < number; i++)
        if (languages[i]->look != NULL)
            languages[i]->look(native_at(m, m->native_count), m->native_count, n->notes[i]);
    n->version = t->memo_version;
    n->sites = target->sites;
    signal_fence();
    n->stamp = target->stamp;
}

/* What adapters have noted of the C stack of TARGET. */
static const struct noted *
notes_of(struct thread *t, struct language_memo *m, const struct stack_target *target)
{
    struct noted *n = target->stamp != 0 ? &m->noted[target->stamp % NOTED] : &m->strange;

    if (unlikely(n->stamp != target->stamp || n->version != t->memo_version ||
                 n->sites != target->sites || target->stamp == 0))
        look(t, m, target, n);
    return n;
}

/* Ask L, number I, which says what has stayed. Its answer is in the last frames of what is
 * returned; NULL without memory. */
static INLINE struct said *
ask_again(struct language_memo *m, const struct heaptap_language *l, uint32_t i,
          const struct noted *noted, size_t *ret_same)
{
    struct said *s = m->said[i];
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
    if (*ret_same != s->count || s->count != before || unlikely(!was_whole)) {
        if (m->spine_same > *ret_same)
            m->spine_same = (uint32_t)*ret_same;
        s->serial++;
        for (uint32_t n = (uint32_t)*ret_same + 1; n <= s->count; n++)
            s->since[n] = s->serial;
    }
    signal_fence();
    s->is_whole = true;
    return s;
}

/* Ask the only language, which says what has stayed; returns how many frames there are. */
static uint32_t
ask_only(struct language_memo *m, const struct noted *noted)
{
    size_t same;
    const struct said *s = ask_again(m, languages[0], 0, noted, &same);
    uint32_t count = s != NULL ? s->count : 0;

    m->only = s;
    if (count > LIMIT_DEPTH) {
        // They have other numbers, then.
        count = LIMIT_DEPTH;
        m->only = NULL;
    }
    if (m->only == NULL)
        m->spine_same = 0;
    m->asked = s != NULL ? s->frames + HEAPTAP_FRAMES_MAX - s->count : m->answer;
    m->ends[0] = count;
    return count;
}

/* What L, number I, answers when it is asked for MAX frames TO. */
static size_t
ask_one(struct language_memo *m, uint32_t i, const struct noted *noted, struct heaptap_frame *to,
        size_t max)
{
    const struct heaptap_language *l = languages[i];
    const struct said *s;
    size_t same;

    if (l->frames_again == NULL)
        return l->frames(to, max);
    s = ask_again(m, l, i, noted, &same);
    if (s == NULL)
        return 0;
    max = s->count < max ? s->count : max;
    memcpy(to, s->frames + HEAPTAP_FRAMES_MAX - s->count, max * sizeof *to);
    return max;
}

/* Ask all languages; returns how many frames there are. */
static inline uint32_t
ask(struct thread *t, struct language_memo *m, const struct stack_target *target)
{
    uint32_t count = 0, number = load_acquire(&language_count);
    const struct noted *noted = load_relaxed(&looking) ? notes_of(t, m, target) : NULL;

    if (number == 1 && languages[0]->frames_again != NULL)
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

/* --- Merging ---------------------------------------------------------------------------------- */

/* The number of the C frame that the address is in, from number AT outwards to OUTERMOST; 0 if it
 * is in none. */
static uint32_t
native_around(struct language_memo *m, uint64_t address, uint32_t at, uint32_t outermost)
{
    uint64_t slot;

    for (uint32_t i = at; i > 1 && i >= outermost; i--)
        if (native_at(m, i)->slot < address && address < native_at(m, i - 1)->slot)
            return i;
    slot = at > 0 && outermost <= 1 ? native_at(m, 1)->slot : 0;
    return slot != 0 && slot < address ? 1 : 0;
}

/* A placed frame without an address is where the one before it is. */
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

/* Have adapters say where the COUNT asked frames are. */
static void
find_all_addresses(struct language_memo *m, uint32_t count)
{
    uint32_t from = 0, number = load_acquire(&language_count);

    memcpy(m->placed, m->asked, count * sizeof *m->placed);
    for (uint32_t i = 0; i < number && from < count; i++) {
        if (languages[i]->place != NULL)
            languages[i]->place(m->placed + from, m->ends[i] - from,
                                native_at(m, m->native_count), m->native_count);
        fill_addresses(m->placed + from, m->ends[i] - from);
        from = m->ends[i];
    }
}

/* Can the only language place frames without all that is further out? */
static inline bool
places_inner(void)
{
    return load_acquire(&language_count) == 1 && languages[0]->place_inner != NULL;
}

/* How many of the COUNT asked frames, from the outermost on, are those of the spine up to number
 * I. */
static uint32_t
count_same(struct language_memo *m, uint32_t i, uint32_t count)
{
    const struct heaptap_frame *outermost = m->asked + count;
    uint32_t same = m->spine_same, max = m->spine[i].asked < count ? m->spine[i].asked : count;

    if (same >= max)
        return max;
    while (same < max && are_same(&outermost[-1 - (int)same], &m->spine_raw[same], 1))
        same++;
    if (m->only != NULL)
        m->spine_same = same;
    return same;
}

/* Have the adapter place only what is further in than the frames that the spine has up to number I,
 * and the innermost of these once more: if it is where it was, so are those outside of it, because
 * nothing further in has a bearing on them. Returns how many of them there are; 0 if that cannot be
 * told. */
static uint32_t
place_inner(const struct thread *t, struct language_memo *m, uint32_t joined, uint32_t i,
            uint32_t count)
{
    uint32_t same = count_same(m, i, count), inner = count - same + 1;

    if (same == 0)
        return 0;
    // The C frame that it was in.
    while (i > 1 && m->spine[i - 1].asked >= same)
        i--;
    find_outer_natives(t, m, joined, i);
    memcpy(m->placed, m->asked, inner * sizeof *m->placed);
    if (!languages[0]->place_inner(m->placed, inner, native_at(m, m->native_count),
                                   m->native_count - i + 1))
        return 0;
    fill_addresses(m->placed, inner);
    return m->placed[inner - 1].at == m->spine_asked[same - 1].at ? same : 0;
}

static void
find_addresses(const struct thread *t, struct language_memo *m, uint32_t joined, uint32_t count)
{
    if (load_relaxed(&placing))
        find_outer_natives(t, m, joined, 1);
    find_all_addresses(m, count);
}

/* Put each of the placed frames [FROM, END) inside of a C frame, those from OUTERMOST inwards. What
 * is in none stays beside the one before; then false. */
static bool
place(struct language_memo *m, uint32_t from, uint32_t end, uint32_t outermost)
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

/* The path of both kinds of frames, being made from the outermost in. */
struct path {
    uint32_t node;
    uint32_t left_out; // So many frames from the outermost on.
    uint32_t frames;   // In it.
    uint32_t left[LANGUAGES]; // Where the placed frames end that are not in it yet.
    bool folds;        // Without frames of a runtime, as readers show it.
};

/* Is another frame to be added to PATH? */
static inline bool
goes_in(struct path *path)
{
    if (unlikely(path->left_out > 0)) {
        path->left_out--;
        return false;
    }
    path->frames++;
    return true;
}

/* Is RANGE of a runtime's code that of an adapter? */
static bool
is_adapter(uint32_t range)
{
    uint64_t start = load_relaxed(&runtime[range].start), end = load_relaxed(&runtime[range].end);
    uint32_t number = load_acquire(&language_count);

    for (uint32_t i = 0; i < number; i++) {
        const struct heaptap_language *l = languages[i];
        uint64_t its =
            l->frames_again != NULL ? (uintptr_t)l->frames_again : (uintptr_t)l->frames;

        if (its >= start && its < end)
            return true;
    }
    return false;
}

/* Does a path that folds leave the C frame with facts F out, which goes on at PC? Readers do, where
 * a named frame stands for it. Frames of an adapter stay: events of its heaps skip them, and they
 * tell which memory is the interpreter's. */
static bool
is_folded(const struct native_facts *f, uint64_t pc)
{
    uint32_t range = f->flags == 0 ? runtime_around(pc) : RUNTIME_RANGES;

    return range < RUNTIME_RANGES && !is_adapter(range);
}

static void
add_native(struct path *path, struct language_memo *m, uint32_t number)
{
    const struct native_facts *f = facts_at(m, number);
    bool of_runtime = is_runtime(native_at(m, number)->pc);

    if (path->folds && is_folded(f, native_at(m, number)->pc))
        return;
    if (!goes_in(path))
        return;
    path->node = nodes_child(path->node, f->frame, f->flags);
    if (of_runtime)
        nodes_flag(path->node, DISK_NODE_RUNTIME);
}

static void
add_named(struct path *path, uint32_t id)
{
    if (goes_in(path))
        path->node = nodes_child(path->node, named_frame(id), 0);
}

/* Names of C frames from number FIRST inwards that are compiled functions of a language, unless one
 * of the COUNT innermost placed frames, which are in C frames, stands for the same function.
 * Returns how many there are. */
static uint32_t
find_codes(struct language_memo *m, uint32_t first, uint32_t count)
{
    uint32_t number = load_acquire(&language_count), codes = 0;

    if (!load_relaxed(&coding))
        return 0;
    for (uint32_t i = first; i <= m->native_count; i++) {
        uint32_t *code = &facts_at(m, i)->code;

        *code = 0;
        for (uint32_t l = 0; l < number && *code == 0; l++)
            if (languages[l]->code != NULL)
                *code = languages[l]->code(native_at(m, i)->pc);
        codes += *code != 0;
    }
    for (uint32_t i = 0; i < count && m->native_count > 0; i++) {
        codes -= facts_at(m, m->inside[i])->code != 0;
        facts_at(m, m->inside[i])->code = 0;
    }
    return codes;
}

static inline bool
has_placed(const struct language_memo *m, const struct path *path, uint32_t l, uint32_t number)
{
    return path->left[l] > (l > 0 ? m->ends[l - 1] : 0) && m->inside[path->left[l] - 1] == number;
}

/* Add the C frame and all that stands inside of it; number 0, which is none, for what is placed
 * where no C frame is known. */
static void
add_all_in(struct path *path, struct language_memo *m, uint32_t number)
{
    uint32_t languages_there = load_acquire(&language_count);

    if (number > 0) {
        add_native(path, m, number);
        if (facts_at(m, number)->code != 0)
            add_named(path, facts_at(m, number)->code);
    }
    for (uint32_t l = 0; l < languages_there; l++)
        while (has_placed(m, path, l, number))
            add_named(path, m->placed[--path->left[l]].id);
}

/* --- The spine -------------------------------------------------------------------------------- */

/* Where the frame number N + 1 is, from the outermost on, of which the outer KNOWN are the spine's
 * and the others placed. */
static inline uint64_t
place_at(const struct language_memo *m, uint32_t n, uint32_t known, uint32_t count)
{
    return n < known ? m->spine_asked[n].at : m->placed[count - 1 - n].at;
}

/* The number of the memo's frame, of the outer I, up to which the spine has the path with these
 * COUNT placed frames, of which it has the outer KNOWN. 0: all of it has to be made. */
static uint32_t
same_spine(const struct thread *t, struct language_memo *m, uint32_t i, uint32_t count,
           uint32_t known)
{
    const struct heaptap_frame *outermost = m->placed + count;
    uint32_t max = count, same = known;

    // What was placed by more than is in the placed frames has to be the same in that, too.
    if (places_inner())
        max = known > 0 ? known : count_same(m, i, count);
    while (i > 0 && m->spine[i].asked > max)
        i--;
    while (same < m->spine[i].asked &&
           are_same(&outermost[-1 - (int)same], &m->spine_asked[same], 1))
        same++;
    if (m->only != NULL && m->spine_same < same)
        m->spine_same = same;
    while (i > 0 && m->spine[i].asked > same)
        i--;
    // What comes next must be in a C frame further in.
    while (i > 0 && m->spine[i].asked < count &&
           place_at(m, m->spine[i].asked, known, count) >= t->memo[i].slot)
        i--;
    // One that has been cut and become short would hide frames that there is room for.
    if (m->spine_first > 0 && (i < m->spine_first || m->spine[i].frames < LIMIT_DEPTH / 4))
        return 0;
    return i;
}

/* How many of the outer frames are known to be where those of the spine up to number I are. What is
 * further in is placed. */
static uint32_t
known_spine(const struct thread *t, struct language_memo *m, uint32_t joined, uint32_t i,
            uint32_t count)
{
    uint32_t same = m->spine_same;

    if (places_inner())
        return place_inner(t, m, joined, i, count);
    // One that has no address is where the next one inwards is, which may have changed.
    if (m->only == NULL || same == 0 || load_relaxed(&placing) || m->asked[count - same].at == 0)
        return 0;
    same = same < m->spine[i].asked ? same : m->spine[i].asked;
    memcpy(m->placed, m->asked, (count - same) * sizeof *m->placed);
    fill_addresses(m->placed, count - same);
    return same;
}

/* The same as same_spine, of the JOINED that the stack goes on from; and what is further in of the
 * COUNT asked frames, or all when that is nothing, is placed. */
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

/* Make the rest of the path from the spine's number FROM inwards; the COUNT placed frames that are
 * not in it yet are in C frames. The spine is there up to JOINED afterwards, if KEEPS. */
static uint32_t
make_path(struct language_memo *m, struct path *path, uint32_t from, uint32_t joined,
          uint32_t count, bool keeps)
{
    if (from == 0)
        add_all_in(path, m, 0);
    if (keeps && from < joined) {
        // Not there until all of it is: a handler may jump out of here.
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
        m->spine[i] = (struct spine){path->node, count - path->left[0], path->frames};
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

/* Shall a path with COUNT named frames have none of a runtime? The tree has no room for what is
 * not shown. */
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

/* How many C frames a path that folds leaves out. */
static uint32_t
count_folded(struct language_memo *m)
{
    uint32_t n = 0;

    for (uint32_t i = 1; i <= m->native_count; i++)
        n += is_folded(facts_at(m, i), native_at(m, i)->pc);
    return n;
}

/* Make the whole path. When it is too long it has no more than depth_max frames, or half of them,
 * so that it can become longer before it is cut again, unless so many were asked for. */
static uint32_t
merge_all(struct language_memo *m, uint32_t joined, uint32_t count)
{
    bool placed = place(m, 0, count, 1);
    uint32_t named = count + find_codes(m, 1, count), frames = m->native_count + named;
    bool keeps = placed && m->native_count > 0 && load_acquire(&language_count) == 1;
    struct path path = {.node = m->root, .folds = folds(named)};

    if (unlikely(path.folds) && frames > state->depth_max)
        frames -= count_folded(m);
    if (frames > state->depth_max) {
        keeps = keeps && state->depth_max == LIMIT_DEPTH;
        path.left_out = frames - (keeps ? LIMIT_DEPTH / 2 : state->depth_max);
        path.node = DISK_NODE_TRUNCATED;
    }
    memcpy(path.left, m->ends, sizeof path.left);
    if (!keeps)
        m->spine_count = 0;
    m->spine[0] = (struct spine){.node = path.node};
    return make_path(m, &path, 0, joined, count, keeps);
}

/* Put a frame into FRAMES; false if it is the last that is looked at. */
static inline bool
add_short(struct nodes_frame *frames, uint32_t *count, uint64_t frame, uint32_t flags)
{
    frames[(*count)++] = (struct nodes_frame){frame, flags};
    return *count < NODES_SHORT_FRAMES;
}

/* The innermost frames of both kinds, the placed ones being in C frames, into FRAMES; without those
 * of a runtime if it FOLDS. Returns how many there are. */
static uint32_t
find_innermost(struct language_memo *m, struct nodes_frame *frames, bool folds)
{
    uint32_t number = load_acquire(&language_count), from[LANGUAGES] = {0}, n = 0;
    bool more = true;

    for (uint32_t l = 1; l < number; l++)
        from[l] = m->ends[l - 1];
    for (uint32_t i = m->native_count + 1; i-- > 0 && more;) {
        const struct native_facts *f = i > 0 ? facts_at(m, i) : NULL;
        bool of_runtime = i > 0 && is_runtime(native_at(m, i)->pc);

        for (uint32_t l = number; l-- > 0;)
            for (; more && from[l] < m->ends[l] && m->inside[from[l]] == i; from[l]++)
                more = add_short(frames, &n, named_frame(m->placed[from[l]].id), 0);
        if (more && f != NULL && f->code != 0)
            more = add_short(frames, &n, named_frame(f->code), 0);
        if (more && f != NULL && !(folds && is_folded(f, native_at(m, i)->pc)))
            more = add_short(frames, &n, f->frame,
                             f->flags | (of_runtime ? (uint32_t)DISK_NODE_RUNTIME : 0));
    }
    return n;
}

/* The node of a stack that is not in the tree and for which there is no room: with its innermost
 * frames. Those of the runtime are left out where others stand for them. */
static COLD uint32_t
shorten(struct thread *t, struct language_memo *m, uint32_t joined, uint32_t count)
{
    struct nodes_frame frames[NODES_SHORT_FRAMES];
    uint32_t named, n;

    find_outer_natives(t, m, joined, 1);
    find_addresses(t, m, joined, count);
    place(m, 0, count, 1);
    named = count + find_codes(m, 1, count);
    n = find_innermost(m, frames, folds(named));
    if (n > state->depth_max)
        return nodes_shorten(frames, state->depth_max, DISK_NODE_TRUNCATED);
    return nodes_shorten(frames, n, m->root);
}

/* The node of the C frames of TARGET with the COUNT asked frames among them. */
static uint32_t
merge(struct thread *t, struct language_memo *m, const struct stack_target *target, uint32_t count)
{
    uint32_t joined = joined_of(t, target), from, left, node;
    struct path path;

    forget_changed(t, m);
    find_inner_natives(t, m, target, joined);
    from = join_spine(t, m, joined, count);
    if (from > 0) {
        left = count - m->spine[from].asked;
        find_outer_natives(t, m, joined, from); // That one bounds those inside of it.
        path = (struct path){.node = m->spine[from].node,
                             .frames = m->spine[from].frames,
                             .left = {left},
                             .folds = folds(count)};
        if (place(m, 0, left, from + 1) &&
            path.frames + left + m->native_count - from + find_codes(m, from + 1, left) <=
                state->depth_max) {
            node = make_path(m, &path, from, joined, count, true);
            return node != DISK_NODE_OTHER ? node : shorten(t, m, joined, count);
        }
        find_addresses(t, m, joined, count);
    }
    find_outer_natives(t, m, joined, 1);
    node = merge_all(m, joined, count);
    return node != DISK_NODE_OTHER ? node : shorten(t, m, joined, count);
}

static void
keep(struct kept *k, const struct thread *t, const struct stack_target *target, uint32_t count,
     uint32_t node)
{
    const struct said *only = t->language->only;

    if (target->stamp == 0 || (count > KEPT_FRAMES && only == NULL))
        return;
    // Unused until all of it is there: a handler may jump out of here.
    k->stamp = 0;
    k->serial = 0;
    signal_fence();
    k->node = node;
    k->version = t->memo_version;
    k->sites = target->sites;
    k->count = count;
    count = count < KEPT_FRAMES ? count : (uint32_t)KEPT_FRAMES;
    memcpy(k->frames, t->language->asked, count * sizeof *k->frames);
    signal_fence();
    k->stamp = target->stamp;
    signal_fence();
    k->serial = only != NULL ? only->serial : 0;
}

uint32_t
language_merge(struct thread *t, const struct stack_target *target)
{
    struct language_memo *m;
    uint32_t count, node;
    struct kept *k;

    if (!t->merges || (m = memo_of(t)) == NULL)
        return nodes_of(target->sites);
    count = ask(t, m, target);
    // The same answer, whole, as the latest time.
    if (m->only != NULL && m->latest->serial == m->only->serial &&
        likely(is_of_target(m->latest, t, target)))
        return m->latest->node;
    k = m->latest = place_of(m, target, count);
    if (likely(is_kept(k, t, target, count))) {
        if (m->only != NULL)
            k->serial = m->only->serial;
        return k->node;
    }
    node = merge(t, m, target, count);
    keep(k, t, target, count, node);
    return node;
}

uint32_t *
language_sites_apart(struct thread *t, const struct stack_target *target)
{
    return state->nodes[label_here(language_merge(t, target))].site;
}
