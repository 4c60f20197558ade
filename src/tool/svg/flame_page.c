/* flame_page.c: colours of the flame graph.
 *
 * Module colours have equal lightness and chroma (OKLCH 0.83/0.095, in dark mode 0.50/0.085), so
 * that none dominates and labels are readable on all. Colours of changes range from blue over grey
 * to red. They are not in the style sheets, because pictures over time use them under other names,
 * and a flame graph writes only one of the two sets. */
#include "svg/flame_page.h"

const char *const flame_module_colours[FLAME_COLOURS][2] = {
    {"#feaeb9", "#8c4e58"}, {"#ffb0a3", "#8d5046"}, {"#fab68f", "#8a5435"}, {"#efbd82", "#825a27"},
    {"#dfc57e", "#766122"}, {"#cbcd84", "#666728"}, {"#b3d492", "#536d37"}, {"#9ad9a7", "#3d7149"},
    {"#85dcbe", "#23735c"}, {"#77dbd5", "#06726e"}, {"#77d8e9", "#06707e"}, {"#83d3f9", "#236c8a"},
    {"#98ccff", "#3b6692"}, {"#afc5ff", "#506094"}, {"#c6bdff", "#635a90"}, {"#dab6f6", "#725587"},
    {"#ebb1e5", "#7e517a"}, {"#f7aed0", "#874e6a"},
};

const char *const flame_change_colours[FLAME_CHANGES][2] = {
    {"#2096f8", "#0071c7"}, {"#4fa6f9", "#1469b0"}, {"#72b5f9", "#26629a"}, {"#93c4f7", "#305a83"},
    {"#b4d2f2", "#39526b"}, {"#dbdee1", "#46484a"}, {"#f1c1bc", "#694441"}, {"#f3a9a2", "#7e433f"},
    {"#f29189", "#93423e"}, {"#ef7871", "#a6403d"}, {"#ea5e59", "#ba3e3c"},
};
