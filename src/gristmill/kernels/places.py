"""How a place in a chunk's texts is one number: the byte at which something begins, and two small numbers below it.

    byte << PLACE_BITS | distance << COUNT_BITS | count

Places of one kind are ordered by their bytes. What the small numbers mean is said where places are made.
"""

COUNT_BITS = 14
PLACE_BITS = 2 * COUNT_BITS
MOST_COUNT = (1 << COUNT_BITS) - 1
MOST_BYTES = 1 << 63 - PLACE_BITS  # that a chunk may have: 34 GB
