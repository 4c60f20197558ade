/* hook_kinds.c: kinds of functions that can be hooked, and names of well-known allocators.
 *
 * A kind states which argument is the size and which the block; all other arguments pass through.
 * So a few kinds cover many functions, and each kind is named after its best-known function. A
 * preset lists names with their kinds: every function of the allocator whose blocks may be passed
 * to its free function. Names that a program lacks cost nothing. */
#include "launch/hooks.h"

#include <ctype.h>
#include <dlfcn.h>
#include <string.h>

#include "option/opts.h"
#include "view/style.h"

struct kind {
    const char *name;
    const char *arguments; // Text for help. NULL: the kind is another name of the kind before it.
    enum hook_shape shape;
};

static const struct kind kinds[] = {
    {"malloc", "(size, …)", HOOK_MALLOC},
    {"valloc", NULL, HOOK_MALLOC},
    {"mallocx", NULL, HOOK_MALLOC},
    {"calloc", "(count, size, …)", HOOK_CALLOC},
    {"memalign", "(alignment, size)", HOOK_MEMALIGN},
    {"aligned_alloc", NULL, HOOK_MEMALIGN},
    {"heap_malloc", NULL, HOOK_MEMALIGN},
    {"posix_memalign", "(where to, alignment, size)", HOOK_POSIX_MEMALIGN},
    {"realloc", "(block, size, …)", HOOK_REALLOC},
    {"rallocx", NULL, HOOK_REALLOC},
    {"reallocarray", "(block, count, size, …)", HOOK_REALLOCARRAY},
    {"rust_realloc", "(block, old size, alignment, size)", HOOK_RUST_REALLOC},
    {"heap_calloc", "(heap, count, size, …)", HOOK_HEAP_CALLOC},
    {"heap_realloc", "(heap, block, size, …)", HOOK_HEAP_REALLOC},
    {"strdup", "(string)", HOOK_STRDUP},
    {"strndup", "(string, length)", HOOK_STRNDUP},
    {"free", "(block, …)", HOOK_FREE},
    {"free_sized", NULL, HOOK_FREE},
    {"dallocx", NULL, HOOK_FREE},
    {"heap_free", "(heap, block, …)", HOOK_HEAP_FREE},
};

/* Functions of one kind. SYMBOLS are separated by spaces. */
struct preset_part {
    enum hook_shape shape;
    const char *symbols;
};

enum { PARTS_MAX = 12 };

struct preset {
    const char *name;
    struct preset_part parts[PARTS_MAX]; // Parts of the preset; the last one has no symbols.
};

