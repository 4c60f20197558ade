/* text_header.h: the lines above a view. */
#ifndef TEXT_TEXT_HEADER_H
#define TEXT_TEXT_HEADER_H

#include "text/text_view.h"

/* Write a line with the recorder's limit of frames per stack; nothing if there was none. */
void text_frames_kept(struct text_view *v);

/* Write the process, what part of it is shown, its totals, and how it was recorded. */
void text_header(struct text_view *v);

#endif
