"""The loops of matching, compiled. Importing this imports numba, so only functions that need them do.

Everything here sees sorted sets: references by (label, confidence), targets likewise, and of every target the range
`first:last` of references that it may be paired with. Partners are positions in the sorted reference set, -1: none.
"""

from typing import no_type_check

import numpy as np
from numba import njit

ONE = np.uint64(1)
WORDS = 8
"""Words of 64 bits in a block, which are counted one by one: as many as come from memory at once."""
PER_BLOCK = 64 * WORDS
BLOCKS = 64
"""Blocks in a group, whose numbers are added one by one."""


def in_order(label, confidence):
    """The order of `np.lexsort((confidence, label))` in less than a tenth of its time, which was most of a matching."""
    return _in_order(label, _ranked(np.ascontiguousarray(confidence, dtype=np.float64)))


def _in_order(group, value):
    """Rows by group, then by value, equal ones as they were given.

    One sort of whole numbers that hold all three, for numpy sorts numbers several times faster than it finds their
    order, and whoever follows an order through memory waits at each step. Lower bits of the value that find no room
    are looked at where it matters: among rows that the upper ones leave open.
    """
    least, n_place = value.min(), len(value).bit_length()
    n_bits = int(value.max() - least).bit_length()
    n_cut = max(0, n_bits + int(group.max()).bit_length() + n_place - 64)
    keys = _packed(group, value, least, np.uint64(n_cut), np.uint64(n_bits - n_cut), np.uint64(n_place))
    keys.sort()
    order = _places(keys, np.uint64(n_place))
    if n_cut:
        where, run = _left_open(keys, np.uint64(n_place), value, order)
        if len(where):
            rows = order[where]
            order[where] = rows[_in_order(run, (value[rows] - least) & np.uint64(2**n_cut - 1))]
    return order


@njit(cache=True, nogil=True)
@no_type_check
def _ranked(number):
    """Whole numbers from 0 in the order of these floats, the bits of which say so already if none is below zero."""
    bits = number.view(np.int64)
    rank = np.empty(len(bits), dtype=np.uint64)
    top = ONE << np.uint64(63)
    for i in range(len(bits)):
        own = np.uint64(bits[i])
        if own == top:  # minus zero equals zero
            own = np.uint64(0)
        rank[i] = own ^ top if own < top else ~own
    return rank


@njit(cache=True, nogil=True)
@no_type_check
def _packed(group, value, least, n_cut, n_kept, n_place):
    """Of each row one word: its group, the upper bits of its value above the least, and its place."""
    keys = np.empty(len(value), dtype=np.uint64)
    for i in range(len(value)):
        upper = (value[i] - least) >> n_cut
        keys[i] = (((np.uint64(group[i]) << n_kept) | upper) << n_place) | np.uint64(i)
    return keys


@njit(cache=True, nogil=True)
@no_type_check
def _places(keys, n_place):
    """The places in these words."""
    order = np.empty(len(keys), dtype=np.int64)
    mask = (ONE << n_place) - ONE
    for i in range(len(keys)):
        order[i] = keys[i] & mask
    return order


@njit(cache=True, nogil=True)
@no_type_check
def _left_open(keys, n_place, value, order):
    """Where words that differ in their place alone are not in order of value, and the number of each such run."""
    where, run = np.empty(len(keys), dtype=np.int64), np.empty(len(keys), dtype=np.int64)
    n, n_runs, start = 0, 0, 0
    while start < len(keys):
        stop, in_order = start + 1, True
        while stop < len(keys) and keys[stop] >> n_place == keys[start] >> n_place:
            in_order &= value[order[stop - 1]] <= value[order[stop]]
            stop += 1
        if not in_order:
            for i in range(start, stop):
                where[n], run[n] = i, n_runs
                n += 1
            n_runs += 1
        start = stop
    return where[:n], run[:n]


@njit(cache=True, nogil=True)
@no_type_check
def candidate_ranges(reference_confidence, start, stop, confidence, tolerance, first, last):
    """Write into `first` and `last` where in `start:stop` |reference - target| <= tolerance holds, as floats subtract.

    A rounded difference still grows with the reference and falls with the target, so that both ends only move up from
    one target to the next, and are what a mask would find.
    """
    low = high = 0
    for t in range(len(confidence)):
        low, high = max(low, start[t]), max(high, start[t])
        while low < stop[t] and reference_confidence[low] - confidence[t] < -tolerance:
            low += 1
        while high < stop[t] and reference_confidence[high] - confidence[t] <= tolerance:
            high += 1
        first[t], last[t] = low, high


