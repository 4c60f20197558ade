/* variables.c: a library with a variable, no part of which has a name of its own. */
long table[4] = {1, 2, 3, 4};
