import numpy as np
import pytest

from gristmill.tokens.gigatoken_engine import GigatokenEngine


def random_words(seed: int, count: int = 100_000) -> tuple[np.ndarray, np.ndarray]:
    """One document of words that gigatoken has not met."""
    data = np.random.default_rng(seed).integers(97, 123, 10 * count, dtype=np.uint8)
    data[::10] = ord(" ")
    return np.array([0, len(data)], np.int64), data


def test_a_full_cache_is_emptied_and_ids_stay(byte_level, spec_of):
    json_text = spec_of(byte_level).json_text
    bounded = GigatokenEngine(json_text, cache_limit_bytes=8 << 20)
    unbounded = GigatokenEngine(json_text, cache_limit_bytes=1 << 40)
    for seed in range(6):
        texts = random_words(seed)
        (bounds, ids), (same_bounds, same_ids) = bounded.encode(*texts), unbounded.encode(*texts)
        assert np.array_equal(ids, same_ids)
        assert np.array_equal(bounds, same_bounds)
    assert unbounded.times_made == 1
    assert bounded.times_made > 1


def test_a_refusal_is_raised(unsupported, spec_of):
    with pytest.raises(RuntimeError, match="Unsupported normalizer"):
        GigatokenEngine(spec_of(unsupported).json_text)
