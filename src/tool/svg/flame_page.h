/* flame_page.h: parts of a flame graph that do not depend on the profile. */
#ifndef SVG_FLAME_PAGE_H
#define SVG_FLAME_PAGE_H

#include "base/base.h"

/* Measures in pixels, shared by flamegraph.c, which draws the static picture, and the script, which
 * redraws it. */
enum {
    FLAME_WIDTH = 1200,
    FLAME_PAD = 16,
    FLAME_ROW = 20,
    FLAME_HEAD = 150,
    FLAME_FOOT = 44,
};

enum { FLAME_COLOURS = 18, FLAME_CHANGES = 11 };

/* Contents of flame_page.css, flame_page_dark.css and flame_page.js, embedded by the build and
 * terminated by a NUL. They have no colours of boxes. */
extern const char flame_page_css[];
extern const char flame_page_dark_css[];
extern const char flame_page_js[];

/* Colours "#rrggbb" of modules by number, and of changes from all gone (0) over none (5) to all new
 * (10). Index [0] is for light pages, [1] for dark ones. */
extern const char *const flame_module_colours[FLAME_COLOURS][2];
extern const char *const flame_change_colours[FLAME_CHANGES][2];

#endif
