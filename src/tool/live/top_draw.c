/* top_draw.c: the picture.
 *
 *     app --serve 8080                         the head
 *     pid 4711 · running for 3 min · exact
 *     live 12.3 MiB in 1,234 blocks · …
 *     ⣀⣠⣤⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿           live bytes since the start, if there is room
 *     live↓    self   change   rate function   titles
 *     9.8 KiB  …                               rows
 *     F1Help EnterStack /Search …              keys, a question, or a message
 *
 * Everything is drawn anew each time; ncurses sends only the differences. */
#include <stdlib.h>
#include <string.h>

#include "live/terminal.h"
#include "live/top_screen.h"

enum { CURVE_LINES_MAX = 6, CURVE_HEIGHT_MIN = 20 };

static enum terminal_look
look_of(enum attr attr)
{
    static const enum terminal_look looks[] = {
        [ATTR_PLAIN] = LOOK_PLAIN,   [ATTR_DIM] = LOOK_DIM,       [ATTR_BOLD] = LOOK_BOLD,
        [ATTR_TITLE] = LOOK_TITLE,   [ATTR_NUMBER] = LOOK_NUMBER, [ATTR_WARNING] = LOOK_WARNING,
    };

    return looks[attr];
}

/* --- Order ---------------------------------------------------------------------------------------
 */

static const struct top_digest *
digest_shown(const struct screen *s)
{
    const struct watched *w = top_opened(s->top);

    return w != NULL && w->latest != NULL ? w->latest->digest : NULL;
}

void
screen_order(struct screen *s)
{
    const struct top_digest *d = digest_shown(s);
    struct top_order *o = &s->top->order;

    s->row_count = 0;
    if (d == NULL)
        return;
    o->frozen = s->frozen;
    o->frozen_count = s->frozen_count;
    o->held = s->cursor_moved ? s->cursor_key : 0;
    o->held_at = s->cursor;
    s->row_count = top_rows_order(d, o, &s->arena, &s->rows);
    if (s->cursor_moved && s->frozen != NULL)
        for (size_t i = 0; i < s->row_count; i++)
            if (s->rows[i]->key == s->cursor_key)
                s->cursor = i;
    if (s->cursor >= s->row_count)
        s->cursor = s->row_count > 0 ? s->row_count - 1 : 0;
    s->cursor_key = s->row_count > 0 ? s->rows[s->cursor]->key : 0;
}

/* Return the first line to show, so that CURSOR of COUNT lines is among HEIGHT lines; FIRST is the
 * present one. */
static size_t
scroll(size_t first, size_t cursor, size_t count, size_t height)
{
    if (cursor < first)
        first = cursor;
    if (height > 0 && cursor >= first + height)
        first = cursor - height + 1;
    return count <= height ? 0 : first + height > count ? count - height : first;
}

/* --- Parts of the picture ------------------------------------------------------------------------
 */

static void
draw_bar(struct screen *s)
{
    size_t x = 0, y = s->height - 1;

    if (s->message[0] != '\0') {
        terminal_put(y, 0, LOOK_BOLD, style_cut_end(&s->arena, s->message, s->width));
        return;
    }
    for (const struct top_key *k = top_keys; k->action != ACTION_NONE; k++) {
        const char *key, *text;
        size_t width;

        if (k->bar == NULL)
            continue;
        key = arena_strndup(&s->arena, k->label, strcspn(k->label, " "));
        text = arena_printf(&s->arena, "%s %s", key, k->bar);
        width = style_width(text);
        if (x + width + 2 > s->width)
            break;
        terminal_put(y, x, LOOK_PLAIN, text);
        terminal_mark(y, x, style_width(key), LOOK_CURSOR);
        x += width + 2;
    }
}

static void
draw_prompt(struct screen *s)
{
    static const char *const questions[] = {
        [PROMPT_SEARCH] = "Search: ",
        [PROMPT_FILTER] = "Filter (expression; empty for none): ",
        [PROMPT_SAVE] = "Save as: ",
        [PROMPT_SNAPSHOT] = "Name of the snapshot: ",
        [PROMPT_RECORDING] = "Record exact, off, or a size such as 512K: ",
        [PROMPT_CONFIRM] = "",
    };
    const char *text = arena_printf(&s->arena, "%s%s", questions[s->prompt], s->input);
    const struct watched *w = top_opened(s->top);

    if (s->prompt == PROMPT_CONFIRM)
        text = arena_printf(&s->arena,
                            s->confirmed == PROMPT_SNAPSHOT
                                ? "Take the snapshot '%s' in process %u? y/n "
                                : "Record %s in process %u from now on? y/n ",
                            s->input, w != NULL ? w->pid : 0);
    text = style_cut_start(&s->arena, text, s->width - 1);
    terminal_put(s->height - 1, 0, LOOK_BOLD, text);
    terminal_cursor(s->height - 1, style_width(text));
}

