/* terminal.c: a full screen by ncurses.
 *
 * The terminal must be usable afterwards, however the command ends. Signals that ask it to end only
 * set a flag, so the screen ends as by a key. A crash cannot use ncurses, so its handler writes the
 * sequences that were looked up before, and restores the terminal's modes by a system call. A
 * failed check calls exit, which ends the screen too.
 *
 * The locale of the C library decides how ncurses reads text. The rest of heaptap reads UTF-8
 * without a locale, so if the user's is not installed, C.UTF-8 takes its place. */
#include "live/terminal.h"

#ifndef HEAPTAP_CURSES

int
terminal_check(struct err *err)
{
    return err_set(err, HEAPTAP_USAGE,
                   "this heaptap was built without ncurses, so top has no screen; use --batch, or "
                   "install libncurses-dev and run `make` again");
}

int
terminal_begin(struct err *err)
{
    return terminal_check(err);
}

void
terminal_end(void)
{
}

int
terminal_signal(void)
{
    return 0;
}

void
terminal_wait(int fd, int ms)
{
    (void)fd;
    (void)ms;
}

int
terminal_key(struct terminal_click *ret_click)
{
    (void)ret_click;
    return 0;
}

void
terminal_size(size_t *ret_width, size_t *ret_height)
{
    *ret_width = *ret_height = 0;
}

void
terminal_clear(void)
{
}

void
terminal_put(size_t y, size_t x, enum terminal_look look, const char *text)
{
    (void)y;
    (void)x;
    (void)look;
    (void)text;
}

void
terminal_mark(size_t y, size_t x, size_t width, enum terminal_look look)
{
    (void)y;
    (void)x;
    (void)width;
    (void)look;
}

void
terminal_show(void)
{
}

void
terminal_cursor(size_t y, size_t x)
{
    (void)y;
    (void)x;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "live/top_keys.h"
#include "util/amount.h"

enum { ESCAPE_MS = 25, RESET_BYTES = 256 };

static struct {
    SCREEN *screen;
    bool is_open;
    struct termios before;
    char reset[RESET_BYTES]; // Sequences that end the screen.
    size_t reset_bytes;
    int wake[2]; // A pipe that a signal writes to.
    volatile sig_atomic_t signal;
    attr_t looks[LOOKS]; // Without colours.
    short pairs[LOOKS];  // Colours; 0 = none.
    struct arena arena; // Memory of one picture.
} terminal;

int
terminal_check(struct err *err)
{
    const char *term = getenv("TERM");
    int found = 0;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return err_set(err, HEAPTAP_USAGE,
                       "standard input and output are no terminal; use --batch or --json");
    if (term == NULL || *term == '\0' || strcmp(term, "dumb") == 0 ||
        setupterm(term, STDOUT_FILENO, &found) != OK || cursor_address == NULL)
        return err_set(err, HEAPTAP_USAGE,
                       "the terminal '%s' cannot show a screen; use --batch, or set TERM",
                       term != NULL ? term : "");
    return 0;
}

/* Restore the terminal without ncurses; a signal handler calls this. */
static void
restore_roughly(void)
{
    ssize_t ignored = write(STDOUT_FILENO, terminal.reset, terminal.reset_bytes);

    (void)ignored;
    tcsetattr(STDOUT_FILENO, TCSANOW, &terminal.before);
}

static void
on_crash(int number)
{
    if (terminal.is_open)
        restore_roughly();
    // The handler was reset, so the signal ends the process, also if kill has sent it.
    raise(number);
}

static void
on_end(int number)
{
    int saved = errno;
    ssize_t ignored = write(terminal.wake[1], "", 1);

    (void)ignored;
    terminal.signal = number;
    errno = saved;
}

static void
catch_signals(void)
{
    static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    static const int crashes[] = {SIGABRT, SIGSEGV, SIGFPE, SIGILL};
    struct sigaction end = {.sa_handler = on_end};
    struct sigaction crash = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};

    for (size_t i = 0; i < countof(ends); i++)
        sigaction(ends[i], &end, NULL);
    for (size_t i = 0; i < countof(crashes); i++)
        sigaction(crashes[i], &crash, NULL);
}

static void
add_reset(const char *sequence)
{
    size_t length = sequence != NULL ? strlen(sequence) : 0;

    if (length > 0 && terminal.reset_bytes + length < RESET_BYTES) {
        memcpy(terminal.reset + terminal.reset_bytes, sequence, length);
        terminal.reset_bytes += length;
    }
}

static void
choose_looks(void)
{
    enum { PAIR_TITLE = 1, PAIR_CURSOR, PAIR_NUMBER, PAIR_WARNING, PAIR_UP, PAIR_DOWN };
    static const enum terminal_look of_pair[] = {
        [PAIR_TITLE] = LOOK_TITLE,     [PAIR_CURSOR] = LOOK_CURSOR, [PAIR_NUMBER] = LOOK_NUMBER,
        [PAIR_WARNING] = LOOK_WARNING, [PAIR_UP] = LOOK_UP,         [PAIR_DOWN] = LOOK_DOWN,
    };
    const char *no_color = getenv("NO_COLOR");

    terminal.looks[LOOK_DIM] = A_DIM;
    terminal.looks[LOOK_BOLD] = A_BOLD;
    terminal.looks[LOOK_WARNING] = A_BOLD;
    terminal.looks[LOOK_TITLE] = A_REVERSE;
    terminal.looks[LOOK_CURSOR] = A_REVERSE | A_BOLD;
    if (!has_colors() || (no_color != NULL && *no_color != '\0'))
        return;
    start_color();
    use_default_colors();
    init_pair(PAIR_TITLE, COLOR_BLACK, COLOR_GREEN);
    init_pair(PAIR_CURSOR, COLOR_BLACK, COLOR_CYAN);
    init_pair(PAIR_NUMBER, COLOR_CYAN, -1);
    init_pair(PAIR_WARNING, COLOR_YELLOW, -1);
    init_pair(PAIR_UP, COLOR_RED, -1);
    init_pair(PAIR_DOWN, COLOR_GREEN, -1);
    for (short i = PAIR_TITLE; i <= PAIR_DOWN; i++)
        terminal.pairs[of_pair[i]] = i;
    terminal.looks[LOOK_TITLE] = terminal.looks[LOOK_CURSOR] = A_NORMAL;
}

