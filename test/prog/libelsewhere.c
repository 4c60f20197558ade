/* libelsewhere.c: a library of some size that does nothing. Preloaded, it moves what is mapped
 * after it to other addresses.
 */
char elsewhere[7 << 16] = {1};
