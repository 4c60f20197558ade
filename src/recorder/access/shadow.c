/* shadow.c: places and maintains the counters.
 *
 * Instrumented code adds one to the 64-bit counter at ((address & -granule) >> scale) + base.
 * Granule and scale are constants in the code, set by compiler options. Each granule has a separate
 * counter, adjacent to its neighbour's:
 *
 *     granule  scale   of memory   use
 *     64       3       1/8         the compiler's default
 *     16       1       1/2         glibc's alignment: no two blocks share a granule
 *     8        0       all of it   each word of a block, the finest view of its fields
 *
 * The base is a variable that the recorder sets. All counters are one mapping, which uses memory
 * only where it is written. It must not overlap the program's memory, wherever the kernel places
 * the latter: programs and libraries move by up to 2^44 bytes (vm.mmap_rnd_bits = 32).
 *
 *     0x0000…  programs that are not position-independent, and their heap
 *     0x1000…  to 0x5000…   counters of granules of 16, for all addresses
 *     0x1500…  to 0x4000…   counters of words, for addresses from 0x5500… on
 *     0x5555…  to 0x6556…   position-independent programs, and their heap
 *     0x6fff…  to 0x8000…   libraries, mappings, stacks
 *
 * So words have counters only in position-independent programs. Counters for granules of 64 bytes
 * fit anywhere. The counter of a word is displaced by 2048 bytes. If both had the same offset in
 * their pages, each access to one would wait for the store to the other, because x86 compares the
 * low 12 bits of addresses.
 *
 * If code calls a function for each access, reads and writes can be counted separately, in the
 * lower and the upper half of the counter (counter_overflow.c). Then no code may add to the counter
 * as a single number.
 *
 * An instrumented program cannot run without counters, because its code writes to them even if it
 * is not recorded. So this is the only place where the recorder ends a process. It does so before
 * main. */
#include "access/shadow.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "access/counter_overflow.h"
#include "base/atomics.h"
#include "base/fmt.h"
#include "platform/arch_x86_64.h"
#include "platform/mem.h"
#include "platform/process.h"
#include "platform/sys.h"

#define ADDRESS_END (UINT64_C(1) << ARCH_ADDRESS_BITS)
#define WORDS_FROM  UINT64_C(0x550000000000) // Position-independent programs begin above this.

/* To zero a range of counters of at least this size, drop its pages with madvise instead of writing
 * zeros. */
#define DROPPED_BYTES ((uint64_t)128 << 10)

enum { EXIT_STATUS = 1 };

struct shadow shadow;
EXPORT uintptr_t __memprof_shadow_memory_dynamic_address;

static const struct placement {
    uint32_t granule_bytes, granule_shift, scale;
    uint64_t low; // First address with a counter.
    uint64_t at;  // Address of the first counter; 0 = anywhere.
    uint64_t skew;
} placements[] = {
    {64, 6, 3, 0, 0, 0},
    {16, 4, 1, 0, UINT64_C(0x100000000000), 0},
    {8, 3, 0, WORDS_FROM, UINT64_C(0x150000000000), 2048},
};

_Noreturn void
shadow_fails(const char *why)
{
    char line[512];
    struct fmt f = fmt_init(line, sizeof line - 1);

    fmt_str(&f, "heaptap: cannot count the accesses of this program: ");
    fmt_str(&f, why);
    fmt_char(&f, '\n');
    sys_write_all(2, line, f.length);
    for (;;)
        arch_syscall(SYS_exit_group, EXIT_STATUS, 0, 0, 0, 0, 0);
}

static const struct placement *
placement_of(uint32_t granule_bytes)
{
    for (size_t i = 0; i < countof(placements); i++)
        if (placements[i].granule_bytes == granule_bytes)
            return &placements[i];
    shadow_fails("the size of its granules is not supported");
}

static COLD void
map_counters(const struct placement *p)
{
    uint64_t size_bytes = ((ADDRESS_END - p->low) >> p->scale) + 4096;
    void *wanted = (void *)p->at;
    // Map like a stack, because the kernel would charge any other mapping to RLIMIT_DATA
    // (platform/mem.c).
    void *got = sys_mmap(wanted, size_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_GROWSDOWN |
                             (wanted != NULL ? MAP_FIXED_NOREPLACE : 0),
                         -1, 0);

    if (sys_failed(got) && (intptr_t)got == -EEXIST)
        shadow_fails("other memory occupies the addresses of the counters. Is the address space "
                     "laid out from below (ulimit -s unlimited)? --granule=64 needs less of it");
    if (sys_failed(got))
        shadow_fails("the counters need 16 to 64 TiB of address space; only the part in use takes "
                     "memory. Raise the limit (ulimit -v unlimited), and allow overcommit (sysctl "
                     "vm.overcommit_memory=0)");
    if (wanted != NULL && got != wanted)
        shadow_fails("this kernel maps the counters at another address; use Linux 4.17 or later");
    sys_madvise(got, size_bytes, MADV_NOHUGEPAGE);
    mem_exclude(got, size_bytes);
    shadow.low = p->low;
    shadow.high = ADDRESS_END;
    shadow.granule_shift = p->granule_shift;
    shadow.scale = p->scale;
    shadow.granule_bytes = p->granule_bytes;
    shadow.base = (uintptr_t)got + p->skew - (p->low >> p->scale);
    store_release(&__memprof_shadow_memory_dynamic_address, shadow.base);
}