int
terminal_begin(struct err *err)
{
    if (setlocale(LC_CTYPE, "") == NULL && !ascii_is_wanted())
        setlocale(LC_CTYPE, "C.UTF-8");
    if (pipe2(terminal.wake, O_CLOEXEC | O_NONBLOCK) != 0 ||
        tcgetattr(STDOUT_FILENO, &terminal.before) != 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "the terminal cannot be used");
    catch_signals();
    terminal.screen = newterm(NULL, stdout, stdin);
    if (terminal.screen == NULL)
        return err_set(err, HEAPTAP_USAGE, "the terminal cannot show a screen; use --batch");
    terminal.is_open = true;
    atexit(terminal_end);
    add_reset(exit_attribute_mode);
    add_reset(cursor_normal);
    add_reset("\x1b[?1006;1002;1000l"); // The mouse; ncurses has no name for it.
    add_reset(keypad_local);
    add_reset(exit_ca_mode);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    mouseinterval(0);
    choose_looks();
    curs_set(0);
    return 0;
}

void
terminal_end(void)
{
    if (!terminal.is_open)
        return;
    terminal.is_open = false;
    endwin();
    delscreen(terminal.screen);
    tcsetattr(STDOUT_FILENO, TCSADRAIN, &terminal.before);
    arena_release(&terminal.arena);
}

int
terminal_signal(void)
{
    return terminal.signal;
}

void
terminal_wait(int fd, int ms)
{
    struct pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {terminal.wake[0], POLLIN, 0},
                             {fd, POLLIN, 0}};

    poll(ready, countof(ready), ms);
    if (ready[0].revents & (POLLHUP | POLLERR | POLLNVAL))
        terminal.signal = SIGHUP;
}

/* Return the code of KEY, a code of ncurses. */
static int
code_of(wint_t key)
{
    static const struct {
        int curses, code;
    } codes[] = {{KEY_UP, TOP_KEY_UP},          {KEY_DOWN, TOP_KEY_DOWN},
                 {KEY_LEFT, TOP_KEY_LEFT},      {KEY_RIGHT, TOP_KEY_RIGHT},
                 {KEY_PPAGE, TOP_KEY_PAGE_UP},  {KEY_NPAGE, TOP_KEY_PAGE_DOWN},
                 {KEY_HOME, TOP_KEY_HOME},      {KEY_END, TOP_KEY_END},
                 {KEY_ENTER, TOP_KEY_ENTER},    {KEY_BACKSPACE, TOP_KEY_BACKSPACE},
                 {KEY_MOUSE, TERMINAL_KEY_MOUSE}, {KEY_RESIZE, TERMINAL_KEY_RESIZE}};

    for (size_t i = 0; i < countof(codes); i++)
        if ((int)key == codes[i].curses)
            return codes[i].code;
    if (key >= KEY_F(1) && key <= KEY_F(12))
        return TOP_KEY_F + ((int)key - KEY_F(0));
    return -1;
}

int
terminal_key(struct terminal_click *ret_click)
{
    MEVENT event;
    wint_t key;
    int r = get_wch(&key), code;

    if (r == ERR)
        return 0;
    if (r != KEY_CODE_YES)
        return key == '\r' || key == '\n'     ? TOP_KEY_ENTER
               : key == '\x1b'                ? TOP_KEY_ESCAPE
               : key == '\x7f' || key == '\b' ? TOP_KEY_BACKSPACE
                                              : (int)key;
    code = code_of(key);
    if (code != TERMINAL_KEY_MOUSE)
        return code;
    if (getmouse(&event) != OK || event.x < 0 || event.y < 0)
        return -1;
    *ret_click = (struct terminal_click){
        .x = (size_t)event.x,
        .y = (size_t)event.y,
        .turn = event.bstate & BUTTON4_PRESSED ? -1 : event.bstate & BUTTON5_PRESSED ? 1 : 0};
    return code;
}

void
terminal_size(size_t *ret_width, size_t *ret_height)
{
    *ret_width = (size_t)COLS;
    *ret_height = (size_t)LINES;
}

void
terminal_clear(void)
{
    erase();
    arena_release(&terminal.arena);
}

void
terminal_put(size_t y, size_t x, enum terminal_look look, const char *text)
{
    attr_set(terminal.looks[look], terminal.pairs[look], NULL);
    if (move((int)y, (int)x) == OK) {
        if (look == LOOK_TITLE || look == LOOK_CURSOR)
            hline(' ', COLS - (int)x); // In the present look.
        addnstr(ascii_text(&terminal.arena, text), -1);
    }
    attr_set(A_NORMAL, 0, NULL);
}

void
terminal_mark(size_t y, size_t x, size_t width, enum terminal_look look)
{
    mvchgat((int)y, (int)x, (int)width, terminal.looks[look], terminal.pairs[look], NULL);
}

void
terminal_show(void)
{
    refresh();
}

void
terminal_cursor(size_t y, size_t x)
{
    curs_set(x != SIZE_MAX);
    if (x != SIZE_MAX)
        move((int)y, (int)x);
}

#endif
