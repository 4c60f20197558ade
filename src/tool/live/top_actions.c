/* top_actions.c: what keys do.
 *
 * Only two actions reach the process, a snapshot and the way of recording. Both need a text and a
 * confirmation, and nothing happens without them. */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/top_screen.h"
#include "util/pattern.h"

static const struct watched *
opened(const struct screen *s)
{
    return top_opened(s->top);
}

static void
say(struct screen *s, const char *text)
{
    snprintf(s->message, sizeof s->message, "%s", text);
}

static bool
has_digest(const struct screen *s)
{
    return opened(s) != NULL && opened(s)->latest != NULL && opened(s)->latest->digest != NULL;
}

/* --- Moving --------------------------------------------------------------------------------------
 */

/* Return AT moved by ACTION in COUNT lines. The screen shows HEIGHT lines. */
static size_t
moved(size_t at, enum top_action action, size_t count, size_t height)
{
    size_t page = height > 1 ? height - 1 : 1, last = count > 0 ? count - 1 : 0;

    switch (action) {
    case ACTION_UP:
        return at > 0 ? at - 1 : 0;
    case ACTION_DOWN:
        return at < last ? at + 1 : last;
    case ACTION_PAGE_UP:
        return at > page ? at - page : 0;
    case ACTION_PAGE_DOWN:
        return at + page < last ? at + page : last;
    case ACTION_FIRST:
        return 0;
    default:
        return last;
    }
}

static void
put_cursor(struct screen *s, size_t at)
{
    if (s->mode == SCREEN_LIST) {
        s->list_cursor = at;
        return;
    }
    if (at >= s->row_count)
        return;
    s->cursor = at;
    s->cursor_key = s->rows[at]->key;
    s->cursor_moved = at > 0; // At the top, the largest row is followed.
}

static void
move_by(struct screen *s, enum top_action action)
{
    if (s->mode == SCREEN_PAGE || s->mode == SCREEN_HELP)
        s->page_first = moved(s->page_first, action, s->page_lines, s->height - 2);
    else if (s->mode == SCREEN_LIST)
        put_cursor(s, moved(s->list_cursor, action, s->top->count, s->body_height));
    else
        put_cursor(s, moved(s->cursor, action, s->row_count, s->body_height));
}

/* --- Order and rows ------------------------------------------------------------------------------
 */

static void
unfreeze(struct screen *s)
{
    free(s->frozen);
    s->frozen = NULL;
    s->frozen_count = 0;
}

static void
freeze(struct screen *s)
{
    if (s->frozen != NULL) {
        unfreeze(s);
        return;
    }
    s->frozen = xcalloc(s->row_count + 1, sizeof *s->frozen);
    for (size_t i = 0; i < s->row_count; i++)
        s->frozen[i] = s->rows[i]->key;
    s->frozen_count = s->row_count;
}

/* Sort by SORT, and go to the first row. */
static void
sort_by(struct screen *s, enum top_sort sort)
{
    unfreeze(s);
    s->top->order.sort = sort;
    s->cursor = s->first = 0;
    s->cursor_moved = false;
}

/* Sort by the next column on the screen, or the one before it. */
static void
sort_beside(struct screen *s, bool right)
{
    enum top_sort sorts[TOP_COLUMNS_MAX + 1];
    size_t count = 0, at = 0;

    for (size_t i = 0; i < s->layout.count; i++)
        if (s->layout.columns[i].sort != TOP_SORTS)
            sorts[count++] = s->layout.columns[i].sort;
    sorts[count++] = TOP_NAME;
    for (size_t i = 0; i < count; i++)
        at = sorts[i] == s->top->order.sort ? i : at;
    sort_by(s, sorts[(at + (right ? 1 : count - 1)) % count]);
}

static void
search_next(struct screen *s)
{
    size_t at;

    if (s->search[0] == '\0' || s->mode != SCREEN_ROWS || s->row_count == 0)
        return;
    at = top_rows_search(s->rows, s->row_count, s->cursor, false, s->search);
    if (at == s->row_count)
        snprintf(s->message, sizeof s->message, "no row contains '%.200s'", s->search);
    else
        put_cursor(s, at);
}

static void
next_grouping(struct screen *s)
{
    int choice = top_choice_of(s->top->by) + 1;

    unfreeze(s);
    top_set_by(s->top, top_by(top_by_names[choice] != NULL ? choice : 0));
    s->cursor = s->first = 0;
    s->cursor_moved = false;
    snprintf(s->message, sizeof s->message, "by %s", top_by_names[top_choice_of(s->top->by)]);
}

/* --- Modes ---------------------------------------------------------------------------------------
 */

static void
open_page(struct screen *s, enum top_page_kind kind)
{
    if (!has_digest(s) || s->next_page != NULL)
        return;
    if (s->page != NULL)
        top_page_free(s->page);
    s->page = NULL;
    s->page_first = s->page_lines = 0;
    s->mode = SCREEN_PAGE;
    s->next_page =
        top_page_ask(s->top->watch, kind, opened(s)->latest, s->cursor_key, s->width);
}