/* Draw the curve of P at line Y, if there is room. Return the number of lines. */
static size_t
draw_curve(struct screen *s, const struct profile *p, size_t y)
{
    size_t lines = s->height / 8 < CURVE_LINES_MAX ? s->height / 8 : CURVE_LINES_MAX;
    const char *curve[CURVE_LINES_MAX];

    if (s->height < CURVE_HEIGHT_MIN || !top_curve(p, s->width, lines, &s->arena, curve))
        return 0;
    for (size_t i = 0; i < lines; i++)
        terminal_put(y + i, 0, LOOK_NUMBER, curve[i]);
    return lines;
}

/* Draw the head, at most HEIGHT lines. Return the number of lines. */
static size_t
draw_head(struct screen *s, const struct top_shown *shown, size_t height)
{
    struct top_line lines[TOP_HEAD_LINES];
    size_t count = top_head(shown, s->width, &s->arena, lines), curve = 0;

    count = count < height ? count : height;
    for (size_t i = 0; i < count; i++)
        terminal_put(i, 0, look_of(lines[i].attr), lines[i].text);
    if (shown->digest != NULL)
        curve = draw_curve(s, shown->digest->p, count);
    return count + curve;
}

/* Show which rows grow and shrink by colours. */
static void
mark_columns(const struct screen *s, const struct top_digest *d, const struct top_row *r, size_t y)
{
    size_t x = 0;

    for (size_t i = 0; i < s->layout.count; i++) {
        const struct top_column *c = &s->layout.columns[i];
        int64_t change;

        if (c->sort == TOP_CHANGE && top_row_value(d, r, TOP_CHANGE, &change) && change != 0)
            terminal_mark(y, x, c->width, change > 0 ? LOOK_UP : LOOK_DOWN);
        else if (strcmp(c->title, "history") == 0)
            terminal_mark(y, x, c->width, LOOK_NUMBER);
        else if (strcmp(c->title, "trend") == 0 && r->trend == TREND_GROWS)
            terminal_mark(y, x, c->width, LOOK_WARNING);
        x += c->width + 1;
    }
    if (s->layout.place_width > 0)
        terminal_mark(y, x + s->layout.name_width + 1, s->layout.place_width, LOOK_DIM);
}

static void
draw_rows(struct screen *s, const struct top_shown *shown)
{
    size_t head = draw_head(s, shown, s->height / 3);
    const struct top_digest *d = shown->digest;

    s->body_y = head + 1;
    s->body_height = s->height - head - 2;
    if (d == NULL)
        return;
    top_layout_make(d, s->top->order.sort, s->width, &s->layout);
    terminal_put(head, 0, LOOK_TITLE, top_titles(&s->layout, &s->top->order, &s->arena));
    screen_order(s);
    s->first = scroll(s->first, s->cursor, s->row_count, s->body_height);
    for (size_t i = 0; i < s->body_height && s->first + i < s->row_count; i++) {
        const struct top_row *r = s->rows[s->first + i];
        bool at_cursor = s->first + i == s->cursor;

        terminal_put(s->body_y + i, 0, at_cursor ? LOOK_CURSOR : LOOK_PLAIN,
                     top_row_text(&s->layout, d, r, &s->arena));
        if (!at_cursor)
            mark_columns(s, d, r, s->body_y + i);
    }
}

static void
draw_list(struct screen *s)
{
    const struct top *t = s->top;

    terminal_put(0, 0, LOOK_BOLD,
                 arena_printf(&s->arena, "heaptap top \xc2\xb7 %s \xc2\xb7 Enter opens one",
                              style_plural(&s->arena, (int64_t)t->count, "recorded process")));
    terminal_put(2, 0, LOOK_TITLE, top_process_titles(s->width, &s->arena));
    s->body_y = 3;
    s->body_height = s->height - 4;
    if (t->count == 0)
        terminal_put(3, 0, LOOK_DIM, "None yet: start a program with heaptap run.");
    if (s->list_cursor >= t->count)
        s->list_cursor = t->count > 0 ? t->count - 1 : 0;
    s->list_first = scroll(s->list_first, s->list_cursor, t->count, s->body_height);
    for (size_t i = 0; i < s->body_height && s->list_first + i < t->count; i++) {
        const struct watched *w = &t->processes[s->list_first + i];

        terminal_put(s->body_y + i, 0,
                     s->list_first + i == s->list_cursor ? LOOK_CURSOR
                     : w->ended                          ? LOOK_DIM
                                                         : LOOK_PLAIN,
                     top_process_text(w, s->width, &s->arena));
    }
}

