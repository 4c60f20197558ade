/* cflags: -O1 -g */
/* service.c: one memory problem for each symptom of docs/guide/README.md.
 *
 *     service clean      frees each of 20,000 answers
 *     service leak       loses 500 of them, in a second
 *     service churn      copies one word for each of a million requests
 *     service peak       loads an index of 8 MB twice, and then keeps one
 *     service holes      keeps one small block in each page of a heap of 40 MB
 *     service overrun    writes past the end of a block, and then frees it
 *     service wait       loses 500 answers, and then answers without loss until it is killed
 *     service crash      loses 500 answers, and calls abort
 *
 * test/run/tools/symptoms.sh compares its profiles with that page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWERS = 20000, ANSWER_BYTES = 480, REQUESTS = 1000000, INDEX_BYTES = 8000000,
       ROWS = 400000, ROW_BYTES = 100 };

static char *rows[ROWS];
static int is_buggy;

static __attribute__((noinline)) char *
copy_text(const char *text, size_t room)
{
    char *copy = malloc(room);

    if (copy == NULL)
        abort();
    return strcpy(copy, text);
}

static __attribute__((noinline)) char *
make_answer(int request)
{
    char *answer = copy_text("not found", ANSWER_BYTES);

    return is_buggy && request % 40 == 0 ? NULL : answer; /* An error loses the answer. */
}

static __attribute__((noinline)) void
serve(int requests)
{
    for (int i = 0; i < requests; i++) {
        free(make_answer(i));
        if (i % 100 == 0)
            usleep(5000);
    }
}

static __attribute__((noinline)) void
serve_one(void)
{
    free(make_answer(1));
    usleep(1000);
}

static __attribute__((noinline)) size_t
parse_request(void)
{
    char *word = copy_text("GET", 16);
    size_t length = strlen(word);

    free(word);
    return length;
}

static __attribute__((noinline)) char *
load_index(void)
{
    char *index = copy_text("index", INDEX_BYTES);

    memset(index, 1, INDEX_BYTES);
    return index;
}

static __attribute__((noinline)) void
reload_index(void)
{
    char *old = load_index();
    char *new = load_index();

    free(old);
    rows[0] = new;
}

static __attribute__((noinline)) void
cache_rows(void)
{
    for (int i = 0; i < ROWS; i++)
        rows[i] = copy_text("row", ROW_BYTES);
    for (int i = 0; i < ROWS; i++)
        if (i % 40 != 0)
            free(rows[i]);
}

static __attribute__((noinline)) void
rename_user(void)
{
    char *name = copy_text("Bo", 24);
    char *next = copy_text("Al", 24);

    strcpy(name, "Bartholomew the Second of Somewhere");
    puts(name);
    free(next);
    free(name);
}

int
main(int argc, char **argv)
{
    const char *problem = argc == 2 ? argv[1] : "";
    size_t length = 0;

    is_buggy = strcmp(problem, "clean") != 0;
    if (strcmp(problem, "churn") == 0)
        for (int i = 0; i < REQUESTS; i++)
            length += parse_request();
    else if (strcmp(problem, "peak") == 0)
        reload_index();
    else if (strcmp(problem, "holes") == 0)
        cache_rows();
    else if (strcmp(problem, "overrun") == 0)
        rename_user();
    else
        serve(ANSWERS);
    if (strcmp(problem, "holes") == 0)
        pause();
    while (strcmp(problem, "wait") == 0)
        serve_one();
    if (strcmp(problem, "crash") == 0)
        abort();
    return length == 1;
}
