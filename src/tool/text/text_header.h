/* text_header.h: the lines above a view. */
#ifndef TEXT_TEXT_HEADER_H
#define TEXT_TEXT_HEADER_H

#include "text/text_view.h"

/* A line that says to how many frames stacks were cut when they were recorded; nothing if whole. */
void text_frames_kept(struct text_view *v);

/* The process, what part of it is shown, its totals, and how it was recorded. */
void text_header(struct text_view *v);

#endif
