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
 * its arguments.
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

enum {
    LANGUAGES = 4,
    RUNTIME_RANGES = 64,
    KEPT = 256,       // Answers with their nodes, a power of two,
    KEPT_FRAMES = 62, // of no more frames than these.
    NOTED = 256,      // A power of two.
};

struct kept {
    uint32_t stamp; // Of the target; 0 = unused.
    uint32_t node;
    uint64_t version; // Of the memo.
    uint32_t *sites;  // Of the target.
    uint32_t count;
    struct heaptap_frame frames[KEPT_FRAMES];
};

/* What adapters have noted of a C stack. */
struct noted {
    uint32_t stamp; // Of the target; 0 = unused.
    uint64_t version;
    uint32_t *sites;
    unsigned long notes[LANGUAGES][HEAPTAP_NOTES];
};

/* What a thread needs to ask and to remember answers. */
struct language_memo {
    struct heaptap_frame asked[LIMIT_DEPTH + 1];
    struct heaptap_frame placed[LIMIT_DEPTH + 1];
    uint32_t ends[LANGUAGES]; // Where in those the frames of each language end.
    struct heaptap_native natives[LIMIT_DEPTH];
    uint64_t frames[LIMIT_DEPTH]; // Of the nodes of these,
    uint32_t flags[LIMIT_DEPTH];  // and their flags.
    uint32_t codes[LIMIT_DEPTH];  // Ids of those that are compiled functions.
    uint32_t native_count;
    uint32_t root;                 // What the outermost of them hangs on.
    uint32_t inside[LIMIT_DEPTH + 1]; // By placed frame: which of natives it stands inside of.
    struct kept kept[KEPT];
    struct noted noted[NOTED];
    struct noted strange; // Of a stack that cannot be told again.
};

uint32_t language_count;
static const struct heaptap_language *languages[LANGUAGES];
static uint32_t looking; // Atomic: some of them look at the C stack,
static uint32_t coding;  // and some know names of compiled code.

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

static bool
is_runtime(uint64_t pc)
{
    uint32_t count = load_relaxed(&runtime_count);

    for (uint32_t i = 0; i < count && i < RUNTIME_RANGES; i++)
        if (pc - 1 < load_acquire(&runtime[i].end) && pc - 1 >= load_relaxed(&runtime[i].start))
            return true;
    return false;
}

static struct language_memo *
memo_of(struct thread *t)
{
    if (unlikely(t->language == NULL))
        t->language = mem_private(sizeof *t->language);
    return t->language;
}

static struct kept *
place_of(struct language_memo *m, const struct stack_target *target, uint32_t count)
{
    uint64_t hash = target->stamp;
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);

    for (uint32_t i = 0; i < count && i < 4; i++)
        hash = (hash ^ m->asked[i].id) * factor;
    hash = (hash ^ count) * factor;
    return &m->kept[(hash >> 32) % KEPT];
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

static inline bool
is_kept(const struct kept *k, const struct thread *t, const struct stack_target *target,
        uint32_t count)
{
    return k->stamp == target->stamp && k->version == t->memo_version &&
           k->sites == target->sites && k->count == count &&
           are_same(k->frames, t->language->asked, count);
}

/* --- The C frames ----------------------------------------------------------------------------- */

/* Take the C frames of NODE, innermost first; their slots are not known yet. */
static void
take_natives(struct language_memo *m, uint32_t node)
{
    uint32_t n = 0;

    while (node >= DISK_NODE_FIRST && n < LIMIT_DEPTH) {
        const struct disk_node *d = &state->nodes[node];
        uint32_t parent = load_relaxed(&d->parent);

        m->frames[n] = load_relaxed(&d->frame);
        m->flags[n] = load_relaxed(&d->flags) & (DISK_NODE_GUESSED | DISK_NODE_EXACT);
        m->natives[n] = (struct heaptap_native){.pc = m->frames[n] & DISK_ADDRESS_MASK};
        n++;
        // Others can write to the file, so what it says must lead outwards.
        node = parent < node ? parent : (uint32_t)DISK_NODE_ROOT;
    }
    m->native_count = n;
    m->root = node;
}