COLD void
shadow_start(uint32_t granule_bytes, bool separate)
{
    static uint32_t begun; // Atomic: granule size and SEPARATE of the first call; 0 before it.
    uint32_t current = 0, wanted = granule_bytes | (uint32_t)separate;

    if (!cas_acq_rel(&begun, &current, wanted)) {
        if ((current & ~1u) != granule_bytes)
            shadow_fails("its parts were built with different --granule sizes. Build all of them "
                         "with heaptap cc and one size");
        if (current != wanted)
            shadow_fails("only some parts count reads and writes separately, as gcc does. Build "
                         "all parts with heaptap cc --reads-writes");
        return;
    }
    shadow.separate = separate;
    if (granule_bytes == 8 && process_value(AT_ENTRY) < WORDS_FROM)
        shadow_fails("--granule=8 counts in position-independent programs only. Build it with "
                     "-fPIE and link it with -pie, or use --granule=16");
    map_counters(placement_of(granule_bytes));
}

/* Two counters, read as one vector without alignment. */
typedef uint64_t two_counters __attribute__((vector_size(16), aligned(8), may_alias));

/* Number of counters that clear_counters zeroes without reading them first. So few counters rarely
 * fill a whole page, which a check could keep untouched. */
enum { FEW_COUNTERS = 32 };

/* Zero COUNT counters. In a larger range, write only to counters that are not zero. So the counters
 * of memory that the program never uses stay untouched. */
static inline void
clear_counters(uint64_t *counter, uint64_t count)
{
    if (count <= FEW_COUNTERS) {
        for (; count >= 2; count -= 2, counter += 2)
            *(two_counters *)(void *)counter = (two_counters){0, 0};
        if (count > 0)
            *counter = 0;
        return;
    }
    for (; count >= 4; count -= 4, counter += 4)
        if ((counter[0] | counter[1] | counter[2] | counter[3]) != 0)
            counter[0] = counter[1] = counter[2] = counter[3] = 0;
    for (; count > 0; count--, counter++)
        if (*counter != 0)
            *counter = 0;
}

static COLD void
drop_counters(uint64_t *counter, uint64_t count)
{
    uintptr_t from = (uintptr_t)counter, to = (uintptr_t)(counter + count);
    uintptr_t first = round_up(from, 4096), last = round_down(to, 4096);

    if (sys_madvise((void *)first, last - first, MADV_DONTNEED) != 0) {
        clear_counters(counter, count);
        return;
    }
    clear_counters(counter, (first - from) / sizeof *counter);
    clear_counters((uint64_t *)last, (to - last) / sizeof *counter);
}

void
shadow_clear(uintptr_t p, uint64_t size_bytes)
{
    uint64_t count = shadow_granules(p, size_bytes);

    if (unlikely(count * sizeof(uint64_t) >= DROPPED_BYTES))
        drop_counters(shadow_counter(p), count);
    else if (count > 0)
        clear_counters(shadow_counter(p), count);
    counter_overflow_clear(shadow_counter(p), count);
}

COLD void
shadow_add_to_half(uint32_t *half, uint32_t n)
{
    // Add atomically even if counts need not be exact: a lost addition here could make the half
    // overflow twice.
    if (add_relaxed(half, n) > UINT32_MAX - n)
        counter_overflow_add(half);
}

/* Add N to each of COUNT counters. */
static INLINE void
add_to_each(uint64_t *counter, uint64_t count, uint64_t n)
{
    if (shadow_is_atomic()) {
        for (; count > 0; count--)
            add_relaxed(counter++, n);
        return;
    }
    for (; count >= 4; count -= 4, counter += 4) {
        two_counters *two = (two_counters *)(void *)counter;

        two[0] += n;
        two[1] += n;
    }
    for (; count > 0; count--)
        *counter++ += n;
}

/* Add N to the half for KIND of each of COUNT counters. */
static NOINLINE void
add_to_halves(uint64_t *counter, uint64_t count, uint32_t n, enum shadow_access kind)
{
    for (; count > 0; count--) {
        uint32_t *half = shadow_half(counter++, kind);

        if (shadow_is_atomic() || unlikely(load_relaxed(half) >= SHADOW_HALF_NEAR_END))
            shadow_add_to_half(half, n);
        else
            arch_add(half, n);
    }
}

void
shadow_count(const void *p, uint64_t size_bytes, enum shadow_access kind)
{
    uint32_t shift = shadow.granule_shift - 3;
    uint64_t first = (uintptr_t)p >> 3, last = ((uintptr_t)p + size_bytes - 1) >> 3;
    uint64_t granule = first >> shift, more = (last >> shift) - granule;
    uint64_t words = UINT64_C(1) << shift; // Number of words in a granule.
    uint64_t in_first = more == 0 ? last - first + 1 : words - (first & (words - 1));
    uint64_t in_last = (last & (words - 1)) + 1;
    uint64_t *counter;

    if (size_bytes == 0 || unlikely(!shadow_has((uintptr_t)p, size_bytes)))
        return;
    counter = shadow_counter((uintptr_t)p);
    // The access may cover only a part of the first and of the last granule.
    if (unlikely(shadow.separate)) {
        add_to_halves(counter, 1, (uint32_t)in_first, kind);
        if (more > 0) {
            add_to_halves(counter + 1, more - 1, (uint32_t)words, kind);
            add_to_halves(counter + more, 1, (uint32_t)in_last, kind);
        }
        return;
    }
    add_to_each(counter, 1, in_first);
    if (more > 0) {
        add_to_each(counter + 1, more - 1, words);
        add_to_each(counter + more, 1, in_last);
    }
}
