/* scope_provider.h: all operators new and delete of one object, under their mangled names. PROVIDER
 * is the object's id, which each operator prints; PROVIDER_AS may be an attribute of all operators.
 *
 * Blocks come from malloc unchanged. The provider records its blocks, and aborts if it has to
 * delete another block: new and delete then belong to different providers. */
#ifndef SCOPE_PROVIDER_H
#define SCOPE_PROVIDER_H

#include "scope.h"

#ifndef PROVIDER_AS
#define PROVIDER_AS
#endif

enum { PROVIDER_BLOCKS = 4096 };

static void *provider_blocks[PROVIDER_BLOCKS];

static void *
provider_makes(size_t size, size_t align)
{
    void *p = NULL;

    say(" <%s>", PROVIDER);
    if (align == 0)
        p = malloc(size ? size : 1);
    else if (posix_memalign(&p, align, size ? size : 1) != 0)
        p = NULL;
    if (p == NULL)
        return NULL;
    for (int i = 0; i < PROVIDER_BLOCKS; i++) {
        if (provider_blocks[i] == NULL)
            return provider_blocks[i] = p;
    }
    abort();
}

static void
provider_ends(void *p)
{
    if (p == NULL)
        return;
    say(" <%s>", PROVIDER);
    for (int i = 0; i < PROVIDER_BLOCKS; i++) {
        if (provider_blocks[i] == p) {
            provider_blocks[i] = NULL;
            free(p);
            return;
        }
    }
    say("\n%s: this block is not mine\n", PROVIDER);
    abort();
}

#ifdef __cplusplus
extern "C" {
#endif

// Not inlined, because the linker must bind calls from the same file as well.
#define PROVIDER_NEW(name, align, ...)                                                             \
    PROVIDER_AS void *name(__VA_ARGS__);                                                           \
    NOINLINE PROVIDER_AS void *name(__VA_ARGS__) { return provider_makes(size, align); }
#define PROVIDER_DELETE(name, ...)                                                                 \
    PROVIDER_AS void name(__VA_ARGS__);                                                            \
    NOINLINE PROVIDER_AS void name(__VA_ARGS__) { provider_ends(p); }

PROVIDER_NEW(_Znwm, 0, size_t size)
PROVIDER_NEW(_Znam, 0, size_t size)
PROVIDER_NEW(_ZnwmRKSt9nothrow_t, 0, size_t size, const void *tag)
PROVIDER_NEW(_ZnamRKSt9nothrow_t, 0, size_t size, const void *tag)
PROVIDER_NEW(_ZnwmSt11align_val_t, align, size_t size, size_t align)
PROVIDER_NEW(_ZnamSt11align_val_t, align, size_t size, size_t align)
PROVIDER_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, align, size_t size, size_t align, const void *tag)
PROVIDER_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, align, size_t size, size_t align, const void *tag)
PROVIDER_DELETE(_ZdlPv, void *p)
PROVIDER_DELETE(_ZdaPv, void *p)
PROVIDER_DELETE(_ZdlPvm, void *p, size_t size)
PROVIDER_DELETE(_ZdaPvm, void *p, size_t size)
PROVIDER_DELETE(_ZdlPvRKSt9nothrow_t, void *p, const void *tag)
PROVIDER_DELETE(_ZdaPvRKSt9nothrow_t, void *p, const void *tag)
PROVIDER_DELETE(_ZdlPvSt11align_val_t, void *p, size_t align)
PROVIDER_DELETE(_ZdaPvSt11align_val_t, void *p, size_t align)
PROVIDER_DELETE(_ZdlPvmSt11align_val_t, void *p, size_t size, size_t align)
PROVIDER_DELETE(_ZdaPvmSt11align_val_t, void *p, size_t size, size_t align)
PROVIDER_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, void *p, size_t align, const void *tag)
PROVIDER_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, void *p, size_t align, const void *tag)

#ifdef __cplusplus
}
#endif

#endif
