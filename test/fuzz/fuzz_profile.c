/* fuzz_profile.c: load any bytes as a profile. They are refused with a sentence, or the loaded
 * profile is valid (profile_valid.h) and every number is in its interval.
 *
 * A profile has few words that matter among many zeros. Blind changes hardly ever hit these words,
 * and never those in a compressed table. So the mutator understands the container. Usually it
 * changes one word of the header, of the directory, or of the front of a table to a value near a
 * limit, and expands and compresses the table if necessary. Sometimes it changes bytes blindly.
 *
 * Files whose compressed tables claim more than TABLES_BYTES_MAX are not tried: the loader would
 * read them, but the fuzzer would only report that memory is exhausted. */
/* covers: raw.c load.c load_tree.c load_heaps.c load_counters.c load_sampling.c interval.c */
/* covers: loader.c load_history.c load_access.c time_slice.c */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analyse/interval.h"
#include "format/format.h"
#include "load/load.h"
#include "profile/profile_valid.h"
#include "profile/time_slice.h"
#include "refused.h"
#include "util/ensure.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size_bytes, size_t limit_bytes, unsigned seed);

enum {
    TABLES_BYTES_MAX = 64 << 20,
    EXPANDED_BYTES_MAX = 1 << 20, // Maximum size of a compressed table that is changed.
    HEADER_BYTES = 816,           // Bytes of the header that have a meaning.
    // Bytes at the front of a table, where small profiles have their records.
    FRONT_BYTES = 4096,
};

static void
demand(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_profile: %s\n", what);
    abort();
}

static void
check_valid(const struct profile *p)
{
    if (!profile_is_valid(p))
        demand(false, ensure_broken_text());
}

static void
check_intervals(const struct counters *c, const struct errors *e)
{
    for (int m = 0; m <= METRIC_COUNT; m++) {
        struct interval i = interval_of_metric(c, e, (enum metric)m);
        double value = (double)metric_value(c, (enum metric)m);

        demand(isfinite(i.low) && isfinite(i.high), "the bounds of an interval are finite");
        demand(i.low <= value && value <= i.high, "a number lies in its interval");
    }
}

static void
check_sampling(const struct profile *p)
{
    demand(p->mode_count > 0, "there is a recording mode");
    for (size_t i = 0; i < p->snapshot_count; i++)
        demand(strlen(p->snapshots[i].name) <= DISK_SNAPSHOT_NAME_BYTES, "a snapshot's name ends");
    for (size_t i = 0; i < p->site_count; i++)
        check_intervals(&p->sites[i].counters, profile_site_errors(p, i));
    check_intervals(&p->totals, &p->errors);
}

/* Require that a cut at the end keeps the whole profile, and that the events until a snapshot and
 * those after it add up to all events. */
static void
check_history(struct profile *p)
{
    int64_t allocations = p->totals.allocations, freed_bytes = p->totals.freed_bytes;
    struct profile_point moment;

    moment = point_at(p, p->snapshot_count + 1);
    profile_cut(p, NULL, &moment);
    demand(p->totals.allocations == allocations && p->totals.freed_bytes == freed_bytes,
           "the changes add up to all counts");
    check_valid(p);
    if (!p->has_history)
        return;
    moment = point_at(p, (p->snapshot_count + 1) / 2);
    profile_cut(p, NULL, &moment);
    check_valid(p);
    demand(p->totals.allocations ==
               (moment.snapshots ? p->snapshots[moment.snapshots - 1].amounts.allocations : 0),
           "the total at a snapshot equals the sum of the sites");
}

static bool
is_moderate(const uint8_t *data, size_t size_bytes)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < DISK_SEGMENT_MAX && size_bytes >= DISK_DATA_OFF; i++) {
        struct disk_segment s;

        memcpy(&s, data + DISK_DIRECTORY_OFF + i * sizeof s, sizeof s);
        if (s.flags & DISK_SEGMENT_ZSTD)
            sum += s.bytes < TABLES_BYTES_MAX ? s.bytes : TABLES_BYTES_MAX;
    }
    return sum < TABLES_BYTES_MAX;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct err err = {""};
    struct profile *p;

    if (!is_moderate(data, size_bytes))
        return REFUSED;
    if (load_bytes(data, size_bytes, "input", &p, &err) < 0) {
        demand(err.text[0] != '\0', "a refusal gives a reason");
        return REFUSED;
    }
    check_valid(p);
    check_sampling(p);
    check_history(p);
    profile_free(p);
    return 0;
}