static void
draw_help(struct screen *s)
{
    size_t lines = 0, height = s->height - 3, columns = 1, each;

    for (const struct top_key *k = top_keys; k->action != ACTION_NONE; k++)
        lines += k->help != NULL;
    terminal_put(0, 0, LOOK_TITLE, "Keys of heaptap top; Esc goes back");
    if (lines > height && s->width >= 120)
        columns = 2;
    each = (lines + columns - 1) / columns;
    s->page_lines = each;
    s->page_first = s->page_first + height > each ? each > height ? each - height : 0
                                                  : s->page_first;
    lines = 0;
    for (const struct top_key *k = top_keys; k->action != ACTION_NONE; k++) {
        size_t y = lines % each, x = lines / each * (s->width / 2);

        if (k->help == NULL)
            continue;
        lines++;
        if (y < s->page_first || y - s->page_first >= height)
            continue;
        terminal_put(y - s->page_first + 2, x, LOOK_PLAIN,
                     arena_printf(&s->arena, "%8s  %s", k->label, k->help));
        terminal_mark(y - s->page_first + 2, x, 8, LOOK_NUMBER);
    }
}

size_t
screen_page_lines(const struct top_page *page)
{
    size_t lines = 0;

    for (const char *p = strbuf_text(&page->text); *p != '\0'; p++)
        lines += *p == '\n';
    return lines;
}

static void
draw_page(struct screen *s)
{
    static const char *const titles[] = {
        [PAGE_STACK] = "Stack",
        [PAGE_SOURCE] = "Source",
        [PAGE_TREE] = "Tree of calls",
        [PAGE_CALLERS] = "Tree of callers",
        [PAGE_ABOUT] = "The process and its recording",
    };
    size_t height = s->height - 2, line = 0;
    const char *p;

    if (s->page == NULL) {
        terminal_put(0, 0, LOOK_TITLE, "\xe2\x80\xa6");
        return;
    }
    terminal_put(0, 0, LOOK_TITLE,
                 arena_printf(&s->arena, "%s; Esc goes back", titles[s->page->kind]));
    if (s->page_first + height > s->page_lines)
        s->page_first = s->page_lines > height ? s->page_lines - height : 0;
    for (p = strbuf_text(&s->page->text); *p != '\0'; line++) {
        size_t length = strcspn(p, "\n");

        if (line >= s->page_first && line - s->page_first < height)
            terminal_put(line - s->page_first + 1, 0, LOOK_PLAIN,
                         style_cut_end(&s->arena, arena_strndup(&s->arena, p, length), s->width));
        p += length + (p[length] == '\n');
    }
}

/* Draw the present state at the right of the first line. */
static void
draw_state(struct screen *s)
{
    const char *text = s->paused ? "paused" : s->frozen != NULL ? "frozen" : "";

    if (*text != '\0' && s->width > 80)
        terminal_put(0, s->width - style_width(text), LOOK_WARNING, text);
}

void
screen_draw(struct screen *s)
{
    struct top_shown shown;

    arena_release(&s->arena);
    terminal_clear();
    terminal_size(&s->width, &s->height);
    if (s->width < SCREEN_WIDTH_MIN || s->height < SCREEN_HEIGHT_MIN) {
        terminal_put(0, 0, LOOK_BOLD, "heaptap top needs 60 columns and 10 lines");
        terminal_show();
        return;
    }
    terminal_cursor(0, SIZE_MAX);
    if (s->mode == SCREEN_HELP) {
        draw_help(s);
    } else if (s->mode == SCREEN_PAGE) {
        draw_page(s);
    } else if (s->mode == SCREEN_ROWS && top_opened(s->top) != NULL) {
        top_show(s->top, &shown);
        draw_rows(s, &shown);
        draw_state(s);
    } else {
        draw_list(s);
    }
    if (s->prompt != PROMPT_NONE)
        draw_prompt(s);
    else
        draw_bar(s);
    terminal_show();
}
