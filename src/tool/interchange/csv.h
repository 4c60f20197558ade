/* csv.h: one row per stack, for spreadsheets and data frames. */
#ifndef INTERCHANGE_CSV_H
#define INTERCHANGE_CSV_H

#include "export/exporter.h"

/* Writes all known counters, including negative values. The requested metric sorts the rows. */
export_fn export_csv;

#endif
