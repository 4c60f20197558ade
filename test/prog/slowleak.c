/* slowleak.c: a server that answers requests from a cache and loses an entry now and
 * then.
 *
 *     slowleak REQUESTS [REQUESTS_PER_SECOND]
 *
 * An answer is some tens of KiB and lives until RING more have been made: megabytes of
 * churn. The cache has SLOTS entries. A new one replaces an old one, which is freed,
 * except that one request in LOST_EVERY finds its slot "being refreshed", puts a new entry there
 * and does not free the old one. So after N requests N / LOST_EVERY entries are lost, of
 * ENTRY_BYTES each, and nothing else. With a rate it sleeps between requests, so that a run takes
 * its time. Prints how many entries it lost. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RING = 128, SLOTS = 4096, ENTRY_BYTES = 480, LOST_EVERY = 4000, ANSWER_MAX = 64 << 10 };

struct entry {
    uint64_t key;
    char text[ENTRY_BYTES - sizeof(uint64_t)];
};

static struct entry *cache[SLOTS];
static char *ring[RING];
static uint64_t state = 42;
static unsigned long lost;

static uint64_t
draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

__attribute__((noinline)) static struct entry *
new_entry(uint64_t key)
{
    struct entry *e = malloc(sizeof *e);

    e->key = key;
    snprintf(e->text, sizeof e->text, "value of %llu", (unsigned long long)key);
    return e;
}

__attribute__((noinline)) static void
refresh_entry(struct entry **slot, uint64_t key)
{
    // The bug: the old entry is still there.
    *slot = new_entry(key);
    lost++;
}

__attribute__((noinline)) static struct entry *
look_up(uint64_t key, unsigned long request)
{
    struct entry **slot = &cache[key % SLOTS];

    if (*slot != NULL && request % LOST_EVERY == LOST_EVERY - 1) {
        refresh_entry(slot, key);
    } else if (*slot == NULL || (*slot)->key != key) {
        free(*slot);
        *slot = new_entry(key);
    }
    return *slot;
}

__attribute__((noinline)) static char *
make_answer(const struct entry *e)
{
    size_t bytes = sizeof e->text + draw() % ANSWER_MAX;
    char *answer = malloc(bytes);

    memcpy(answer, e->text, sizeof e->text);
    return answer;
}

__attribute__((noinline)) static void
handle_request(unsigned long request)
{
    char **place = &ring[request % RING];

    free(*place);
    *place = make_answer(look_up(draw(), request));
}

__attribute__((noinline)) static void
load_cache(void)
{
    for (uint64_t i = 0; i < SLOTS; i++)
        cache[i] = new_entry(i);
}

static void
pace(unsigned long request, unsigned long per_second, const struct timespec *start)
{
    uint64_t due_ns = request * UINT64_C(1000000000) / per_second;
    struct timespec due = {start->tv_sec + (time_t)(due_ns / 1000000000u),
                           start->tv_nsec + (long)(due_ns % 1000000000u)};

    if (due.tv_nsec >= 1000000000) {
        due.tv_nsec -= 1000000000;
        due.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

int
main(int argc, char **argv)
{
    unsigned long requests = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    unsigned long per_second = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    struct timespec start;

    load_cache();
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (unsigned long i = 0; i < requests; i++) {
        handle_request(i);
        if (per_second && i % 16 == 0)
            pace(i, per_second, &start);
    }
    printf("%lu lost\n", lost);
    return 0;
}
