/* top_keys.c: the keys of htop, and of memray's live view, where these have the action. */
#include "live/top_keys.h"

#define F(n) (TOP_KEY_F + (n))

const struct top_key top_keys[] = {
    {ACTION_HELP, {'?', 'h', F(1)}, "? h F1", "show this help", "Help"},
    {ACTION_OPEN, {TOP_KEY_ENTER}, "Enter", "open a process; show the stack of a row", "Stack"},
    {ACTION_SEARCH, {'/', F(3)}, "/ F3", "search a name; n finds the next", "Search"},
    {ACTION_SEARCH_NEXT, {'n'}, "n", NULL, NULL},
    {ACTION_FILTER, {'\\', F(4)}, "\\ F4", "keep only stacks that match an expression", "Filter"},
    {ACTION_TREE, {'t', F(5)}, "t F5", "show the tree of calls, by live bytes", "Tree"},
    {ACTION_CALLERS, {'i'}, "i", "show the tree inverted, callers below", NULL},
    {ACTION_SORT_NEXT, {F(6)}, "F6", "sort by the next column; < > choose it", "Sort"},
    {ACTION_SORT_LEFT, {'<', TOP_KEY_LEFT}, "<", NULL, NULL},
    {ACTION_SORT_RIGHT, {'>', TOP_KEY_RIGHT}, ">", NULL, NULL},
    {ACTION_INVERT, {'I'}, "I", "invert the order", NULL},
    {ACTION_SORT_LIVE, {'l'}, "l", "sort by live bytes", NULL},
    {ACTION_SORT_PEAK, {'p'}, "p", "sort by the bytes live at the peak", NULL},
    {ACTION_SORT_ALLOCATED, {'a'}, "a", "sort by all allocated bytes", NULL},
    {ACTION_SORT_CALLS, {'c'}, "c", "sort by allocation calls", NULL},
    {ACTION_SORT_CHANGE, {'m'}, "m", "sort by the change since the mark", NULL},
    {ACTION_MARK, {'z'}, "z", "count changes from now on", "Mark"},
    {ACTION_CHANGED, {'d'}, "d", "show only rows that have changed since the mark", NULL},
    {ACTION_PAUSE, {' '}, "Space", "stop reading, or continue", "Pause"},
    {ACTION_FREEZE, {'f'}, "f", "keep the rows in place, or sort again", NULL},
    {ACTION_BY, {'b'}, "b", "group by the next: function, site, line, \xe2\x80\xa6", "By"},
    {ACTION_SOURCE, {'s'}, "s", "show the source of a row", "Source"},
    {ACTION_NATIVE, {'N'}, "N", "show the interpreter's C functions, or hide them", NULL},
    {ACTION_ABOUT, {'e'}, "e", "show the process, its recording and its losses", NULL},
    {ACTION_SAVE, {'o'}, "o", "save a packed profile", NULL},
    {ACTION_SNAPSHOT, {'S'}, "S", "take a named snapshot in the process (asks first)", NULL},
    {ACTION_RECORDING, {'R'}, "R", "change how the process is recorded (asks first)", NULL},
    {ACTION_BACK, {TOP_KEY_ESCAPE, TOP_KEY_BACKSPACE}, "Esc", "go back", NULL},
    {ACTION_UP, {TOP_KEY_UP, 'k'}, "Up k", "move up", NULL},
    {ACTION_DOWN, {TOP_KEY_DOWN, 'j'}, "Down j", "move down", NULL},
    {ACTION_PAGE_UP, {TOP_KEY_PAGE_UP}, "PgUp", NULL, NULL},
    {ACTION_PAGE_DOWN, {TOP_KEY_PAGE_DOWN}, "PgDn", NULL, NULL},
    {ACTION_FIRST, {TOP_KEY_HOME, 'g'}, "Home g", "go to the first row", NULL},
    {ACTION_LAST, {TOP_KEY_END, 'G'}, "End G", "go to the last row", NULL},
    {ACTION_QUIT, {'q', F(10)}, "q F10", "quit", "Quit"},
    {ACTION_NONE, {0}, NULL, NULL, NULL},
};

enum top_action
top_key_action(int key)
{
    for (const struct top_key *k = top_keys; k->action != ACTION_NONE; k++)
        for (size_t i = 0; i < TOP_KEYS_OF_ACTION; i++)
            if (k->keys[i] != 0 && k->keys[i] == key)
                return k->action;
    return ACTION_NONE;
}
