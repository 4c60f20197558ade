/* distance.c: random distances between a thread's samples. */
#include "event/distance.h"

#include "account/thread.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "event/guarded_draw.h"
#include "platform/arch_x86_64.h"
#include "platform/host.h"
#include "platform/state.h"
#include "platform/sys.h"

static COLD void
distance_seed(void)
{
    const char *text = host_environment("HEAPTAP_SEED");
    uint64_t word = text != NULL ? parse_uint(&text) : 0;

    if (text == NULL)
        word = arch_cycles() ^ sys_clock_ns() << 20 ^ (uint64_t)(uintptr_t)&tls ^
               (uint64_t)sys_gettid() << 40;
    else if (tls.self != NULL)
        // Threads must differ, even those that use a row one after another.
        word += hash_u64((uint64_t)tls.self->row << 32 | tls.self->disk->uses);
    tls.random = hash_u64(word) | 1;
}

COLD int64_t
distance_draw(const struct draw_mode *mode)
{
    if (unlikely(tls.random == 0))
        distance_seed();
    return guarded_draw_distance(mode, &tls.random);
}