static const struct preset presets[] = {
    {"jemalloc",
     {
         {HOOK_MALLOC, "mallocx je_malloc je_mallocx je_valloc _rjem_malloc _rjem_mallocx "
                       "_rjem_valloc"},
         {HOOK_CALLOC, "je_calloc _rjem_calloc"},
         {HOOK_MEMALIGN, "je_aligned_alloc je_memalign _rjem_aligned_alloc _rjem_memalign"},
         {HOOK_POSIX_MEMALIGN, "je_posix_memalign _rjem_posix_memalign"},
         {HOOK_REALLOC, "rallocx je_realloc je_rallocx _rjem_realloc _rjem_rallocx"},
         {HOOK_FREE, "dallocx sdallocx je_free je_dallocx je_sdallocx je_free_sized "
                     "je_free_aligned_sized _rjem_free _rjem_dallocx _rjem_sdallocx"},
     }},
    {"mimalloc",
     {
         {HOOK_MALLOC, "mi_malloc mi_zalloc mi_malloc_small mi_zalloc_small mi_malloc_aligned "
                       "mi_zalloc_aligned mi_malloc_aligned_at mi_zalloc_aligned_at mi_valloc "
                       "mi_pvalloc mi_new mi_new_nothrow mi_new_aligned mi_new_aligned_nothrow"},
         {HOOK_CALLOC, "mi_calloc mi_mallocn mi_calloc_aligned mi_calloc_aligned_at mi_new_n"},
         {HOOK_MEMALIGN, "mi_memalign mi_aligned_alloc mi_heap_malloc mi_heap_zalloc "
                         "mi_heap_malloc_small mi_heap_malloc_aligned mi_heap_zalloc_aligned "
                         "mi_heap_malloc_aligned_at mi_heap_zalloc_aligned_at mi_heap_alloc_new"},
         {HOOK_POSIX_MEMALIGN, "mi_posix_memalign"},
         {HOOK_REALLOC, "mi_realloc mi_rezalloc mi_realloc_aligned mi_realloc_aligned_at "
                        "mi_rezalloc_aligned mi_rezalloc_aligned_at mi_new_realloc"},
         {HOOK_REALLOCARRAY, "mi_reallocarray mi_reallocn mi_recalloc mi_recalloc_aligned "
                             "mi_recalloc_aligned_at mi_new_reallocn"},
         {HOOK_HEAP_CALLOC, "mi_heap_calloc mi_heap_mallocn mi_heap_calloc_aligned "
                            "mi_heap_calloc_aligned_at mi_heap_alloc_new_n"},
         {HOOK_HEAP_REALLOC, "mi_heap_realloc mi_heap_rezalloc mi_heap_realloc_aligned "
                             "mi_heap_realloc_aligned_at mi_heap_rezalloc_aligned "
                             "mi_heap_rezalloc_aligned_at"},
         {HOOK_STRDUP, "mi_strdup"},
         {HOOK_STRNDUP, "mi_strndup"},
         {HOOK_FREE, "mi_free mi_cfree mi_free_size mi_free_aligned mi_free_size_aligned"},
     }},
    {"tcmalloc",
     {
         {HOOK_MALLOC, "tc_malloc tc_malloc_skip_new_handler tc_valloc tc_pvalloc tc_new "
                       "tc_new_nothrow tc_newarray tc_newarray_nothrow tc_new_aligned "
                       "tc_new_aligned_nothrow tc_newarray_aligned tc_newarray_aligned_nothrow "
                       "TCMallocInternalMalloc TCMallocInternalNew TCMallocInternalNewArray"},
         {HOOK_CALLOC, "tc_calloc TCMallocInternalCalloc"},
         {HOOK_MEMALIGN, "tc_memalign TCMallocInternalMemalign TCMallocInternalAlignedAlloc"},
         {HOOK_POSIX_MEMALIGN, "tc_posix_memalign TCMallocInternalPosixMemalign"},
         {HOOK_REALLOC, "tc_realloc TCMallocInternalRealloc"},
         {HOOK_FREE, "tc_free tc_cfree tc_free_sized tc_delete tc_delete_sized tc_delete_nothrow "
                     "tc_deletearray tc_deletearray_sized tc_deletearray_nothrow "
                     "tc_delete_aligned tc_delete_sized_aligned tc_delete_aligned_nothrow "
                     "tc_deletearray_aligned tc_deletearray_sized_aligned "
                     "tc_deletearray_aligned_nothrow TCMallocInternalFree "
                     "TCMallocInternalDelete TCMallocInternalDeleteArray"},
     }},
    {"dlmalloc",
     {
         {HOOK_MALLOC, "dlmalloc dlvalloc dlpvalloc"},
         {HOOK_CALLOC, "dlcalloc"},
         {HOOK_MEMALIGN, "dlmemalign mspace_malloc"},
         {HOOK_POSIX_MEMALIGN, "dlposix_memalign"},
         {HOOK_REALLOC, "dlrealloc"},
         {HOOK_HEAP_CALLOC, "mspace_calloc"},
         {HOOK_HEAP_REALLOC, "mspace_realloc"},
         {HOOK_FREE, "dlfree"},
         {HOOK_HEAP_FREE, "mspace_free"},
     }},
    {"rpmalloc",
     {
         {HOOK_MALLOC, "rpmalloc"},
         {HOOK_CALLOC, "rpcalloc"},
         {HOOK_MEMALIGN, "rpaligned_alloc rpmemalign"},
         {HOOK_POSIX_MEMALIGN, "rpposix_memalign"},
         {HOOK_REALLOC, "rprealloc"},
         {HOOK_FREE, "rpfree"},
     }},
    {"glib",
     {
         {HOOK_MALLOC, "g_malloc g_malloc0 g_try_malloc g_try_malloc0 g_slice_alloc "
                       "g_slice_alloc0"},
         {HOOK_CALLOC, "g_malloc_n g_malloc0_n g_try_malloc_n g_try_malloc0_n"},
         {HOOK_REALLOC, "g_realloc g_try_realloc"},
         {HOOK_REALLOCARRAY, "g_realloc_n g_try_realloc_n"},
         {HOOK_FREE, "g_free g_free_sized"},
         {HOOK_HEAP_FREE, "g_slice_free1"},
     }},
};

/* Functions that the recorder always records. */
static const char always[] = "malloc calloc realloc reallocarray free free_sized "
                             "free_aligned_sized posix_memalign aligned_alloc memalign valloc "
                             "pvalloc malloc_usable_size dlclose fork _Fork sigaction signal";

/* Functions of the C library that allocate or free blocks. Its other functions allocate by malloc
 * and are already recorded. */
static const char of_libc[] = "strdup strndup __strdup __strndup __libc_malloc __libc_calloc "
                              "__libc_realloc __libc_free __libc_memalign __libc_valloc "
                              "__libc_pvalloc";

