/* write_model.h: write packed files from a model, without the recorder's tables. */
#ifndef PROFILE_WRITE_MODEL_H
#define PROFILE_WRITE_MODEL_H

#include "profile/profile.h"
#include "util/strbuf.h"

/* Write a packed profile with the tables of P. Requires P's sites to have the ids of a file: class
 * + 1 at node 1, all others dense from DISK_SITE_FIRST on. Returns like write_finish (writer.h). */
int write_model(const struct profile *p, struct strbuf *ret, struct err *err);

#endif
