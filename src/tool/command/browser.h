/* browser.h: show a file in the user's browser. */
#ifndef COMMAND_BROWSER_H
#define COMMAND_BROWSER_H

/* Start the user's browser with the file PATH, and do not wait for it. Returns 0, or EXIT_BAD_INPUT
 * after printing an error if there is no browser. */
int browser_open(const char *path);

#endif
