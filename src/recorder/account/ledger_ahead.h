/* ledger_ahead.h: pages of the ledger that a growing heap will need are made before it does. */
#ifndef ACCOUNT_LEDGER_AHEAD_H
#define ACCOUNT_LEDGER_AHEAD_H

#include "account/ledger_entry.h"

/* A was told of some of a thread's latest blocks, now of P, of malloc's. Makes pages, or nothing.
 * Signal-safe; A is the thread's own. */
void ledger_look_ahead(struct ledger_ahead *a, const void *p);

#endif