@njit(cache=True, nogil=True)
@no_type_check
def draw(begins, ends, n, uniform):
    """Of each matching (a row): of n that are there at first, each turn takes a random one of its begin to its end.

    One of those that are left, that is; -1: none is.
    """
    taken = np.empty(begins.shape, dtype=np.int64)
    for m in range(len(begins)):
        taken[m] = _draw(begins[m], ends[m], n, uniform[m])
    return taken


@njit(cache=True, nogil=True)
@no_type_check
def _draw(begins, ends, n, uniform):
    """One matching.

    A bit for each that is left, and how many are left in each block of words and each group of blocks. A range of
    references of about one confidence is a few blocks, so that to walk over them takes less than a tree would.
    """
    words, in_block, in_group = _all_there(n)
    taken = np.full(len(begins), -1, dtype=np.int64)
    for k in range(len(begins)):
        block, stop = begins[k] // PER_BLOCK, ends[k] // PER_BLOCK
        before = _left_before(words, block, begins[k])
        available = _left_within(in_block, in_group, block, stop) + _left_before(words, stop, ends[k]) - before
        if available <= 0:
            continue
        rank = before + int(uniform[k] * available)  # below 1 times a whole number never rounds up to it
        while in_block[block] <= rank:
            if block % BLOCKS == 0 and in_group[block // BLOCKS] <= rank:
                rank -= in_group[block // BLOCKS]
                block += BLOCKS
            else:
                rank -= in_block[block]
                block += 1
        word = block * WORDS
        there = _n_bits(words[word])
        while there <= rank:
            rank -= there
            word += 1
            there = _n_bits(words[word])
        bit = _place_of_bit(words[word], rank)
        words[word] ^= ONE << np.uint64(bit)
        in_block[block] -= 1
        in_group[block // BLOCKS] -= 1
        taken[k] = word * 64 + bit
    return taken


@njit(cache=True, nogil=True)
@no_type_check
def _all_there(n):
    """A bit for each of n, in words; how many there are in each block of words, and in each group of blocks."""
    n_groups = n // (PER_BLOCK * BLOCKS) + 1
    words = np.zeros(n_groups * BLOCKS * WORDS, dtype=np.uint64)
    words[: n // 64] = ~np.uint64(0)
    words[n // 64] = (ONE << np.uint64(n % 64)) - ONE
    in_block, in_group = np.zeros(n_groups * BLOCKS, dtype=np.int32), np.zeros(n_groups, dtype=np.int32)
    for block in range(n // PER_BLOCK + 1):
        in_block[block] = min(PER_BLOCK, n - block * PER_BLOCK)
        in_group[block // BLOCKS] += in_block[block]
    return words, in_block, in_group


@njit(cache=True, nogil=True)
@no_type_check
def _left_within(in_block, in_group, block, stop):
    """How many are left in the blocks `block:stop`."""
    n = 0
    inner, outer = min(stop, -(-block // BLOCKS) * BLOCKS), stop // BLOCKS
    for i in range(block, inner):
        n += in_block[i]
    for i in range(inner // BLOCKS, outer):
        n += in_group[i]
    for i in range(max(inner, outer * BLOCKS), stop):
        n += in_block[i]
    return n


@njit(cache=True, nogil=True)
@no_type_check
def _left_before(words, block, position):
    """How many of a block that stand before a position are left."""
    word, n = position >> 6, 0
    for i in range(block * WORDS, word):
        n += _n_bits(words[i])
    return n + _n_bits(words[word] & ((ONE << np.uint64(position & 63)) - ONE))


@njit(cache=True, nogil=True)
@no_type_check
def _n_bits(word):
    """How many bits of a word are set; LLVM makes one instruction of it."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
@no_type_check
def _place_of_bit(word, rank):
    """The place of the set bit of a word that has `rank` set bits below it."""
    place = 0
    for step in (32, 16, 8, 4, 2, 1):
        there = _n_bits((word >> np.uint64(place)) & ((ONE << np.uint64(step)) - ONE))
        beyond = there <= rank
        place += step * beyond
        rank -= there * beyond
    return place


@njit(cache=True, nogil=True)
@no_type_check
def sweep(first, last):
    """A maximum matching: targets in order of confidence, each with the lowest reference that is left in its range.

    Ranges of one width move up together, so that nothing is ever given away that a later target would need more.
    """
    partner = np.full(len(first), -1, dtype=np.int64)
    free = 0
    for t in range(len(first)):
        free = max(free, first[t])
        if free < last[t]:
            partner[t] = free
            free += 1
    return partner


@njit(cache=True, nogil=True)
@no_type_check
def least_difference(reference_confidence, confidence, first, last):
    """Among the maximum matchings of one label, one with the least total difference of confidence.

    On a line some optimum never crosses, so it is an alignment of two sorted sequences: `pairs[j]` and `cost[j]` are
    the best of the targets so far with the references before j. Beyond a target's range nothing changes, and only
    within it is remembered (two bits each) which way was best.
    """
    n_targets = len(confidence)
    offset = np.zeros(n_targets + 1, dtype=np.int64)
    for t in range(n_targets):
        offset[t + 1] = offset[t] + last[t] - first[t]
    ways = np.zeros(offset[n_targets] // 4 + 1, dtype=np.uint8)
    base = first[0]
    pairs = np.zeros(last[n_targets - 1] - base + 1, dtype=np.int64)
    cost = np.zeros(len(pairs), dtype=np.float64)
    filled = 0
    for t in range(n_targets):
        begin, end = first[t] - base, last[t] - base
        for j in range(filled + 1, end + 1):
            pairs[j], cost[j] = pairs[filled], cost[filled]
        filled = max(filled, end)
        diagonal_pairs, diagonal_cost = pairs[begin], cost[begin]
        for j in range(begin + 1, end + 1):
            old_pairs, old_cost = pairs[j], cost[j]
            best_pairs, best_cost, way = old_pairs, old_cost, 0
            if pairs[j - 1] > best_pairs or (pairs[j - 1] == best_pairs and cost[j - 1] < best_cost):
                best_pairs, best_cost, way = pairs[j - 1], cost[j - 1], 1
            paired = diagonal_cost + abs(reference_confidence[base + j - 1] - confidence[t])
            if diagonal_pairs + 1 > best_pairs or (diagonal_pairs + 1 == best_pairs and paired < best_cost):
                best_pairs, best_cost, way = diagonal_pairs + 1, paired, 2
            diagonal_pairs, diagonal_cost = old_pairs, old_cost
            pairs[j], cost[j] = best_pairs, best_cost
            at = offset[t] + j - begin - 1
            ways[at >> 2] |= np.uint8(way << (2 * (at & 3)))
    partner = np.full(n_targets, -1, dtype=np.int64)
    j = filled
    for t in range(n_targets - 1, -1, -1):
        begin = first[t] - base
        j = min(j, last[t] - base)
        while j > begin:
            at = offset[t] + j - begin - 1
            way = (ways[at >> 2] >> (2 * (at & 3))) & 3
            if way == 0:
                break
            j -= 1
            if way == 2:
                partner[t] = base + j
                break
    return partner


@njit(cache=True, nogil=True)
@no_type_check
def count_matching(partner, correct, target_correct, expected, apart, label, n_labels, times, target_times):
    """Pairs, right references and right targets of these, right answers expected of the targets that are left.

    Of those that are `apart` nothing is counted. Then by predicted label of the target the first three, and the pairs
    of which just one is right. `times` and `target_times` count how often each was paired, from one call to the next.
    """
    counts = np.zeros(4 + 4 * n_labels)
    for t in range(len(partner)):
        r = partner[t]
        if r >= 0:
            times[r] += 1
            target_times[t] += 1
            counts[0] += 1
            counts[1] += correct[r]
            counts[2] += target_correct[t]
            at = 4 + label[t]
            counts[at] += 1
            counts[at + n_labels] += correct[r]
            counts[at + 2 * n_labels] += target_correct[t]
            counts[at + 3 * n_labels] += correct[r] != target_correct[t]
        elif not apart[t]:
            counts[3] += expected[t]
    return counts
