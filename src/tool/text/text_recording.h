/* text_recording.h: recording modes, losses and the recorder's cost, as text. */
#ifndef TEXT_TEXT_RECORDING_H
#define TEXT_TEXT_RECORDING_H

#include "text/text_view.h"

/* Write the recording modes over time, and the upper bound for a site without samples, below the
 * totals; nothing if everything was recorded. */
void text_recording(struct text_view *v);

/* Write the first few snapshots with a name; nothing if there are none. */
void text_snapshots(struct text_view *v);

/* Write the recorder's losses, its memory and its time. */
void text_recorder(struct text_view *v);

/* Write lines above all numbers if the file could not grow. */
void text_incomplete(struct text_view *v);

/* Write a line for each nonzero loss among the first COUNT of loss_fields. */
void text_losses(struct text_view *v, size_t count);

#endif