static void
go_back(struct screen *s)
{
    if (s->mode == SCREEN_HELP) {
        s->mode = s->before_help;
    } else if (s->mode == SCREEN_PAGE) {
        s->mode = SCREEN_ROWS;
    } else if (s->mode == SCREEN_ROWS && (s->top->count > 1 ||
                                          !top_is_single(s->top->settings.what))) {
        unfreeze(s);
        top_open(s->top, 0);
        s->mode = SCREEN_LIST;
    }
}

static void
open_process(struct screen *s)
{
    if (s->list_cursor >= s->top->count)
        return;
    top_open(s->top, s->top->processes[s->list_cursor].id);
    s->mode = SCREEN_ROWS;
    s->cursor = s->first = 0;
    s->cursor_moved = false;
}

static void
ask_for(struct screen *s, enum screen_prompt prompt)
{
    if (opened(s) == NULL)
        return;
    if ((prompt == PROMPT_SNAPSHOT || prompt == PROMPT_RECORDING) && opened(s)->ended) {
        say(s, "the process has ended and can take no request");
        return;
    }
    if (s->request != NULL) {
        say(s, "the request before is not answered yet");
        return;
    }
    s->prompt = prompt;
    s->input[0] = '\0';
    if (prompt == PROMPT_FILTER && s->top->filter != NULL)
        snprintf(s->input, sizeof s->input, "%s", s->top->filter);
}

/* --- Questions -----------------------------------------------------------------------------------
 */

static enum top_request_kind
request_of(enum screen_prompt prompt)
{
    return prompt == PROMPT_SAVE       ? REQUEST_SAVE
           : prompt == PROMPT_SNAPSHOT ? REQUEST_SNAPSHOT
                                       : REQUEST_RECORDING;
}

static void
send_request(struct screen *s, enum screen_prompt prompt)
{
    if (opened(s) == NULL)
        return;
    s->request = top_request_send(s->top->watch, request_of(prompt), opened(s)->what, s->input,
                                  &s->top->settings.view->symbols);
    say(s, prompt == PROMPT_SAVE ? "saving\xe2\x80\xa6" : "waiting for the process\xe2\x80\xa6");
}

static void
set_filter(struct screen *s)
{
    struct err err = {""};
    regex_t regex;

    if (s->input[0] != '\0') {
        if (pattern_compile(&regex, s->input, "filter", &err) != 0) {
            say(s, err.text);
            return;
        }
        regfree(&regex);
    }
    unfreeze(s);
    top_set_filter(s->top, s->input[0] != '\0' ? s->input : NULL);
}

/* Use the user's input. */
static void
take_input(struct screen *s)
{
    enum screen_prompt prompt = s->prompt;
    struct err err = {""};

    s->prompt = PROMPT_NONE;
    if (prompt == PROMPT_SEARCH) {
        memcpy(s->search, s->input, sizeof s->search);
        search_next(s);
    } else if (prompt == PROMPT_FILTER) {
        set_filter(s);
    } else if (top_request_check(request_of(prompt), s->input, &err) != 0) {
        say(s, err.text);
    } else if (prompt == PROMPT_SAVE) {
        send_request(s, prompt);
    } else {
        s->confirmed = prompt;
        s->prompt = PROMPT_CONFIRM;
    }
}

/* Append the character KEY to the input, in UTF-8. */
static void
add_character(struct screen *s, int key)
{
    size_t length = strlen(s->input);
    unsigned c = (unsigned)key;
    char bytes[5] = {0};

    if (c < 0x20 || c > 0x10ffff)
        return;
    if (c < 0x80) {
        bytes[0] = (char)c;
    } else if (c < 0x800) {
        bytes[0] = (char)(0xc0 | c >> 6);
        bytes[1] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        bytes[0] = (char)(0xe0 | c >> 12);
        bytes[1] = (char)(0x80 | (c >> 6 & 0x3f));
        bytes[2] = (char)(0x80 | (c & 0x3f));
    } else {
        bytes[0] = (char)(0xf0 | c >> 18);
        bytes[1] = (char)(0x80 | (c >> 12 & 0x3f));
        bytes[2] = (char)(0x80 | (c >> 6 & 0x3f));
        bytes[3] = (char)(0x80 | (c & 0x3f));
    }
    if (length + strlen(bytes) < sizeof s->input)
        memcpy(s->input + length, bytes, strlen(bytes) + 1);
}

/* Use KEY as an answer to the question. */
static void
answer(struct screen *s, int key)
{
    size_t length = strlen(s->input);

    if (s->prompt == PROMPT_CONFIRM) {
        s->prompt = PROMPT_NONE;
        if (key == 'y' || key == 'Y')
            send_request(s, s->confirmed);
        else
            say(s, "nothing was done");
    } else if (key == TOP_KEY_ESCAPE) {
        s->prompt = PROMPT_NONE;
    } else if (key == TOP_KEY_ENTER) {
        take_input(s);
    } else if (key == TOP_KEY_BACKSPACE) {
        while (length > 0 && (s->input[length - 1] & 0xc0) == 0x80)
            length--;
        s->input[length > 0 ? length - 1 : 0] = '\0';
    } else {
        add_character(s, key);
    }
}

