/* top_screen.c: the loop of `heaptap top`: wait for a key or for a reading, and draw.
 *
 * Keys only change the state of the screen, and ask the thread that reads for everything that takes
 * time. So a key is answered at once, also while millions of stacks are read. */
#include "live/top_screen.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "live/terminal.h"
#include "option/opts.h"
#include "view/messages.h"

enum { REFRESH_MS = 1000, KEYS_AT_ONCE = 64 };

/* Take over the answers that the thread has finished. */
static void
take_answers(struct screen *s)
{
    if (s->next_page != NULL && atomic_load_explicit(&s->next_page->done, memory_order_acquire)) {
        if (s->page != NULL)
            top_page_free(s->page);
        s->page = s->next_page;
        s->next_page = NULL;
        s->page_lines = screen_page_lines(s->page);
    }
    if (s->request != NULL && atomic_load_explicit(&s->request->done, memory_order_acquire)) {
        strcpy(s->message, s->request->answer.text);
        top_request_free(s->request);
        s->request = NULL;
    }
}

/* Ask for the page again if there is a later reading or another width. */
static void
renew_page(struct screen *s, const struct watched *w)
{
    struct top_page *p = s->page;

    if (s->mode != SCREEN_PAGE || p == NULL || s->next_page != NULL || w == NULL ||
        w->latest == NULL || w->latest->digest == NULL ||
        (p->reading == w->latest && p->width == s->width))
        return;
    s->next_page = top_page_ask(s->top->watch, p->kind, w->latest, p->key, s->width);
}

static void
take_readings(struct screen *s)
{
    const struct watched *w;

    top_refresh(s->top);
    w = top_opened(s->top);
    if (w != NULL && w->latest != NULL && w->latest->number != s->latest) {
        s->latest = w->latest->number;
        s->ticks++;
    }
    renew_page(s, w);
    if (s->ticks_max != 0 && s->ticks >= s->ticks_max)
        s->quit = true;
}

static void
take_keys(struct screen *s)
{
    struct terminal_click click = {0};

    for (int i = 0; i < KEYS_AT_ONCE && !s->quit; i++) {
        int key = terminal_key(&click);

        if (key == 0)
            return;
        if (key == TERMINAL_KEY_MOUSE)
            screen_click(s, click.x, click.y, click.turn);
        else if (key > 0 && key != TERMINAL_KEY_RESIZE)
            screen_act(s, key);
        // The next key needs the order that this one has made.
        screen_order(s);
    }
}

static void
screen_release(struct screen *s)
{
    // Pages and requests that are not done belong to the thread; the command ends.
    if (s->page != NULL)
        top_page_free(s->page);
    free(s->frozen);
    arena_release(&s->arena);
}

/* Wait for a page that the thread is making. Its data may then be released. */
static void
finish_answers(struct screen *s)
{
    while (s->next_page != NULL && !watch_is_busy(s->top->watch) && terminal_signal() == 0) {
        terminal_wait(watch_descriptor(s->top->watch), REFRESH_MS);
        top_refresh(s->top);
        take_answers(s);
    }
}

int
top_screen_run(struct top *t, uint64_t ticks)
{
    struct screen s = {.top = t, .ticks_max = ticks,
                       .mode = t->opened != 0 ? SCREEN_ROWS : SCREEN_LIST};
    struct err err = {""};
    const char *failure = NULL;
    int rc = terminal_begin(&err);

    if (rc != 0) {
        message_error("%s", err.text);
        return exit_code(rc);
    }
    while (!s.quit && terminal_signal() == 0 && failure == NULL) {
        take_answers(&s);
        take_readings(&s);
        screen_draw(&s);
        failure = top_failure(t);
        if (s.quit || failure != NULL)
            break;
        terminal_wait(watch_descriptor(t->watch), REFRESH_MS);
        take_keys(&s);
    }
    finish_answers(&s);
    terminal_end();
    if (failure != NULL)
        message_error("%s", failure);
    screen_release(&s);
    if (terminal_signal() != 0) {
        signal(terminal_signal(), SIG_DFL);
        raise(terminal_signal());
    }
    return failure != NULL ? EXIT_BAD_INPUT : 0;
}
