/* oracle_book.c: the oracle's records, simple enough to be trusted.
 *
 * One global lock, one chained hash of live blocks, one chained hash of stacks, plain additions:
 * obvious code is preferred to fast code. Where heaptap works lazily, the oracle works eagerly and
 * by another method:
 *
 *     the peak    each site that changes joins a list; whenever the live sum exceeds all before,
 *                 the live values of the listed sites are copied to their peak values and the list
 *                 is emptied. So all sites have the peak values of the last maximum.
 *     lives       each thread numbers its blocks, without end; a block that carries this thread and
 *                 a number has lived for as many allocations as there are numbers since.
 *
 * In a program with threads, the two may see events of different threads in different orders. So
 * only the moment and the attribution of the peak may differ from heaptap's. Every other counter is
 * a sum that does not depend on the order.
 *
 * The oracle's memory comes from mmap. A forked child must not write into its parent's records: a
 * word in a page that the kernel wipes at fork identifies the child, which records nothing. A vfork
 * child shares the memory, so its events count as the parent's, as they do for heaptap. */
#include "oracle_book.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "oracle.h"

enum { BLOCKS_MAX = 1 << 26, BLOCK_HEADS = 1 << 20, SITE_HEADS = 1 << 18 };

static struct oracle_header *header;
static struct oracle_site *sites;
static uint64_t *words;

static struct oracle_block *blocks; // 0 is not used.
static uint32_t *block_heads, *site_heads;
static uint32_t block_count = 1, free_blocks;
static uint32_t *dirty; // Sites changed since the last peak.
static uint32_t dirty_count;
static uint64_t *free_words; // Free buffers, linked through their first word.
static int64_t live_bytes;
static uint64_t thread_count;
static uint64_t *is_this_process; // In a page that the kernel wipes at fork.
static int lock_word;

// The number of this thread, 0 = none yet, and the number of blocks that it has allocated.
static __thread uint64_t own_thread __attribute__((tls_model("initial-exec")));
static __thread uint64_t own_serial __attribute__((tls_model("initial-exec")));

_Noreturn void
oracle_die(const char *why)
{
    char text[256];
    int length = snprintf(text, sizeof text, "oracle: %s\n", why);

    if (write(2, text, (size_t)length) < 0)
        abort();
    abort();
}

static void *
oracle_book_map(size_t size_bytes, int fd)
{
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

    if (p == MAP_FAILED)
        oracle_die("no memory");
    return p;
}

/* ORACLE_OUT with the first %p replaced by the process id, and NUMBER appended from the second
 * image of a process on. */
static void
expand_path(const char *pattern, int number, char *ret_path, size_t path_bytes)
{
    const char *p = strstr(pattern, "%p");
    int length;

    if (p == NULL)
        length = snprintf(ret_path, path_bytes, "%s", pattern);
    else
        length = snprintf(ret_path, path_bytes, "%.*s%d%s", (int)(p - pattern), pattern, getpid(),
                          p + 2);
    if (number > 1 && (size_t)length < path_bytes)
        snprintf(ret_path + length, path_bytes - (size_t)length, ".%d", number);
}

static int
create_file(const char *pattern)
{
    char path[4096];
    int fd = -1;

    for (int number = 1; number < 1000 && fd < 0; number++) {
        expand_path(pattern, number, path, sizeof path);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    if (fd < 0 || ftruncate(fd, (off_t)ORACLE_FILE_BYTES) != 0)
        oracle_die("cannot create ORACLE_OUT");
    return fd;
}

static void
map_tables(void)
{
    blocks = oracle_book_map(sizeof *blocks * BLOCKS_MAX, -1);
    block_heads = oracle_book_map(sizeof *block_heads * BLOCK_HEADS, -1);
    site_heads = oracle_book_map(sizeof *site_heads * SITE_HEADS, -1);
    dirty = oracle_book_map(sizeof *dirty * ORACLE_SITES_MAX, -1);
    is_this_process = oracle_book_map(4096, -1);
    if (madvise(is_this_process, 4096, MADV_WIPEONFORK) != 0)
        oracle_die("no MADV_WIPEONFORK");
}

bool
book_open(void)
{
    const char *pattern = getenv("ORACLE_OUT");
    int fd;

    if (pattern == NULL)
        return false;
    fd = create_file(pattern);
    header = oracle_book_map(ORACLE_FILE_BYTES, fd);
    close(fd);
    sites = (struct oracle_site *)(void *)((char *)header + ORACLE_SITES_OFF);
    words = (uint64_t *)(void *)((char *)header + ORACLE_WORDS_OFF);
    map_tables();
    stack_choose(getenv("ORACLE_UNWINDER"));
    header->pid = (uint64_t)getpid();
    if (readlink("/proc/self/exe", header->executable, sizeof header->executable - 1) < 0)
        oracle_die("no /proc");
    header->site_count = 1;
    header->magic = ORACLE_MAGIC;
    *is_this_process = 1;
    return true;
}

bool
book_is_open(void)
{
    return is_this_process != NULL && *is_this_process == 1;
}

static void
oracle_book_lock(void)
{
    while (__atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE) != 0)
        sched_yield();
}

