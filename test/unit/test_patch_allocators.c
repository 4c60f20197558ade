/* test_patch_allocators.c: the moved first instructions of the functions of real allocators.
 *
 * For each allocator, this program executes itself with that library preloaded. There it prepares
 * a jump in each function, without writing it. The instructions in the trampoline must be those of
 * the function, with equal targets and addresses. Then blocks go through the trampolines and the
 * functions in turn. musl's library cannot allocate beside glibc, so its functions are compared
 * only. */
#include "attach/patch.h"

#include <setjmp.h> // cmocka.h needs these.
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/attach_request.h"
#include "launch/hooks.h"

enum { SKIPPED = 77, FUNCTIONS_MAX = 512, PAGE = 4096 };

#define NAME_OF(name) #name,
static const char *const usual[] = {ATTACH_FUNCTIONS(NAME_OF) ATTACH_OPERATORS(NAME_OF)};

#ifdef HEAPTAP_ZYDIS
#include <Zydis/Zydis.h>

static struct target self;

/* A function of the allocator, and its trampoline. */
struct moved {
    const char *name;
    struct patch patch;
};
static struct moved moved[FUNCTIONS_MAX];
static size_t moved_count;

struct decoded {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
};

static struct decoded
decode_at(uint64_t address)
{
    ZydisDecoder decoder;
    struct decoded d;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (const void *)(uintptr_t)address, 15, &d.i,
                                             d.o)))
        d.i.length = 0;
    return d;
}

/* Return true if operand A of the instruction at A_AT means the same as operand B of that at
 * B_AT. */
static bool
is_same_operand(const struct decoded *a, uint64_t a_at, const struct decoded *b, uint64_t b_at,
                uint8_t index)
{
    const ZydisDecodedOperand *x = &a->o[index], *y = &b->o[index];
    ZyanU64 x_address, y_address;

    if (x->type != y->type)
        return false;
    if ((x->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && x->imm.is_relative) ||
        (x->type == ZYDIS_OPERAND_TYPE_MEMORY && x->mem.base == ZYDIS_REGISTER_RIP))
        return ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&a->i, x, a_at, &x_address)) &&
               ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&b->i, y, b_at, &y_address)) &&
               x_address == y_address;
    if (x->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return x->imm.value.u == y->imm.value.u;
    if (x->type == ZYDIS_OPERAND_TYPE_REGISTER)
        return x->reg.value == y->reg.value;
    return x->type != ZYDIS_OPERAND_TYPE_MEMORY ||
           (x->mem.base == y->mem.base && x->mem.index == y->mem.index &&
            x->mem.scale == y->mem.scale && x->mem.disp.value == y->mem.disp.value);
}

/* Return true if each instruction in P's trampoline does the same as the one that it replaces. A
 * call becomes a push and a jump, which is for unit/patch. */
static bool
is_same_code(const struct patch *p)
{
    for (uint8_t k = 0; k < p->count; k++) {
        uint64_t old_at = p->function + p->from[k], new_at = p->trampoline + p->to[k];
        struct decoded old = decode_at(old_at), new = decode_at(new_at);

        if (old.i.meta.category == ZYDIS_CATEGORY_CALL)
            continue;
        if (old.i.length == 0 || new.i.mnemonic != old.i.mnemonic)
            return false;
        for (uint8_t o = 0; o < old.i.operand_count_visible; o++)
            if (!is_same_operand(&old, old_at, &new, new_at, o))
                return false;
    }
    return true;
}

/* Prepare the function NAME of LIBRARY, with its trampoline at CODE. Return false on an error. */
static bool
move_function(void *library, const char *name, unsigned char *code)
{
    struct moved *m = &moved[moved_count];
    void *address = dlsym(library, name);
    const ElfW(Sym) *symbol = NULL;
    struct err err = {""};
    Dl_info info;

    if (address == NULL || dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0)
        return true;
    *m = (struct moved){.name = name, .patch.trampoline = (uint64_t)(uintptr_t)code};
    if (patch_prepare(&self, name, (uint64_t)(uintptr_t)address,
                      symbol != NULL ? symbol->st_size : 0, (uint64_t)(uintptr_t)code, &m->patch,
                      code, &err) != 0) {
        fprintf(stderr, "# %s\n", err.text);
        return false;
    }
    if (!is_same_code(&m->patch)) {
        fprintf(stderr, "# %s: other instructions\n", name);
        return false;
    }
    moved_count++;
    return true;
}

/* Return the trampoline of the function NAME, or with ORIGINAL the function. */
static void *
function_of(const char *name, bool original)
{
    for (size_t i = 0; i < moved_count; i++)
        if (strcmp(moved[i].name, name) == 0)
            return (void *)(uintptr_t)(original ? moved[i].patch.function
                                                : moved[i].patch.trampoline);
    return NULL;
}

#define CALL(type, name, original, ...)                                                            \
    ((type)(uintptr_t)function_of(name, original))(__VA_ARGS__)

/* Return true if the COUNT bytes at P are all VALUE. */
static bool
is_filled(const unsigned char *p, size_t count, unsigned char value)
{
    while (count > 0 && p[count - 1] == value)
        count--;
    return count == 0;
}