/* Their slots from the memo of T, which has the last of them but INNER. */
static void
slots_of_memo(const struct thread *t, struct language_memo *m, uint32_t inner, uint32_t count)
{
    for (uint32_t i = inner; i < m->native_count && count > 0; i++, count--)
        m->natives[i].slot = t->memo[count].slot;
}

/* Those of a passing stack: the words that prove it are slots, from its outermost frame in, and
 * other words between these, which hold no return address. */
static void
slots_of_passing(const struct thread *t, struct language_memo *m, const struct stack_passing *p)
{
    uint32_t own = p->target.frames > p->join ? p->target.frames - p->join : 0;
    uint32_t left = own < m->native_count ? own : m->native_count;

    for (uint32_t i = p->join != 0; i < p->check_count && left > 0; i++)
        if (p->checks[i].value == m->natives[left - 1].pc)
            m->natives[--left].slot = p->checks[i].address;
    slots_of_memo(t, m, own, p->join);
}

static void
find_natives(const struct thread *t, struct language_memo *m, const struct stack_target *target)
{
    uintptr_t offset = (uintptr_t)target - (uintptr_t)t->passings;

    take_natives(m, nodes_of(target->sites));
    if (target == &t->leaf)
        slots_of_memo(t, m, 0, t->memo_count);
    else if (offset < sizeof t->passings)
        slots_of_passing(t, m, &t->passings[offset / sizeof *t->passings]);
    else
        for (uint32_t i = 0; i < m->native_count; i++)
            m->natives[i].slot = t->walked[i].slot;
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
            languages[i]->look(m->natives, m->native_count, n->notes[i]);
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

/* Ask all languages; returns how many frames there are. */
static uint32_t
ask(struct thread *t, struct language_memo *m, const struct stack_target *target)
{
    uint32_t count = 0, number = load_acquire(&language_count);
    const struct noted *noted = load_relaxed(&looking) ? notes_of(t, m, target) : NULL;

    for (uint32_t i = 0; i < number; i++) {
        const struct heaptap_language *l = languages[i];
        size_t max = LIMIT_DEPTH - count, n;

        if (l->look != NULL && noted != NULL)
            n = l->frames_noted(m->asked + count, max, noted->notes[i]);
        else
            n = l->frames(m->asked + count, max);
        count += (uint32_t)(n < max ? n : max);
        m->ends[i] = count;
    }
    return count;
}

/* --- Merging ---------------------------------------------------------------------------------- */

/* Which of the C frames, from AT on, the address is in; AT if it is in none. */
static uint32_t
native_around(const struct language_memo *m, uint64_t address, uint32_t at)
{
    const struct heaptap_native *n = m->natives;
    uint32_t last = m->native_count - 1;

    for (uint32_t i = at; i < last; i++)
        if (n[i].slot < address && address < n[i + 1].slot)
            return i;
    return n[last].slot != 0 && n[last].slot < address ? last : at;
}

/* Put each of the asked frames inside of a C frame. */
static void
place_all(struct language_memo *m, uint32_t count)
{
    uint32_t from = 0, number = load_acquire(&language_count);

    memcpy(m->placed, m->asked, count * sizeof *m->placed);
    for (uint32_t i = 0; i < number && from < count; i++) {
        uint32_t at = 0;

        if (languages[i]->place != NULL)
            languages[i]->place(m->placed + from, m->ends[i] - from, m->natives, m->native_count);
        for (; from < m->ends[i]; from++) {
            if (m->native_count > 0 && m->placed[from].at != 0)
                at = native_around(m, m->placed[from].at, at);
            m->inside[from] = at;
        }
    }
}

/* The path of both kinds of frames, being made from the outermost in. */
struct path {
    uint32_t node;
    uint32_t left_out; // So many frames from the outermost on.
};

static void
add_native(struct path *path, const struct language_memo *m, uint32_t i)
{
    if (path->left_out > 0) {
        path->left_out--;
        return;
    }
    path->node = nodes_child(path->node, m->frames[i], m->flags[i]);
    if (is_runtime(m->natives[i].pc))
        nodes_flag(path->node, DISK_NODE_RUNTIME);
}

static void
add_named(struct path *path, uint32_t id)
{
    if (path->left_out > 0) {
        path->left_out--;
        return;
    }
    path->node = named_node(path->node, id);
}

/* Names of C frames that are compiled functions of a language. Returns how many there are. */
static uint32_t
find_codes(struct language_memo *m)
{
    uint32_t number = load_acquire(&language_count), count = 0;

    for (uint32_t i = 0; i < m->native_count; i++) {
        m->codes[i] = 0;
        for (uint32_t l = 0; l < number && m->codes[i] == 0; l++)
            if (languages[l]->code != NULL)
                m->codes[i] = languages[l]->code(m->natives[i].pc);
        count += m->codes[i] != 0;
    }
    return count;
}

/* The name of the C frame I, unless a placed frame in it stands for the same function. */
static void
add_code(struct path *path, const struct language_memo *m, uint32_t i, const uint32_t *left)
{
    uint32_t number = load_acquire(&language_count);

    if (m->codes[i] == 0)
        return;
    for (uint32_t l = 0; l < number; l++)
        if (left[l] > (l > 0 ? m->ends[l - 1] : 0) && m->inside[left[l] - 1] == i)
            return;
    add_named(path, m->codes[i]);
}

/* The node of the C frames with COUNT placed frames among them. */
static uint32_t
make_path(struct language_memo *m, uint32_t count)
{
    bool coded = load_relaxed(&coding);
    uint32_t frames = m->native_count + count + (coded ? find_codes(m) : 0);
    uint32_t left[LANGUAGES], number = load_acquire(&language_count);
    struct path path = {.node = m->root};

    if (frames > state->depth_max) {
        path.left_out = frames - state->depth_max;
        path.node = DISK_NODE_TRUNCATED;
    }
    for (uint32_t l = 0; l < number; l++)
        left[l] = m->ends[l];
    for (uint32_t i = m->native_count; i > 0 || m->native_count == 0; i--) {
        if (i > 0) {
            add_native(&path, m, i - 1);
            if (coded)
                add_code(&path, m, i - 1, left);
        }
        for (uint32_t l = 0; l < number; l++)
            while (left[l] > (l > 0 ? m->ends[l - 1] : 0) &&
                   (i == 0 || m->inside[left[l] - 1] == i - 1))
                add_named(&path, m->placed[--left[l]].id);
        if (i == 0)
            break;
    }
    return path.node;
}

static void
keep(struct kept *k, const struct thread *t, const struct stack_target *target, uint32_t count,
     uint32_t node)
{
    if (target->stamp == 0 || count > KEPT_FRAMES)
        return;
    // Unused until all of it is there: a handler may jump out of here.
    k->stamp = 0;
    signal_fence();
    k->node = node;
    k->version = t->memo_version;
    k->sites = target->sites;
    k->count = count;
    memcpy(k->frames, t->language->asked, count * sizeof *k->frames);
    signal_fence();
    k->stamp = target->stamp;
}

uint32_t
language_merge(struct thread *t, const struct stack_target *target)
{
    uint32_t node = nodes_of(target->sites), count;
    struct language_memo *m;
    struct kept *k;

    if (!language_is_there() || (m = memo_of(t)) == NULL || node == DISK_NODE_OTHER)
        return node;
    count = ask(t, m, target);
    if (count == 0 && !load_relaxed(&coding))
        return node;
    k = place_of(m, target, count);
    if (likely(is_kept(k, t, target, count)))
        return k->node;
    find_natives(t, m, target);
    place_all(m, count);
    node = make_path(m, count);
    keep(k, t, target, count, node);
    return node;
}

uint32_t *
language_sites_apart(struct thread *t, const struct stack_target *target)
{
    return state->nodes[label_here(language_merge(t, target))].site;
}
