/* text_notes.h: notes on a recording, below its totals. */
#ifndef TEXT_TEXT_NOTES_H
#define TEXT_TEXT_NOTES_H

#include "text/text_view.h"

/* Write a paragraph for each note of the profile, with its advice; nothing if there is none. */
void text_notes(struct text_view *v);

#endif
