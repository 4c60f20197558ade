/* own_malloc.c: allocators that programs bring along, known by their names.
 *
 * What is to be done depends on where the name stands:
 *
 *     a shared library exports it     calls pass the loader's tables: --hook sees them
 *     the program itself exports it   calls inside the program do not pass there
 *     only the full symbol table      the same, and nobody else can call it
 *     no symbols at all               known by a text in the program, if at all
 *
 * For all but the first only patching the program's code would do, and that is not done. The way
 * then is to build the program differently. Runtimes that manage a heap without being malloc have
 * lines of their own.
 */
#include "launch/own_malloc.h"

#include <stdio.h>
#include <string.h>

#include "symbol/elf_names.h"
#include "view/say.h"

struct allocator {
    const char *name;
    const char *preset;     // For --hook; NULL = a runtime, or nothing to hook.
    const char *symbols[6]; // Any of them means that it is there; those of the preset first.
    const char *text;       // A text that it has even when stripped; NULL = none.
    const char *remedy;     // When it cannot be hooked.
};

#define SYSTEM_MALLOC "build the program so that it uses the system's malloc"

static const struct allocator allocators[] = {
    {"jemalloc",
     "jemalloc",
     {"je_malloc", "_rjem_malloc", "mallocx", "je_arena_init", "_rjem_je_arena_init"},
     "<jemalloc>: ",
     SYSTEM_MALLOC
     " (redis: make MALLOC=libc; Rust: no #[global_allocator], which is the system's)"},
    {"mimalloc",
     "mimalloc",
     {"mi_malloc", "mi_heap_malloc", "mi_malloc_aligned"},
     "mimalloc: warning: ",
     SYSTEM_MALLOC " (mimalloc: do not link it; Rust: no #[global_allocator])"},
    {"tcmalloc",
     "tcmalloc",
     {"tc_malloc", "TCMallocInternalMalloc", "tc_new"},
     "TCMALLOC_LARGE_ALLOC_REPORT_THRESHOLD",
     SYSTEM_MALLOC " (without -ltcmalloc)"},
    {"dlmalloc", "dlmalloc", {"dlmalloc", "mspace_malloc"}, NULL, SYSTEM_MALLOC},
    {"rpmalloc", "rpmalloc", {"rpmalloc"}, NULL, SYSTEM_MALLOC},
    {"CPython",
     NULL,
     {"PyObject_Malloc", "PyMem_Malloc"},
     NULL,
     "Python takes memory for small objects from the kernel itself; with PYTHONMALLOC=malloc in "
     "the environment it asks malloc for each"},
    {"PHP",
     NULL,
     {"_emalloc", "zend_mm_alloc"},
     NULL,
     "PHP manages its memory itself; with USE_ZEND_ALLOC=0 in the environment it asks malloc"},
    {"Go",
     NULL,
     {"runtime.mallocgc", "crosscall2"},
     NULL,
     "Go's heap is Go's own: use its profiler (pprof); what C code allocates is recorded"},
    {"V8",
     NULL,
     {"_ZN2v87Isolate3NewERKNS0_12CreateParamsE"},
     NULL,
     "JavaScript's heap is V8's own: use its heap snapshots; what C++ code allocates is recorded"},
    {"the Java virtual machine",
     NULL,
     {"JNI_CreateJavaVM"},
     NULL,
     "Java's heap is the virtual machine's own: use its tools; what native code allocates is "
     "recorded"},
    {"OCaml",
     NULL,
     {"caml_alloc_shr"},
     NULL,
     "OCaml's heap is its own: use memtrace; what C code allocates is recorded"},
    {"the Boehm collector",
     NULL,
     {"GC_malloc"},
     NULL,
     "blocks that a collector frees have no call of free: tell the recorder with heaptap.h"},
    {"LuaJIT", NULL, {"lj_alloc_create"}, NULL, "LuaJIT's heap is its own; see collectgarbage"},
};

