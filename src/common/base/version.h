/* version.h: the version of heaptap. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define HEAPTAP_VERSION "0.1.0"

#endif
