/* speedscope.h: file format of speedscope. */
#ifndef INTERCHANGE_SPEEDSCOPE_H
#define INTERCHANGE_SPEEDSCOPE_H

#include "export/exporter.h"

/* Writes all known metrics, the requested one first. Each metric skips stacks whose value is not
 * positive, and names their sum in its title. */
export_fn export_speedscope;

#endif
