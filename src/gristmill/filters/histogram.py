"""How a signal is distributed: counts by bins that are the same for every signal, so that chunks can be added up.

What enters: values of a signal. What leaves: bin → count, where an eighth of an octave is a bin (values in it differ
by 12.5 % at most) and what is nearer to zero than SMALLEST counts as zero. Guaranteed: a few hundred bins at most, and
the same sum however the values are divided.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

SMALLEST = 2.0**-13
_DROPPED_BITS = 20  # of a float32's 23 bits of mantissa: three stay
_NOT_A_NUMBER = "nan"

Histogram = dict[str, int]  # keys are text, because JSON's are


def histogram(values: npt.NDArray[np.generic]) -> Histogram:
    """The bins of some values; NaN has one of its own."""
    numbers = np.asarray(values, np.float32)
    missing = np.isnan(numbers)
    numbers = numbers[~missing]
    numbers[np.abs(numbers) < SMALLEST] = 0.0
    bits = numbers.view(np.int32)
    ascending = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # negative floats order backwards as integers
    bins, counts = np.unique(ascending >> _DROPPED_BITS, return_counts=True)
    result = {str(bin_): count for bin_, count in zip(bins.tolist(), counts.tolist(), strict=True)}
    if missing.any():
        result[_NOT_A_NUMBER] = int(missing.sum())
    return result


class Bins(NamedTuple):
    """The bins that hold something, ascending, without NaN."""

    place: npt.NDArray[np.int64]  # on the axis on which all bins lie side by side
    edge: npt.NDArray[np.float64]  # the lowest value that falls into it
    values: npt.NDArray[np.int64]  # how many fell into it


def bins_of(counts: Mapping[str, int]) -> Bins:
    """A histogram as arrays."""
    bins = np.array(sorted(int(bin_) for bin_ in counts if bin_ != _NOT_A_NUMBER), np.int32)
    ascending = bins << _DROPPED_BITS
    bits = ascending ^ ((ascending >> 31) & 0x7FFFFFFF)
    empty = (np.float32(SMALLEST).view(np.int32) >> _DROPPED_BITS) - 1  # bins that nothing falls into, on each side
    place = np.where(bins > 0, bins - empty, np.where(bins < 0, bins + empty + 1, 0)).astype(np.int64)
    values = np.array([counts[str(bin_)] for bin_ in bins.tolist()], np.int64)
    return Bins(place, bits.view(np.float32).astype(np.float64), values)


def quantile(bins: Bins, share: float) -> float:
    """The lower edge of the bin in which the value lies that `share` of all do not exceed; NaN where there is none."""
    if not len(bins.values):
        return float("nan")
    at = int(np.searchsorted(np.cumsum(bins.values), share * bins.values.sum()))
    return float(bins.edge[min(at, len(bins.edge) - 1)])
