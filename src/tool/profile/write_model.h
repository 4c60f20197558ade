/* write_model.h: packed files from a model alone. */
#ifndef PROFILE_WRITE_MODEL_H
#define PROFILE_WRITE_MODEL_H

#include "profile/profile.h"
#include "util/strbuf.h"

/* A packed profile with the tables of P, whose sites have the ids that a file needs: class + 1 at
 * node 1, all others dense from DISK_SITE_FIRST on. As write_finish (writer.h). */
int write_model(const struct profile *p, struct strbuf *ret, struct err *err);

#endif
