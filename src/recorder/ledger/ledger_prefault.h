/* ledger_prefault.h: prefaults pages of the ledger that a growing heap will need. */
#ifndef LEDGER_LEDGER_PREFAULT_H
#define LEDGER_LEDGER_PREFAULT_H

#include "ledger/ledger_entry.h"

/* Prefault pages of the ledger, if any, that the heap of P is about to need. P is a recent block of
 * the thread, from malloc. A is the thread's record of earlier calls. Async-signal-safe. */
void ledger_prefault(struct ledger_prefaulted *a, const void *p);

#endif
