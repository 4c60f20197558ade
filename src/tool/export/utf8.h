/* utf8.h: untrusted text (symbols, paths, command lines) for formats that require valid UTF-8. */
#ifndef EXPORT_UTF8_H
#define EXPORT_UTF8_H

#include "util/strbuf.h"

/* Return the number of bytes of the character at S, 1 to 4, or 0 if it is not valid UTF-8. S must
 * not be empty. */
size_t utf8_size(const char *s);

/* Return the number of characters of S. Each byte of invalid UTF-8 counts as one. */
size_t utf8_count(const char *s);

/* Append S with U+FFFD for each byte of invalid UTF-8. */
void utf8_add(struct strbuf *out, const char *s);

/* Append S as XML character data, which may also be an attribute in double quotes. Tabs and line
 * feeds are kept. Other characters that control the display (character_drives), invalid UTF-8, and
 * characters that XML 1.0 forbids become U+FFFD. */
void utf8_add_xml(struct strbuf *out, const char *s);

/* Append S as a JavaScript string with its quotes, safe inside a script element and a CDATA
 * section. Characters that control the display and invalid UTF-8 become U+FFFD. */
void utf8_add_script(struct strbuf *out, const char *s);

#endif