/* Allocate SIZE_BYTES in each way. The functions with a bit in WHICH are the originals. */
static bool
allocate_all(size_t size_bytes, unsigned which)
{
    unsigned char *p = CALL(void *(*)(size_t), "malloc", which & 1, size_bytes);
    void *aligned = NULL;
    bool ok = p != NULL;

    memset(p, 5, size_bytes);
    p = CALL(void *(*)(void *, size_t), "realloc", which & 2, p, 3 * size_bytes);
    ok = ok && p != NULL && is_filled(p, size_bytes, 5);
    CALL(void (*)(void *), "free", which & 4, p);
    p = CALL(void *(*)(size_t, size_t), "calloc", which & 8, size_bytes, 2);
    ok = ok && p != NULL && is_filled(p, 2 * size_bytes, 0);
    memset(p, 6, 2 * size_bytes);
    CALL(void (*)(void *), "free", !(which & 4), p);
    ok = ok &&
         CALL(int (*)(void **, size_t, size_t), "posix_memalign", which & 16, &aligned, 256,
              size_bytes) == 0 &&
         (uintptr_t)aligned % 256 == 0;
    CALL(void (*)(void *), "free", which & 4, aligned);
    aligned = CALL(void *(*)(size_t, size_t), "aligned_alloc", which & 32, 32,
                   (size_bytes + 31) / 32 * 32);
    ok = ok && aligned != NULL && (uintptr_t)aligned % 32 == 0;
    CALL(void (*)(void *), "free", which & 4, aligned);
    aligned = CALL(void *(*)(size_t, size_t), "memalign", which & 64, 1024, size_bytes);
    ok = ok && aligned != NULL && (uintptr_t)aligned % 1024 == 0;
    CALL(void (*)(void *), "free", which & 4, aligned);
    if (function_of("_Znwm", false) != NULL) {
        p = CALL(void *(*)(size_t), "_Znwm", which & 1, size_bytes);
        memset(p, 7, size_bytes);
        CALL(void (*)(void *), "_ZdlPv", which & 2, p);
    }
    return ok;
}

/* Compare the functions of the library at PATH; NULL = those of this process, which are also
 * called. Return an exit status. */
static int
compare(const char *path)
{
    void *library = path != NULL ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : RTLD_DEFAULT;
    struct hook_list hooks = {0};
    struct arena arena = {0};
    unsigned char *code;
    uint64_t low, gap;
    bool ok = true;

    if ((path != NULL && library == NULL) || target_open((uint32_t)getpid(), &self, NULL) != 0)
        return SKIPPED;
    low = (uint64_t)(uintptr_t)dlsym(library, "malloc");
    gap = target_gap(&self, low, low + PAGE, FUNCTIONS_MAX * TRAMPOLINE_BYTES);
    code = mmap((void *)(uintptr_t)gap, FUNCTIONS_MAX * TRAMPOLINE_BYTES,
                PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < countof(usual); i++)
        ok &= move_function(library, usual[i], code + TRAMPOLINE_BYTES * moved_count);
    for (size_t i = 0; strcmp(hook_kinds_offered(i), "list") != 0; i++)
        hook_kinds_add(&hooks, &arena, hook_kinds_offered(i), NULL);
    for (size_t i = 0; i < hooks.count; i++)
        ok &= move_function(library, hooks.hooks[i].symbol, code + TRAMPOLINE_BYTES * moved_count);
    fprintf(stderr, "# %zu functions\n", moved_count);
    for (size_t size_bytes = 1; path == NULL && size_bytes < 1 << 20;
         size_bytes = size_bytes * 5 / 3 + 1)
        for (unsigned which = 0; which < 128; which += 9)
            ok = allocate_all(size_bytes, which) && ok;
    return ok && moved_count >= 9 ? 0 : 1;
}

#endif // HEAPTAP_ZYDIS

/* Compare LIBRARY in a new process, where it is preloaded if PRELOAD. */
static void
compare_in_child(const char *library, bool preload)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        setenv(preload ? "LD_PRELOAD" : "COMPARED_ONLY", library, 1);
        setenv("COMPARED", library, 1);
        execl("/proc/self/exe", "test", NULL);
        _exit(1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED) {
        print_message("skip - %s: not installed\n", library);
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* If this fails, most programs crash while heaptap is attached, or the attach is refused. */
static void
glibc_does_the_same(void **unused)
{
    (void)unused;
    compare_in_child("libc.so.6", true);
}

/* If this fails, redis crashes while heaptap is attached to it. */
static void
jemalloc_does_the_same(void **unused)
{
    (void)unused;
    compare_in_child("libjemalloc.so.2", true);
}

/* If this fails, a program with tcmalloc crashes while heaptap is attached. */
static void
tcmalloc_does_the_same(void **unused)
{
    (void)unused;
    compare_in_child("libtcmalloc_minimal.so.4", true);
}

/* If this fails, a program with mimalloc crashes while heaptap is attached. */
static void
mimalloc_does_the_same(void **unused)
{
    (void)unused;
    compare_in_child("libmimalloc.so.2", true);
}

/* If this fails, the decoder of first instructions fails for other compilers' code. */
static void
musl_has_the_same_instructions(void **unused)
{
    (void)unused;
    compare_in_child("/lib/ld-musl-x86_64.so.1", false);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glibc_does_the_same),
        cmocka_unit_test(jemalloc_does_the_same),
        cmocka_unit_test(tcmalloc_does_the_same),
        cmocka_unit_test(mimalloc_does_the_same),
        cmocka_unit_test(musl_has_the_same_instructions),
    };

#ifdef HEAPTAP_ZYDIS
    const char *library = getenv("COMPARED");

    // The dynamic linker continues without a library that does not exist.
    if (library != NULL && getenv("COMPARED_ONLY") == NULL &&
        dlopen(library, RTLD_LAZY | RTLD_NOLOAD) == NULL)
        return SKIPPED;
    if (library != NULL)
        return compare(getenv("COMPARED_ONLY"));
#else
    print_message("built without Zydis\n");
    return SKIPPED;
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
