"""Which documents go. `sketch(view)` per chunk, `resolve(...)` over all sketches at once, on disk.

Keys order documents: (position of the chunk among all chunks in source order) << 32 | row. The lowest key survives.
"""
