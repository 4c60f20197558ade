/* top_keys.h: the keys of `heaptap top`, in one table for the screen and its help. */
#ifndef LIVE_TOP_KEYS_H
#define LIVE_TOP_KEYS_H

#include "base/base.h"

enum top_action {
    ACTION_NONE,
    ACTION_QUIT,
    ACTION_HELP,
    ACTION_BACK,
    ACTION_OPEN,
    ACTION_UP,
    ACTION_DOWN,
    ACTION_PAGE_UP,
    ACTION_PAGE_DOWN,
    ACTION_FIRST,
    ACTION_LAST,
    ACTION_SEARCH,
    ACTION_SEARCH_NEXT,
    ACTION_FILTER,
    ACTION_SORT_LEFT,
    ACTION_SORT_RIGHT,
    ACTION_SORT_NEXT,
    ACTION_INVERT,
    ACTION_SORT_LIVE,
    ACTION_SORT_PEAK,
    ACTION_SORT_ALLOCATED,
    ACTION_SORT_CALLS,
    ACTION_SORT_CHANGE,
    ACTION_PAUSE,
    ACTION_FREEZE,
    ACTION_MARK,
    ACTION_CHANGED,
    ACTION_BY,
    ACTION_TREE,
    ACTION_CALLERS,
    ACTION_SOURCE,
    ACTION_NATIVE,
    ACTION_ABOUT,
    ACTION_SAVE,
    ACTION_SNAPSHOT,
    ACTION_RECORDING,
    ACTIONS
};

/* Keys without a character, above all characters. */
enum {
    TOP_KEY_UP = 0x110000,
    TOP_KEY_DOWN,
    TOP_KEY_LEFT,
    TOP_KEY_RIGHT,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_HOME,
    TOP_KEY_END,
    TOP_KEY_ENTER,
    TOP_KEY_BACKSPACE,
    TOP_KEY_ESCAPE,
    TOP_KEY_F, // TOP_KEY_F + 1 is F1.
};

enum { TOP_KEYS_OF_ACTION = 3 };

struct top_key {
    enum top_action action;
    int keys[TOP_KEYS_OF_ACTION]; // 0 = none.
    const char *label;            // "q F10"
    const char *help;             // The action, as a phrase; NULL = not in the help.
    const char *bar;              // Word in the bar below the rows; NULL = not there.
};

/* The table; it ends with ACTION_NONE. */
extern const struct top_key top_keys[];

/* Return the action of KEY; ACTION_NONE if it has none. */
enum top_action top_key_action(int key);

#endif