/* Functions that map memory, which fit no kind. A kind passes on at most five arguments, takes any
 * result but NULL for a block, and ends whole blocks. mmap has six arguments; mmap, sbrk and shmat
 * fail with -1; munmap may unmap a part. */
static const char of_pages[] = "mmap mmap64 mremap munmap brk sbrk shmat shmdt __mmap __mmap64 "
                               "__mremap __munmap __brk __sbrk __shmat __shmdt";

/* Functions, or with a * prefixes of functions, that must not be hooked. No program starts without
 * them, they depend on their caller's address, or they belong to heaptap. Their arguments and
 * results are not an allocator's, so a stub would break the program. */
static const char impossible[] =
    "main _start _init _fini __libc_* dlopen dlmopen dlsym dlvsym dladdr dladdr1 dlinfo dlerror "
    "dl_iterate_phdr _dl_* __tls_* pthread_* __cxa_* _Unwind_* __gxx_* heaptap_* _r_debug* "
    "__stack_chk_* setjmp _setjmp sigsetjmp __sigsetjmp longjmp siglongjmp vfork";

/* Allocators that match a prefix above. */
static const char possible[] = "__cxa_allocate_exception __cxa_free_exception "
                               "__cxa_allocate_dependent_exception "
                               "__cxa_free_dependent_exception";

/* Return the next word of *TEXT, with its length in *RET_LENGTH, and advance *TEXT behind it; NULL
 * at the end. */
static const char *
hook_kinds_next_word(const char **text, size_t *ret_length)
{
    const char *word = *text + strspn(*text, " ");

    *ret_length = strcspn(word, " ");
    *text = word + *ret_length;
    return *ret_length != 0 ? word : NULL;
}

static bool
hook_kinds_has_word(const char *text, const char *wanted)
{
    const char *word;
    size_t length;

    while ((word = hook_kinds_next_word(&text, &length)) != NULL)
        if (strlen(wanted) == length && strncmp(word, wanted, length) == 0)
            return true;
    return false;
}

static bool
matches_word(const char *text, const char *wanted)
{
    const char *word;
    size_t length;

    while ((word = hook_kinds_next_word(&text, &length)) != NULL)
        if (word[length - 1] == '*' && strncmp(word, wanted, length - 1) == 0)
            return true;
    return false;
}

/* Return true if SYMBOL belongs to the C library or the loader. Searching the libraries of this
 * process suffices, because such names do not change. Each library is searched separately, because
 * this executable has copies of their variables. */
static bool
is_of_libc(const char *symbol)
{
    static const char *const files[] = {"libc.so.6",       "ld-linux-x86-64.so.2", "libm.so.6",
                                        "libpthread.so.0", "libdl.so.2",           "librt.so.1"};
    bool found = false;

    for (size_t i = 0; !found && i < countof(files); i++) {
        void *library = dlopen(files[i], RTLD_LAZY | RTLD_NOLOAD);

        found = library != NULL && dlsym(library, symbol) != NULL;
        if (library != NULL)
            dlclose(library);
    }
    return found;
}

/* Return true if hooking SYMBOL can only break the program. */
static bool
is_impossible(const char *symbol)
{
    if (hook_kinds_has_word(of_libc, symbol) || hook_kinds_has_word(possible, symbol))
        return false;
    return hook_kinds_has_word(impossible, symbol) || matches_word(impossible, symbol) ||
           is_of_libc(symbol);
}

const char *
hook_kinds_offered(size_t i)
{
    return i < countof(presets) ? presets[i].name : i == countof(presets) ? "list" : NULL;
}

const char *
hook_kinds_name(size_t i)
{
    return i < countof(kinds) ? kinds[i].name : NULL;
}

const char *
hook_kinds_preset_of(const char *symbol)
{
    for (size_t i = 0; i < countof(presets); i++)
        for (const struct preset_part *p = presets[i].parts; p->symbols != NULL; p++)
            if (hook_kinds_has_word(p->symbols, symbol))
                return presets[i].name;
    return NULL;
}

/* Append HOOK to LIST. If its symbol is already there, the later kind replaces the earlier one. */
static void
hook_kinds_append(struct hook_list *list, struct arena *arena, struct hook hook)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->hooks[i].symbol, hook.symbol) == 0) {
            list->hooks[i] = hook;
            return;
        }
    }
    arena_grow(arena, &list->hooks, &list->capacity, list->count, sizeof *list->hooks);
    list->hooks[list->count++] = hook;
}

static void
add_preset(struct hook_list *list, struct arena *arena, const struct preset *preset)
{
    for (const struct preset_part *p = preset->parts; p->symbols != NULL; p++) {
        const char *text = p->symbols, *word;
        size_t length;

        while ((word = hook_kinds_next_word(&text, &length)) != NULL)
            hook_kinds_append(
                list, arena,
                (struct hook){arena_strndup(arena, word, length), p->shape, preset->name});
    }
}

