/* top_screen.h: the screen of `heaptap top`. */
#ifndef LIVE_TOP_SCREEN_H
#define LIVE_TOP_SCREEN_H

#include "live/top.h"
#include "live/top_keys.h"
#include "live/top_page.h"

enum { SCREEN_WIDTH_MIN = 60, SCREEN_HEIGHT_MIN = 10, SCREEN_INPUT_BYTES = 256 };

enum screen_mode { SCREEN_LIST, SCREEN_ROWS, SCREEN_HELP, SCREEN_PAGE };

/* Questions to the user, on the last line. */
enum screen_prompt {
    PROMPT_NONE,
    PROMPT_SEARCH,
    PROMPT_FILTER,
    PROMPT_SAVE,
    PROMPT_SNAPSHOT,
    PROMPT_RECORDING,
    PROMPT_CONFIRM, // Send the request to the process: y or n.
};

struct screen {
    struct top *top;
    struct arena arena; // Memory of one picture.
    size_t width, height;
    enum screen_mode mode, before_help;
    bool quit, paused, cursor_moved;
    uint64_t latest; // Number of the latest reading shown.
    uint64_t ticks, ticks_max; // 0 = no limit.

    // Rows, in their order; part of the opened process's digest.
    const struct top_row **rows;
    size_t row_count, cursor, first; // The first line shown.
    uint64_t cursor_key;
    uint64_t *frozen; // Keys; NULL = not frozen.
    size_t frozen_count;
    size_t body_y, body_height; // Where rows are on the screen.
    struct top_layout layout;

    size_t list_cursor, list_first;

    struct top_page *page, *next_page; // Shown, and asked for.
    size_t page_first, page_lines;
    struct top_request *request;

    enum screen_prompt prompt, confirmed; // The question, and the one that y confirms.
    char input[SCREEN_INPUT_BYTES];
    char search[SCREEN_INPUT_BYTES];
    char message[sizeof(struct err)];
};

/* Show T until the user quits, or for TICKS readings if that is not 0. Returns the exit code. */
int top_screen_run(struct top *t, uint64_t ticks);

/* --- top_draw.c */

/* Draw S. Updates its sizes and its order of rows. */
void screen_draw(struct screen *s);

/* Put the opened process's rows in order, and keep the cursor on its row. */
void screen_order(struct screen *s);

/* Return the number of lines of PAGE. */
size_t screen_page_lines(const struct top_page *page);

/* --- top_actions.c */

/* Do what KEY means. */
void screen_act(struct screen *s, int key);

/* Click on column X of line Y, or turn the wheel. */
void screen_click(struct screen *s, size_t x, size_t y, int turn);

#endif
