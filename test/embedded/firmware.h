/* firmware.h: the program that firmware_board.c and firmware_linux.c run. */
#ifndef FIRMWARE_H
#define FIRMWARE_H

/* Do all the work, and return 0. */
int firmware_run(void);

#endif
