/* text_recording.h: the recorder's account of itself. */
#ifndef TEXT_TEXT_RECORDING_H
#define TEXT_TEXT_RECORDING_H

#include "text/text_view.h"

/* Recording modes over time, and the upper bound of a site without samples: lines under the totals.
 * None when everything was recorded. */
void text_recording(struct text_view *v);

/* Write the snapshots that have a name, the first few; nothing when there is none. */
void text_snapshots(struct text_view *v);

/* Losses of the recorder, and its memory and time. */
void text_recorder(struct text_view *v);

/* Write lines above all numbers when the file could not grow; none when it could. */
void text_incomplete(struct text_view *v);

/* Write a line for each loss that occurred, of the first COUNT in loss_fields. */
void text_losses(struct text_view *v, size_t count);

#endif
