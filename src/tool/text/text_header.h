/* text_header.h: the lines above a view. */
#ifndef TEXT_TEXT_HEADER_H
#define TEXT_TEXT_HEADER_H

#include "text/text_view.h"

/* Write a line with the recorder's limit of frames per stack; nothing if it had none. */
void text_frames_kept(struct text_view *v);

/* Write the process, the shown part of the profile, the totals, and the recording mode. */
void text_header(struct text_view *v);

#endif
