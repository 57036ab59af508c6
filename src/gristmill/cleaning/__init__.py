"""Text to text: as many rows out as in, nothing dropped. `VERSION` of a cleaner rises when its output may change.

A cleaner is a frozen dataclass with `clean(texts) -> texts` over large_string arrays, and `attempt(texts) -> (texts,
reasons)` besides if it may fail for a reason worth counting (see sequence.py). `unicode` always runs first and takes
raw bytes as well, so that every later stage may rely on valid UTF-8.
"""
