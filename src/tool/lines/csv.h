/* csv.h: one row for each stack, for spreadsheets and data frames. */
#ifndef LINES_CSV_H
#define LINES_CSV_H

#include "export/exporter.h"

/* All counters that are known; values below zero too. The metric asked for sorts the rows. */
export_fn export_csv;

#endif
