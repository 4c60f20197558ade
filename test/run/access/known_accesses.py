"""known_accesses.py: the true accesses to the blocks of truth.c. Imported, not run.

Each access in the source counts, at any optimisation level; truth.c explains why only loops that
vectorise differ."""

WORDS_SIZE = 104  # Sizes of blocks whose words have different numbers of accesses:
WORDS = {0: 140000, 1: 1, 8: 7000, 12: 5}
LOOP_SIZE = 528  # Sizes of blocks whose words all have the same number:
LOOP_EACH = 2


def spread(total, least, most):
    return (total, least, most)


def granules(size, granule):
    return -(-size // granule)


def wanted(granule):
    """By size: the number of blocks, accesses, and touched granules of one block."""
    reused = spread(sum(600 + 2 * i for i in range(50)), 600, 698)
    each = sum(WORDS.values())
    return {
        192: (100, spread(400400, 4004, 4004), 32 // granule or 1),
        24: (50, reused, 1),
        100: (50, reused, 1),
        40: (2, spread(0, 0, 0), 0),
        1 << 20: (1, spread(8193, 8193, 8193), 8192 if granule <= 32 else 4096),
        4096: (2, spread(512 + 536, 512, 536), 4096 // granule),
        80: (1, spread(16, 16, 16), granules(64, granule)),
        272: (1, spread(64, 64, 64), granules(256, granule)),
        1000: (1, spread(0, 0, 0), 0),
        WORDS_SIZE: (3, spread(3 * each, each, each), {8: 4, 16: 3, 64: 2}[granule]),
        48: (1, spread(18, 18, 18), granules(48, granule)),
    }


def words(size):
    """Return the accesses of each word, summed over all blocks of SIZE."""
    if size == LOOP_SIZE:
        return [LOOP_EACH] * (size // 8)
    return [3 * WORDS.get(i, 0) for i in range(size // 8)]
