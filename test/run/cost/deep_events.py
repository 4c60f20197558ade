"""deep_events.py: make ARG 1 nested calls, and ARG 2 objects in the innermost."""
import sys
sys.setrecursionlimit(10**6)
def f(n, events):
    if n:
        return 1 + f(n - 1, events)
    for _ in range(events):
        object()
    return 0
f(int(sys.argv[1]), int(sys.argv[2]))