/* What is known of one file. */
struct found {
    enum elf_name kind;
    const char *symbol;
};

static struct found
look_for(const struct allocator *a, const char *path)
{
    enum elf_name kinds[countof(a->symbols)];
    struct found best = {ELF_NAME_NONE, NULL};
    size_t count = 0;

    while (count < countof(a->symbols) && a->symbols[count] != NULL)
        count++;
    if (!elf_names_find(path, a->symbols, count, kinds))
        return best;
    for (size_t i = 0; i < count; i++)
        if (kinds[i] != ELF_NAME_IMPORTED && kinds[i] > best.kind)
            best = (struct found){kinds[i], a->symbols[i]};
    return best;
}

static bool
is_hooked(const struct hook_list *hooks, const char *symbol)
{
    for (size_t i = 0; i < hooks->count; i++)
        if (strcmp(hooks->hooks[i].symbol, symbol) == 0)
            return true;
    return false;
}

static void
say_inside(const struct allocator *a, const char *path, const struct found *f)
{
    if (a->preset == NULL)
        say_hint("%s has %s inside (%s). %s", path, a->name, f->symbol, a->remedy);
    else if (f->kind == ELF_NAME_EXPORTED)
        say_hint("%s has %s inside and calls it directly (%s), which --hook cannot see: only "
                 "patching its code would. Link it with libheaptap.a, or %s",
                 path, a->name, f->symbol, a->remedy);
    else
        say_hint("%s has %s inside, hidden (%s), where --hook cannot reach it: only patching its "
                 "code would. Link it with libheaptap.a, or %s",
                 path, a->name, f->symbol, a->remedy);
}

/* Is A in the file at PATH? Says so, and what to do. */
static bool
explain_one(const struct allocator *a, const char *path, const struct hook_list *hooks)
{
    struct found f = look_for(a, path);
    bool program = elf_names_is_program(path);

    if (f.kind == ELF_NAME_NONE && program && a->text != NULL && elf_names_has_text(path, a->text))
        f = (struct found){ELF_NAME_HIDDEN, "without symbols"};
    if (f.kind == ELF_NAME_NONE)
        return false;
    if (a->preset == NULL || program || f.kind != ELF_NAME_EXPORTED) {
        say_inside(a, path, &f);
        return true;
    }
    if (is_hooked(hooks, f.symbol)) // So the memory is what the allocator maps for itself.
        return false;
    say_hint("%s is %s under names of its own (%s): record it with --hook %s", path, a->name,
             f.symbol, a->preset);
    return true;
}

/* A malloc in the program comes before ours in link order, also for what libraries call. */
static bool
explain_own(const char *executable)
{
    static const char *const names[] = {"malloc", "free"};
    enum elf_name kinds[countof(names)];

    if (!elf_names_find(executable, names, countof(names), kinds) ||
        (kinds[0] != ELF_NAME_EXPORTED && kinds[0] != ELF_NAME_HIDDEN))
        return false;
    say_hint("%s has a malloc of its own linked in, which comes before the recorder's: link it "
             "with libheaptap.a, or " SYSTEM_MALLOC,
             executable);
    return true;
}

void
own_malloc_explain(const char *executable, const char *const *modules, size_t count,
                   const struct hook_list *hooks)
{
    bool known = false;

    for (size_t i = 0; i < countof(allocators); i++) {
        known |= explain_one(&allocators[i], executable, hooks);
        for (size_t k = 0; k < count; k++)
            if (strcmp(modules[k], executable) != 0)
                known |= explain_one(&allocators[i], modules[k], hooks);
    }
    if (!known)
        known = explain_own(executable);
    if (!known)
        say_hint("no allocator known by name is in it. If it maps memory itself (mmap), see "
                 "heaptap.h; if it has functions like malloc in a shared library, record them with "
                 "--hook SYMBOL=KIND");
}
