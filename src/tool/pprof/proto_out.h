/* proto_out.h: writing protocol buffers by hand. A message is a strbuf; a nested one is built in
 * its own and added as bytes. Fields with the default value (0, "") are left out, as proto3 does.
 *
 *     key = field << 3 | wire type;  wire type 0: varint;  wire type 2: varint length, then bytes
 */
#ifndef PPROF_PROTO_OUT_H
#define PPROF_PROTO_OUT_H

#include "util/strbuf.h"

/* Append FIELD with VALUE; nothing if VALUE is the default. */
void proto_uint(struct strbuf *message, uint32_t field, uint64_t value);
void proto_int(struct strbuf *message, uint32_t field, int64_t value);
void proto_bool(struct strbuf *message, uint32_t field, bool value);

/* Append a string, even if empty: position matters in a repeated field. Invalid UTF-8 is
 * replaced. */
void proto_string(struct strbuf *message, uint32_t field, const char *text);

/* Append NESTED, a message or the output of proto_element, even if empty. Clears NESTED for the
 * next one. */
void proto_nested(struct strbuf *message, uint32_t field, struct strbuf *nested);

/* Append one element of a packed repeated field to PACKED, which proto_nested then writes. */
void proto_element(struct strbuf *packed, uint64_t value);

#endif