static int
add_by_name(struct hook_list *list, struct arena *arena, const char *name, struct err *err)
{
    struct suggestion s = {.word = name};

    for (size_t i = 0; i < countof(presets); i++) {
        if (strcmp(name, presets[i].name) == 0) {
            add_preset(list, arena, &presets[i]);
            return 0;
        }
        suggest_offer(&s, presets[i].name);
    }
    if (s.nearest != NULL)
        return err_set(err, HEAPTAP_USAGE, "option '--hook': no preset '%.60s' (did you mean %s?)",
                       name, s.nearest);
    return err_set(err, HEAPTAP_USAGE,
                   "option '--hook': no preset '%.60s'; write SYMBOL=KIND for a function; --hook "
                   "list shows kinds and presets",
                   name);
}

static int
find_kind(const char *name, enum hook_shape *ret, struct err *err)
{
    struct suggestion s = {.word = name};

    for (size_t i = 0; i < countof(kinds); i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            *ret = kinds[i].shape;
            return 0;
        }
        suggest_offer(&s, kinds[i].name);
    }
    if (s.nearest != NULL)
        return err_set(err, HEAPTAP_USAGE,
                       "option '--hook': no kind of function '%.60s' (did you mean %s?)", name,
                       s.nearest);
    return err_set(err, HEAPTAP_USAGE,
                   "option '--hook': no kind of function '%.60s'; --hook list shows the kinds",
                   name);
}

static bool
is_symbol(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && strchr("_.$", text[i]) == NULL)
            return false;
    return length > 0;
}

int
hook_kinds_add(struct hook_list *list, struct arena *arena, const char *text, struct err *err)
{
    size_t length = strcspn(text, "=");
    struct hook hook = {.symbol = arena_strndup(arena, text, length)};
    int r;

    if (text[length] == '\0')
        return add_by_name(list, arena, text, err);
    if (!is_symbol(text, length))
        return err_set(err, HEAPTAP_USAGE,
                       "option '--hook': '%.60s' is no symbol; write it as `nm -D` shows it, "
                       "without its version",
                       hook.symbol);
    if (hook_kinds_has_word(always, hook.symbol))
        return err_set(err, HEAPTAP_USAGE, "option '--hook': %s is recorded without being hooked",
                       hook.symbol);
    if (hook_kinds_has_word(of_pages, hook.symbol))
        return err_set(err, HEAPTAP_USAGE,
                       "option '--hook': %s maps pages and fits no kind of function; hook the "
                       "allocator that calls it",
                       hook.symbol);
    if (is_impossible(hook.symbol))
        return err_set(err, HEAPTAP_USAGE,
                       "option '--hook': %s is no function of an allocator; hooking it would break "
                       "the program",
                       hook.symbol);
    if ((r = find_kind(text + length + 1, &hook.shape, err)) < 0)
        return r;
    hook_kinds_append(list, arena, hook);
    if (list->count > HOOKS_MAX)
        return err_set(err, HEAPTAP_USAGE, "option '--hook': more than %d functions", HOOKS_MAX);
    return 0;
}

bool
hook_kinds_is_question(const char *text)
{
    return strcmp(text, "list") == 0 || strcmp(text, "help") == 0;
}

static void
explain_kinds(struct strbuf *out)
{
    enum { NAME_COLUMN = 39 };

    strbuf_str(out, "Kinds of functions, by the arguments that matter:\n");
    for (size_t i = 0; i < countof(kinds); i++) {
        const char *arguments = kinds[i].arguments;

        if (arguments == NULL)
            strbuf_fmt(out, ", %s", kinds[i].name);
        else
            strbuf_fmt(out, "%s  %s%*s%s", i > 0 ? "\n" : "", arguments,
                       NAME_COLUMN - (int)style_width(arguments), "", kinds[i].name);
    }
    strbuf_str(out, "\n\nPresets, and the functions that they hook:\n");
}

void
hook_kinds_explain(struct strbuf *out)
{
    enum { WIDTH = 96, INDENT = 11 };

    explain_kinds(out);
    for (size_t i = 0; i < countof(presets); i++) {
        size_t column = INDENT;

        strbuf_fmt(out, "  %-8s", presets[i].name);
        for (const struct preset_part *p = presets[i].parts; p->symbols != NULL; p++) {
            const char *text = p->symbols, *word;
            size_t length;

            while ((word = hook_kinds_next_word(&text, &length)) != NULL) {
                if (column + 1 + length > WIDTH) {
                    strbuf_fmt(out, "\n%*s", INDENT - 1, "");
                    column = INDENT;
                }
                strbuf_fmt(out, " %.*s", (int)length, word);
                column += 1 + length;
            }
        }
        strbuf_char(out, '\n');
    }
}