static void
unlock(void)
{
    __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
}

uint64_t *
book_borrow_words(void)
{
    uint64_t *p;

    oracle_book_lock();
    p = free_words;
    if (p != NULL)
        memcpy(&free_words, p, sizeof free_words);
    unlock();
    return p != NULL ? p : oracle_book_map(sizeof *p * ORACLE_DEPTH_MAX, -1);
}

void
book_return_words(uint64_t *p)
{
    oracle_book_lock();
    memcpy(p, &free_words, sizeof free_words);
    free_words = p;
    unlock();
}

static uint64_t
hash_stack(const struct oracle_stack *stack)
{
    uint64_t h = stack->depth;

    for (uint32_t i = 0; i < stack->depth; i++)
        h = (h ^ stack->words[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
    return h;
}

static uint32_t
add_site(const struct oracle_stack *stack, uint64_t hash)
{
    uint32_t id = (uint32_t)header->site_count;
    struct oracle_site *s = &sites[id];

    if (id == ORACLE_SITES_MAX || header->word_count + stack->depth > ORACLE_WORDS_MAX)
        oracle_die("too many stacks");
    s->hash = hash;
    s->words = header->word_count;
    s->depth = stack->depth;
    memcpy(words + s->words, stack->words, stack->depth * sizeof *words);
    s->next = site_heads[hash % SITE_HEADS];
    site_heads[hash % SITE_HEADS] = id;
    header->word_count += stack->depth;
    header->site_count++;
    return id;
}

static uint32_t
oracle_book_find_site(const struct oracle_stack *stack)
{
    uint64_t hash = hash_stack(stack);

    for (uint32_t id = site_heads[hash % SITE_HEADS]; id != 0; id = sites[id].next)
        if (sites[id].hash == hash && sites[id].depth == stack->depth &&
            memcmp(words + sites[id].words, stack->words, stack->depth * sizeof *words) == 0)
            return id;
    return add_site(stack, hash);
}

static uint32_t *
head_of(uint64_t address)
{
    return &block_heads[(address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 44];
}

static void
insert_block(struct oracle_block block)
{
    uint32_t *head = head_of(block.address);
    uint32_t id = free_blocks;

    if (id != 0)
        free_blocks = blocks[id].next;
    else
        id = block_count++;
    if (id == BLOCKS_MAX)
        oracle_die("too many live blocks");
    blocks[id] = block;
    blocks[id].next = *head;
    *head = id;
}

static struct oracle_block
remove_block(uint64_t address)
{
    struct oracle_block found;

    for (uint32_t *link = head_of(address); *link != 0; link = &blocks[*link].next) {
        uint32_t id = *link;

        if (blocks[id].address != address)
            continue;
        found = blocks[id];
        *link = found.next;
        blocks[id].next = free_blocks;
        free_blocks = id;
        return found;
    }
    return (struct oracle_block){0};
}

static struct oracle_bin *
bin_of(uint64_t size_bytes)
{
    if (size_bytes < ORACLE_SMALL_BINS)
        return &header->small[size_bytes];
    return &header->range[63 - __builtin_clzll(size_bytes - 1)];
}

static void
mark_dirty(uint32_t site)
{
    if (sites[site].dirty)
        return;
    sites[site].dirty = 1;
    dirty[dirty_count++] = site;
}

static void
oracle_book_look_for_peak(void)
{
    if (live_bytes <= header->totals.peak_bytes)
        return;
    header->totals.peak_bytes = live_bytes;
    header->totals.peak_blocks = header->totals.allocations - header->totals.frees;
    while (dirty_count > 0) {
        struct oracle_site *s = &sites[dirty[--dirty_count]];

        s->dirty = 0;
        s->counters.peak_bytes = s->counters.allocated_bytes - s->counters.freed_bytes;
        s->counters.peak_blocks = s->counters.allocations - s->counters.frees;
    }
}

static void
add_alloc(struct oracle_counters *c, uint64_t size_bytes)
{
    if (c->allocations == 0 || size_bytes < c->size_min)
        c->size_min = size_bytes;
    if (size_bytes > c->size_max)
        c->size_max = size_bytes;
    c->allocations++;
    c->allocated_bytes += (int64_t)size_bytes;
}

static void
block_ends(struct oracle_block block)
{
    struct oracle_bin *bin = bin_of(block.size_bytes);

    sites[block.site].counters.frees++;
    sites[block.site].counters.freed_bytes += (int64_t)block.size_bytes;
    header->totals.frees++;
    header->totals.freed_bytes += (int64_t)block.size_bytes;
    bin->frees++;
    bin->freed_bytes += (int64_t)block.size_bytes;
    live_bytes -= (int64_t)block.size_bytes;
    mark_dirty(block.site);
}

/* Record a block of this thread; return its site. */
static uint32_t
oracle_book_block_begins(uint64_t address, uint64_t size_bytes, const struct oracle_stack *stack)
{
    struct oracle_bin *bin = bin_of(size_bytes);
    struct oracle_block stale = remove_block(address);
    struct oracle_block block = {.address = address, .size_bytes = size_bytes};

    block.site = oracle_book_find_site(stack);
    if (stale.site != 0) {
        header->overwritten_blocks++;
        block_ends(stale);
    }
    if (own_thread == 0)
        own_thread = ++thread_count;
    block.thread = own_thread;
    block.serial = ++own_serial;
    insert_block(block);
    add_alloc(&sites[block.site].counters, size_bytes);
    add_alloc(&header->totals, size_bytes);
    bin->allocations++;
    bin->allocated_bytes += (int64_t)size_bytes;
    live_bytes += (int64_t)size_bytes;
    mark_dirty(block.site);
    return block.site;
}

void
book_alloc(const void *p, size_t size_bytes, const struct oracle_stack *stack)
{
    oracle_book_lock();
    oracle_book_block_begins((uintptr_t)p, size_bytes, stack);
    oracle_book_look_for_peak();
    unlock();
}

static void
count_life(struct oracle_counters *c, uint64_t since)
{
    if (since == 0)
        c->temporary++;
    else if (since <= 15)
        c->ended_16++;
    else if (since <= 255)
        c->ended_256++;
}

/* Count the lifetime of BLOCK. Called before the block is freed; a block that moves is not
 * counted. */
static void
look_at_life(struct oracle_block block)
{
    if (block.thread != own_thread)
        return;
    count_life(&sites[block.site].counters, own_serial - block.serial);
    count_life(&header->totals, own_serial - block.serial);
}

void
book_free(const void *p)
{
    struct oracle_block block;

    oracle_book_lock();
    block = remove_block((uintptr_t)p);
    if (block.site == 0) {
        header->unknown_frees++;
    } else {
        look_at_life(block);
        block_ends(block);
    }
    unlock();
}

struct oracle_block
book_take(const void *p)
{
    struct oracle_block block;

    oracle_book_lock();
    block = remove_block((uintptr_t)p);
    if (block.site == 0)
        header->unknown_frees++;
    unlock();
    return block;
}

size_t
book_size(const void *p)
{
    size_t size_bytes = 0;

    oracle_book_lock();
    for (uint32_t id = *head_of((uintptr_t)p); id != 0; id = blocks[id].next)
        if (blocks[id].address == (uintptr_t)p)
            size_bytes = blocks[id].size_bytes;
    unlock();
    return size_bytes;
}

void
book_put_back(struct oracle_block block)
{
    if (block.site == 0)
        return;
    oracle_book_lock();
    insert_block(block);
    unlock();
}

static void
count_realloc(struct oracle_counters *to, uint64_t old_bytes, uint64_t new_bytes)
{
    to->reallocations++;
    if (new_bytes > old_bytes)
        to->grown_bytes += (int64_t)(new_bytes - old_bytes);
}

void
book_realloc(struct oracle_block old, const void *p, size_t size_bytes,
             const struct oracle_stack *stack)
{
    uint32_t site;

    oracle_book_lock();
    if (old.site != 0 && p == NULL)
        look_at_life(old);
    if (old.site != 0)
        block_ends(old);
    if (p != NULL) {
        site = oracle_book_block_begins((uintptr_t)p, size_bytes, stack);
        if (old.site != 0) {
            sites[old.site].counters.moved++;
            header->totals.moved++;
            count_realloc(&sites[site].counters, old.size_bytes, size_bytes);
            count_realloc(&header->totals, old.size_bytes, size_bytes);
        }
    }
    oracle_book_look_for_peak();
    unlock();
}

void
book_failed_call(void)
{
    oracle_book_lock();
    header->failed_calls++;
    unlock();
}

void
book_inside_call(void)
{
    oracle_book_lock();
    header->inside_calls++;
    unlock();
}
