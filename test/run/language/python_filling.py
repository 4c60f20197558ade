"""python_filling.py: allocate from many stacks, with known totals for each allocating function.

    python_filling.py COUNT THREADS

Each of THREADS threads (0: the first one alone) makes COUNT arrays of somewhat more than 5,000
bytes in leaf_a, leaf_b and leaf_c in turn, each from a new stack.
"""
import sys
import threading


def leaf_a():
    return bytearray(5000)


def leaf_b():
    return bytearray(6000)


def leaf_c():
    return bytearray(7000)


def descend(path, depth, leaf):
    if depth == 0:
        return leaf()
    if path & 1:
        return descend(path >> 1, depth - 1, leaf)
    return descend(path >> 1, depth - 1, leaf)


def work():
    for i in range(int(sys.argv[1]) // 3):
        path = i * 2654435761 >> 8
        for leaf in leaf_a, leaf_b, leaf_c:
            descend(path, 20, leaf)


threads = [threading.Thread(target=work) for _ in range(int(sys.argv[2]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if not threads:
    work()
