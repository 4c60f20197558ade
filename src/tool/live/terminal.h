/* terminal.h: a full screen of text: the only user of ncurses. Without it, terminal_check fails. */
#ifndef LIVE_TERMINAL_H
#define LIVE_TERMINAL_H

#include "base/base.h"
#include "util/err.h"

enum terminal_look {
    LOOK_PLAIN,
    LOOK_DIM,
    LOOK_BOLD,
    LOOK_NUMBER,
    LOOK_WARNING,
    LOOK_TITLE,  // A bar of titles.
    LOOK_CURSOR, // The row under the cursor.
    LOOK_UP,     // A growth.
    LOOK_DOWN,   // A decrease.
    LOOKS
};

/* Return 0 if there is a terminal that can show a screen, or HEAPTAP_USAGE with ERR set. */
int terminal_check(struct err *err);

/* Take the terminal over, or give it back as it was. It is given back at any exit, also by a
 * signal. */
int terminal_begin(struct err *err);
void terminal_end(void);

/* Return the signal that asked the command to end; 0 = none. */
int terminal_signal(void);

/* Wait for a key, a signal, or until FD is readable; at most MS milliseconds, -1 = no limit. */
void terminal_wait(int fd, int ms);

/* A key, as a character or a code of top_keys.h; 0 = there is none now. */
enum { TERMINAL_KEY_MOUSE = 0x120000, TERMINAL_KEY_RESIZE };

struct terminal_click {
    size_t x, y;
    int turn; // The wheel: -1 up, 1 down; 0 = a click.
};

int terminal_key(struct terminal_click *ret_click);

/* Return the number of columns and lines. */
void terminal_size(size_t *ret_width, size_t *ret_height);

/* Change the picture, which terminal_show then shows. terminal_put writes TEXT at column X of line
 * Y, and blanks to the end of the line. terminal_mark changes the look of WIDTH columns. */
void terminal_clear(void);
void terminal_put(size_t y, size_t x, enum terminal_look look, const char *text);
void terminal_mark(size_t y, size_t x, size_t width, enum terminal_look look);
void terminal_show(void);

/* Show the cursor at column X of line Y, for input; an X of SIZE_MAX hides it. */
void terminal_cursor(size_t y, size_t x);

#endif