/* --- Keys ----------------------------------------------------------------------------------------
 */

/* Do ACTION if it changes the order or the set of rows. Return false if it does not. */
static bool
// LONG: a flat switch.
act_on_rows(struct screen *s, enum top_action action)
{
    switch (action) {
    case ACTION_SORT_LEFT:
    case ACTION_SORT_RIGHT:
    case ACTION_SORT_NEXT:
        sort_beside(s, action != ACTION_SORT_LEFT);
        return true;
    case ACTION_SORT_LIVE:
        sort_by(s, TOP_LIVE);
        return true;
    case ACTION_SORT_PEAK:
        sort_by(s, TOP_PEAK);
        return true;
    case ACTION_SORT_ALLOCATED:
        sort_by(s, TOP_ALLOCATED);
        return true;
    case ACTION_SORT_CALLS:
        sort_by(s, TOP_CALLS);
        return true;
    case ACTION_SORT_CHANGE:
        sort_by(s, TOP_CHANGE);
        return true;
    case ACTION_INVERT:
        s->top->order.inverted = !s->top->order.inverted;
        return true;
    case ACTION_FREEZE:
        freeze(s);
        return true;
    case ACTION_CHANGED:
        s->top->order.changed_only = !s->top->order.changed_only;
        return true;
    case ACTION_BY:
        next_grouping(s);
        return true;
    case ACTION_MARK:
        top_mark_now(s->top);
        say(s, "changes count from now on");
        return true;
    case ACTION_NATIVE:
        top_set_native(s->top, !s->top->native);
        say(s, s->top->native ? "with the interpreter's functions, from the next reading on"
                              : "without the interpreter's functions, from the next reading on");
        return true;
    case ACTION_SEARCH_NEXT:
        search_next(s);
        return true;
    default:
        return false;
    }
}

/* Do ACTION if it opens a page or asks a question. Return false if it does not. */
static bool
act_on_process(struct screen *s, enum top_action action)
{
    static const struct {
        enum top_action action;
        enum top_page_kind page;
        enum screen_prompt prompt;
    } acts[] = {
        {ACTION_OPEN, PAGE_STACK, PROMPT_NONE},      {ACTION_TREE, PAGE_TREE, PROMPT_NONE},
        {ACTION_CALLERS, PAGE_CALLERS, PROMPT_NONE}, {ACTION_SOURCE, PAGE_SOURCE, PROMPT_NONE},
        {ACTION_ABOUT, PAGE_ABOUT, PROMPT_NONE},     {ACTION_SEARCH, 0, PROMPT_SEARCH},
        {ACTION_FILTER, 0, PROMPT_FILTER},           {ACTION_SAVE, 0, PROMPT_SAVE},
        {ACTION_SNAPSHOT, 0, PROMPT_SNAPSHOT},       {ACTION_RECORDING, 0, PROMPT_RECORDING},
    };

    for (size_t i = 0; i < countof(acts); i++) {
        if (acts[i].action != action)
            continue;
        if (acts[i].prompt != PROMPT_NONE)
            ask_for(s, acts[i].prompt);
        else
            open_page(s, acts[i].page);
        return true;
    }
    return false;
}

void
screen_act(struct screen *s, int key)
{
    enum top_action action = top_key_action(key);

    s->message[0] = '\0';
    if (s->prompt != PROMPT_NONE) {
        answer(s, key);
    } else if (action == ACTION_QUIT) {
        s->quit = true;
    } else if (action >= ACTION_UP && action <= ACTION_LAST) {
        move_by(s, action);
    } else if (s->mode == SCREEN_HELP || action == ACTION_BACK) {
        go_back(s);
    } else if (action == ACTION_HELP) {
        s->before_help = s->mode;
        s->mode = SCREEN_HELP;
        s->page_first = 0;
    } else if (action == ACTION_PAUSE) {
        s->paused = !s->paused;
        watch_pause(s->top->watch, s->paused);
    } else if (s->mode == SCREEN_LIST) {
        if (action == ACTION_OPEN)
            open_process(s);
    } else if (s->mode == SCREEN_ROWS && !act_on_rows(s, action)) {
        act_on_process(s, action);
    }
}

void
screen_click(struct screen *s, size_t x, size_t y, int turn)
{
    if (s->prompt != PROMPT_NONE)
        return;
    if (turn != 0) {
        move_by(s, turn < 0 ? ACTION_UP : ACTION_DOWN);
    } else if (s->mode == SCREEN_ROWS && y + 1 == s->body_y) {
        if (top_column_at(&s->layout, x) != TOP_SORTS)
            sort_by(s, top_column_at(&s->layout, x));
    } else if (s->mode == SCREEN_ROWS && y >= s->body_y && y < s->body_y + s->body_height) {
        put_cursor(s, s->first + y - s->body_y);
    } else if (s->mode == SCREEN_LIST && y >= s->body_y && y < s->body_y + s->body_height &&
               s->list_first + y - s->body_y < s->top->count) {
        put_cursor(s, s->list_first + y - s->body_y);
    }
}