/* Return a random number below BOUND, from *STATE. */
static uint64_t
profile_pick(uint64_t *state, uint64_t bound)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % bound;
}

/* Return a value to replace OLD. */
static uint64_t
near_a_limit(uint64_t *state, uint64_t old)
{
    static const double odd[] = {NAN, INFINITY, -1, 1e-300, 1e59, 1e61};
    uint64_t bits;

    switch (profile_pick(state, 10)) {
    case 0:
        return 0;
    case 1:
        return old + 1;
    case 2:
        return old - 1;
    case 3:
        return (UINT64_C(1) << profile_pick(state, 64)) - profile_pick(state, 3);
    case 4:
        return UINT64_MAX - profile_pick(state, 16);
    case 5:
        return profile_pick(state, 512) * 8;
    case 6:
        memcpy(&bits, &odd[profile_pick(state, countof(odd))], sizeof bits);
        return bits;
    case 7:
        return (DISK_NAMED_FRAME + profile_pick(state, 4)) << DISK_ADDRESS_BITS |
               profile_pick(state, 4);
    default:
        return profile_pick(state, 16);
    }
}

/* Change one word, of four or eight bytes, in the SIZE_BYTES at BYTES. */
static void
change_word(uint64_t *state, uint8_t *bytes, size_t size_bytes)
{
    size_t width = profile_pick(state, 2) ? 4 : 8;
    uint64_t value = 0;
    uint8_t *at;

    if (size_bytes < 8)
        return;
    at = bytes + profile_pick(state, size_bytes / width) * width;
    memcpy(&value, at, width);
    value = near_a_limit(state, value);
    memcpy(at, &value, width);
}

/* Change a word in a compressed segment. The segment moves to the end of the file if there is
 * room. */
static size_t
change_compressed(uint64_t *state, uint8_t *data, size_t size_bytes, size_t limit_bytes,
                  struct disk_segment *s)
{
    uint8_t *table = malloc(EXPANDED_BYTES_MAX);
    size_t bytes = ZSTD_decompress(table, EXPANDED_BYTES_MAX, data + s->off, s->stored_bytes);
    size_t front, stored;

    if (!ZSTD_isError(bytes)) {
        front = bytes < FRONT_BYTES ? bytes : FRONT_BYTES;
        change_word(state, table, front);
        stored = ZSTD_compress(data + size_bytes, limit_bytes - size_bytes, table, bytes, 1);
        if (!ZSTD_isError(stored)) {
            s->off = size_bytes;
            s->stored_bytes = stored;
            s->bytes = bytes;
            size_bytes += stored;
        }
    }
    free(table);
    return size_bytes;
}

static size_t
change_table(uint64_t *state, uint8_t *data, size_t size_bytes, size_t limit_bytes)
{
    uint8_t *entry;
    struct disk_segment s;
    size_t used = 0;

    while (used < DISK_SEGMENT_MAX && data[DISK_DIRECTORY_OFF + used * sizeof s] != 0)
        used++;
    if (used == 0)
        return size_bytes;
    entry = data + DISK_DIRECTORY_OFF + profile_pick(state, used) * sizeof s;
    memcpy(&s, entry, sizeof s);
    if (s.off > size_bytes || s.stored_bytes > size_bytes - s.off)
        return size_bytes;
    if (s.flags & DISK_SEGMENT_ZSTD)
        size_bytes = change_compressed(state, data, size_bytes, limit_bytes, &s);
    else
        change_word(state, data + s.off,
                    s.stored_bytes < FRONT_BYTES ? s.stored_bytes : FRONT_BYTES);
    memcpy(entry, &s, sizeof s);
    return size_bytes;
}

/* Directory entries in use come first, so the words of the first ten entries matter most. */
size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size_bytes, size_t limit_bytes, unsigned seed)
{
    uint64_t state = seed;

    if (size_bytes < DISK_DATA_OFF || profile_pick(&state, 16) == 0)
        return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size_bytes, limit_bytes) : size_bytes;
    do {
        switch (profile_pick(&state, 8)) {
        case 0:
            change_word(&state, data + offsetof(struct disk_header, state),
                        HEADER_BYTES - offsetof(struct disk_header, state));
            break;
        case 1:
            change_word(&state, data + DISK_DIRECTORY_OFF, 10 * sizeof(struct disk_segment));
            break;
        default:
            size_bytes = change_table(&state, data, size_bytes, limit_bytes);
        }
    } while (profile_pick(&state, 2));
    return size_bytes;
}
