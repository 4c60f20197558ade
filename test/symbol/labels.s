# labels.s: code with one sized symbol of 4 bytes, followed by 4 bytes in no symbol's range; then
# come two labels without size: the first ends where the second begins.
    .text
    .globl sized
    .type sized, @function
sized:
    .fill 4, 1, 0x90
    .size sized, 4
    .fill 4, 1, 0x90
    .globl first_label
first_label:
    .fill 4, 1, 0x90
    .globl second_label
second_label:
    .fill 4, 1, 0x90
    .section .note.GNU-stack, "", @progbits
