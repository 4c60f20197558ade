/* suggest.c: find the nearest of a few known words.
 *
 * Words are near if few edits convert one to the other: insertions, deletions, replacements, and
 * exchanges of neighbours. One edit is allowed for each three letters of the longer word, so that
 * short words do not suggest everything. A prefix of a candidate is always near, because unfinished
 * words are more frequent than mistyped ones.
 */
#include "option/opts.h"

#include <string.h>

enum { WORD_MAX = 40, PREFIX_MIN = 3 };

static size_t
suggest_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Return the number of edits between A and B, both at most WORD_MAX long, by the usual table, of
 * which three rows are kept. */
static size_t
edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];

    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = suggest_least(above[j - 1] + (a[i - 1] != b[j - 1]),
                                   suggest_least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = suggest_least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

void
suggest_offer(struct suggestion *s, const char *candidate)
{
    size_t word_length = strlen(s->word), length = strlen(candidate);
    size_t distance, allowed = (word_length > length ? word_length : length) / 3;

    if (word_length > WORD_MAX || length > WORD_MAX)
        return;
    distance = edit_distance(s->word, word_length, candidate, length);
    if (word_length >= PREFIX_MIN && strncmp(s->word, candidate, word_length) == 0)
        distance = 1;
    if (distance <= allowed && (s->nearest == NULL || distance < s->distance)) {
        s->nearest = candidate;
        s->distance = distance;
    }
}
