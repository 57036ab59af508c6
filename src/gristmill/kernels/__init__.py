"""The only place with compiled loops. Kernels import nothing of ours but each other.

A kernel takes the buffers of Arrow columns (int64 offsets, uint8 bytes) and NumPy arrays, allocates nothing
per document where it can help it, and touches no Python object inside a loop. Each has a slow, obvious twin in
tests/reference and a property test that the two agree.
"""
