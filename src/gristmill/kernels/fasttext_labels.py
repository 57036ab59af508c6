"""From the mean of a text's rows to labels and scores: fastText's output layers, in its float32 arithmetic.

What enters: a `Model`, a `Room` whose `sums` hold the mean vector. What leaves: the best label and its score, and the
scores of labels that were asked for. A score is what fastText says: exp(log(p + 0.00001)); NaN where it says none,
which is so below p = 0.00001 of a hierarchical softmax. Of equal labels the last is best, as in fastText's `predict`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gristmill.kernels.compile import inline
from gristmill.kernels.float_rows import multiply
from gristmill.kernels.vector import address

HIERARCHICAL_SOFTMAX, SOFTMAX, INDEPENDENT = 0, 1, 2  # `Model.loss`; the last is fastText's ns and ova
_ONE = np.float32(1.0)
_SIGMOID_STEPS, _SIGMOID_END = 512, 8
_LEAST = np.float32(math.log(1e-5))  # what fastText's log says of 0


def _sigmoid_table() -> npt.NDArray[np.float32]:
    """fastText looks sigmoids up: so many steps from -8 to 8."""
    steps = np.arange(_SIGMOID_STEPS + 1) * (2 * _SIGMOID_END)
    places = steps.astype(np.float32) / np.float32(_SIGMOID_STEPS) - np.float32(_SIGMOID_END)
    return np.asarray(1.0 / (_ONE + np.exp(-places)), np.float32)


SIGMOIDS = _sigmoid_table()


def huffman_tree(
    counts: Sequence[int],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The tree of a hierarchical softmax over labels in descending order of their counts, as fastText builds it:
    left and right of each inner node, and the parent of each node."""
    leaves = len(counts)
    nodes = 2 * leaves - 1
    weights = [*counts, *[10**15] * (leaves - 1)]
    left, right = np.full(max(leaves - 1, 0), -1, np.int32), np.full(max(leaves - 1, 0), -1, np.int32)
    parent = np.full(nodes, -1, np.int32)
    leaf, node = leaves - 1, leaves
    for new in range(leaves, nodes):
        lightest = []
        for _ in range(2):
            if leaf >= 0 and weights[leaf] < weights[node]:
                lightest.append(leaf)
                leaf -= 1
            else:
                lightest.append(node)
                node += 1
        left[new - leaves], right[new - leaves] = lightest
        parent[lightest] = new
        weights[new] = weights[lightest[0]] + weights[lightest[1]]
    return left, right, parent


@inline
def _log(probability):
    return np.float32(math.log(np.float64(probability) + 1e-5))


@inline
def _node_probability(product):
    return np.float32(1.0 / np.float64(_ONE + np.float32(math.exp(-product))))


@inline
def _best_leaf(model, room):
    """Depth first, left before right, never below a node that is worse than the best leaf so far."""
    left, right, products = address(model.left), address(model.right), address(room.products)
    nodes, scores = address(room.nodes), address(room.scores)
    labels = model.labels
    best = np.int64(-1)
    best_score = _LEAST
    nodes[0] = 2 * labels - 2
    scores[0] = np.float32(0.0)
    waiting = np.int64(1)
    while waiting > 0:
        waiting -= 1
        node = nodes[waiting]
        score = scores[waiting]
        if score < best_score:
            continue
        if node < labels:
            best = node
            best_score = score
            continue
        probability = _node_probability(products[node - labels])
        nodes[waiting] = right[node - labels]
        scores[waiting] = score + _log(probability)
        nodes[waiting + 1] = left[node - labels]
        scores[waiting + 1] = score + _log(_ONE - probability)
        waiting += 2
    return best, best_score


@inline
def _leaf_score(model, room, label):
    """The logarithm that a leaf's score is; NaN where fastText would not come to it."""
    right, parent, products = address(model.right), address(model.parent), address(room.products)
    nodes = address(room.nodes)
    depth = np.int64(0)
    node = np.int64(label)
    while node >= 0:
        nodes[depth] = node
        depth += 1
        node = np.int64(parent[node])
    score = np.float32(0.0)
    for step in range(depth - 1, 0, -1):
        inner = nodes[step] - model.labels
        probability = _node_probability(products[inner])
        score += _log(probability if nodes[step - 1] == right[inner] else _ONE - probability)
        if score < _LEAST:
            return np.float32(np.nan)
    return score


@inline
def _softmax(products, labels):
    most = products[0]
    for label in range(labels):
        most = max(most, products[label])
    total = np.float32(0.0)
    for label in range(labels):
        products[label] = np.float32(math.exp(np.float64(products[label] - most)))
        total += products[label]
    for label in range(labels):
        products[label] /= total


@inline
def _sigmoids(products, labels):
    for label in range(labels):
        product = products[label]
        if product < -_SIGMOID_END:
            products[label] = np.float32(0.0)
        elif product > _SIGMOID_END:
            products[label] = _ONE
        else:
            step = (product + np.float32(_SIGMOID_END)) * np.float32(_SIGMOID_STEPS)
            products[label] = SIGMOIDS[np.int64(step / np.float32(_SIGMOID_END) / np.float32(2.0))]


@inline
def best_label(model, room, asked, scores):
    """The best label and its score; puts the scores of the labels `asked` for into `scores`."""
    products = address(room.products)
    multiply(products, address(model.output), address(room.sums), model.width, model.output_blocks)
    rows = model.labels if model.loss != HIERARCHICAL_SOFTMAX else model.labels - 1
    for row in range(rows):
        products[row] *= model.output_norms[row]
    if model.loss == HIERARCHICAL_SOFTMAX:
        for index in range(asked.size):
            scores[index] = np.float32(math.exp(_leaf_score(model, room, asked[index])))
        best, best_score = _best_leaf(model, room)
        return best, np.float32(math.exp(best_score))
    if model.loss == SOFTMAX:
        _softmax(products, model.labels)
    else:
        _sigmoids(products, model.labels)
    best = np.int64(0)
    best_score = _log(products[0])
    for label in range(1, model.labels):
        score = _log(products[label])
        if score >= best_score:
            best = np.int64(label)
            best_score = score
    for index in range(asked.size):
        scores[index] = np.float32(math.exp(_log(products[asked[index]])))
    return best, np.float32(math.exp(best_score))
