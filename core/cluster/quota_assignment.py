"""Which cluster does each sample go to, if every cluster takes a given number of each label? (Wecker et al. 2020, 3.3)

The paper swaps pairs of samples for as long as that helps. Here the answer is exact: each label is a transportation
problem with one sink per cluster. Compiled; importing this imports numba, so only functions that cluster import it.

Sink k has the price `price[k]`, and item i prefers the sink of least `cost[k, i] + price[k]`. At the right prices every
sink is preferred as often as its quota says, and then the preferences are a cheapest assignment (duality). So
`balance` moves prices until the counts are nearly right, and `repair` does the rest along shortest paths, exactly.

Costs lie sink by sink, so that one instruction compares several items: looking at all of them is what takes the time.
"""

import heapq
import math
from typing import no_type_check

import numpy as np
from numba import njit

MOST_PRICE_MOVES = 12
FAR_OFF = 4
"""With one item in so many at a sink where it is not wanted, prices are far off: preferences are softened first."""
N_COOLINGS = 10
FAINTEST = 30.0
"""A sink that is so many temperatures dearer than the best one attracts nothing."""
SOFTENED = 10
"""Items a sink that are softened, where there are so many."""
NEVER = np.inf
AT_ONCE = 256
"""Items whose best sinks are looked for together: what is noted of them stays in the nearest cache."""
NEAR = 8
"""Among so many items a sink and an item to be moved, or one in so many, `repair` looks first; seldom among all."""
LOOKS = 8
"""So often are the items of a sink looked through for the one that loses least by moving; then a heap is made."""


@njit(cache=True, nogil=True)
@no_type_check
def assign_labels(x, centers, first, quotas, prices, cluster):
    """Assign the samples of every label l, `x[first[l]:first[l + 1]]`, to centres at least squared distance.

    Prices, (n_labels, n_clusters), begin where they are, and move in place. Costs have the precision of x.
    """
    n_clusters = len(centers)
    doubled, squares = (-2.0 * centers).astype(x.dtype), (centers**2).sum(axis=1)
    most = 0
    for label in range(len(quotas)):
        most = max(most, first[label + 1] - first[label])
    room = np.empty(n_clusters * most, dtype=x.dtype)
    for label in range(len(quotas)):
        begin, end = first[label], first[label + 1]
        # Without |x|^2, which is the same for every cluster and moves no sample; |c|^2 counts as a part of the price.
        cost = room[: n_clusters * (end - begin)].reshape((n_clusters, end - begin))
        np.dot(doubled, x[begin:end].T, out=cost)
        prices[label] += squares
        assign(cost, quotas[label], prices[label], cluster[begin:end])
        prices[label] -= squares


@njit(cache=True, nogil=True)
@no_type_check
def assign(cost, quota, price, sink):
    """Assign every item to a sink, `quota[k]` of them to sink k; prices begin where they are, in place.

    A sink whose quota is 0 is closed: its cost becomes infinite in `cost`, (n_sinks, n_items).
    """
    for k in range(len(quota)):
        if quota[k] == 0:
            cost[k] = NEVER
    margin = np.empty(len(sink), dtype=np.float64)
    unbalanced = balance(cost, quota, price, sink, margin)
    if unbalanced > 0:
        settle(cost, quota, price, sink, margin, unbalanced)


@njit(cache=True, nogil=True)
@no_type_check
def balance(cost, quota, price, sink, margin):
    """Move prices by Newton steps on the dual until few items are where they are not wanted; return how many.

    From far off, `soften` brings the prices near first. The dual is piecewise linear. Seen from a distance its
    curvature is the Laplacian of a graph: as many items lie between sinks u and v, per unit of price, as have u and v
    for their best two and are nearly undecided.
    """
    n, n_sinks = len(sink), len(quota)
    second = np.empty(n, dtype=np.int32)
    step, trial = np.empty(n_sinks, dtype=np.float64), np.empty(n_sinks, dtype=np.float64)
    unbalanced = prefer(cost, quota, price, sink, second, margin)
    if unbalanced > max(n_sinks // 2, n // FAR_OFF):
        soften(cost, quota, price)
        unbalanced = prefer(cost, quota, price, sink, second, margin)
    for _ in range(MOST_PRICE_MOVES):
        if unbalanced <= n_sinks // 2:
            break
        if not newton_step(quota, sink, second, margin, unbalanced, step):
            break
        # The curvature holds near the present prices alone: a full step may overshoot, and is then halved.
        length, least = 1.0, unbalanced
        while length > 0.2:
            for k in range(n_sinks):
                trial[k] = price[k] + length * step[k]
            least = prefer(cost, quota, trial, sink, second, margin)
            if least < unbalanced:
                break
            length *= 0.5
        if least >= unbalanced:
            prefer(cost, quota, price, sink, second, margin)  # as it was
            break
        price[:] = trial
        unbalanced = least
    return unbalanced


@njit(cache=True, nogil=True)
@no_type_check
def prefer(cost, quota, price, sink, second, margin):
    """Write each item's best sink, its second best and how far apart they are; return how many are one too many."""
    n_sinks = len(quota)
    count = np.zeros(n_sinks, dtype=np.int64)
    # Sinks are noted as numbers of the costs' kind: where all have one width, one instruction takes the most of them.
    best, next_best = np.empty(AT_ONCE, dtype=cost.dtype), np.empty(AT_ONCE, dtype=cost.dtype)
    low, next_low = np.empty(AT_ONCE, dtype=cost.dtype), np.empty(AT_ONCE, dtype=cost.dtype)
    prices, sinks = price.astype(cost.dtype), np.arange(n_sinks).astype(cost.dtype)
    for start in range(0, len(sink), AT_ONCE):
        n = min(AT_ONCE, len(sink) - start)
        best[:], next_best[:] = 0, 0
        low[:], next_low[:] = NEVER, NEVER
        for k in range(n_sinks):
            row, extra, this = cost[k, start : start + n], prices[k], sinks[k]
            for i in range(n):  # nothing but choices between two values, which a processor makes for several items
                value, u, at, next_at = row[i] + extra, best[i], low[i], next_low[i]
                is_best, is_next = value < at, value < next_at
                next_best[i] = u if is_best else (this if is_next else next_best[i])
                next_low[i] = at if is_best else (value if is_next else next_at)
                best[i] = this if is_best else u
                low[i] = value if is_best else at
        for i in range(n):
            sink[start + i], second[start + i] = best[i], next_best[i]
            margin[start + i] = next_low[i] - low[i]
            count[sink[start + i]] += 1
    unbalanced = 0
    for k in range(n_sinks):
        unbalanced += max(0, count[k] - quota[k])
    return unbalanced


@njit(cache=True, nogil=True)
@no_type_check
def soften(cost, quota, price):
    """Move prices as if every item were shared out, the more to a sink the cheaper it is there (Sinkhorn's steps).

    How far an item is spread falls from step to step like a temperature, so that the prices come near those that are
    sought; at once with sharp preferences they would jump back and forth. Some items speak for all.
    """
    n_sinks, n = cost.shape
    every = max(1, n // (SOFTENED * n_sinks))
    share, mass = np.empty(n_sinks, dtype=np.float64), np.empty(n_sinks, dtype=np.float64)
    temperature = 0.5 * mean_spread(cost, quota, price, every)
    for _ in range(N_COOLINGS):
        if not temperature > 0.0:
            break
        mass[:] = 0.0
        for i in range(0, n, every):
            least, total = NEVER, 0.0
            for k in range(n_sinks):
                least = min(least, cost[k, i] + price[k])
            for k in range(n_sinks):
                dearer = (cost[k, i] + price[k] - least) / temperature
                share[k] = math.exp(-dearer) if dearer < FAINTEST else 0.0
                total += share[k]
            for k in range(n_sinks):
                mass[k] += share[k] / total
        for k in range(n_sinks):
            # exp(-price / temperature) scales its mass: this brings it to the quota, with the others as they are.
            if quota[k] > 0:
                price[k] += temperature * math.log(max(every * mass[k], math.exp(-FAINTEST)) / quota[k])
        temperature *= 0.5


@njit(cache=True, nogil=True)
@no_type_check
def mean_spread(cost, quota, price, every):
    """How much dearer than its cheapest sink the open sinks are for an item; the mean over one item in `every`."""
    n_sinks, n = cost.shape
    total, n_open, n_items = 0.0, 0, 0
    for k in range(n_sinks):
        n_open += quota[k] > 0
    for i in range(0, n, every):
        least, together = NEVER, 0.0
        for k in range(n_sinks):
            if quota[k] > 0:
                value = cost[k, i] + price[k]
                least = min(least, value)
                together += value
        total += together / n_open - least
        n_items += 1
    return total / n_items


@njit(cache=True, nogil=True)
@no_type_check
def newton_step(quota, sink, second, margin, unbalanced, step):
    """Solve Laplacian @ step = excess, the Laplacian measured on the least decided items; False where all are tied."""
    n, n_sinks = len(sink), len(quota)
    # Enough of the least decided items to tell how dense they lie, and few enough to lie near the present prices.
    width = about_as_small(margin, min(n - 1, 4 * unbalanced + 8 * n_sinks))
    if not 0.0 < width < NEVER:
        return False
    laplacian = np.zeros((n_sinks, n_sinks), dtype=np.float64)
    excess = -quota.astype(np.float64)
    for i in range(n):
        u = sink[i]
        excess[u] += 1.0
        if margin[i] < width:
            v = second[i]
            laplacian[u, v] -= 1.0
            laplacian[v, u] -= 1.0
            laplacian[u, u] += 1.0
            laplacian[v, v] += 1.0
    for k in range(n_sinks):
        laplacian[k, k] += 1.0  # a pair of sinks that nothing lies between must not make it singular
    # Items less than `width` from either side of the line between two sinks: per unit of price there are 1 / (2 width).
    step[:] = np.linalg.solve(laplacian, excess) * (2.0 * width)
    return True


@njit(cache=True, nogil=True)
@no_type_check
def settle(cost, quota, price, sink, margin, unbalanced):
    """Make preferences meet the quotas at least cost, among the least decided items if that will do."""
    n, n_sinks = len(sink), len(quota)
    n_near = max(NEAR * (unbalanced + n_sinks), n // NEAR)
    if n_near < n and repair(cost, quota, price, sink, margin, about_as_small(margin, n_near)):
        return
    repair(cost, quota, price, sink, margin, NEVER)


@njit(cache=True, nogil=True)
@no_type_check
def about_as_small(margin, n):
    """A margin that about `n` items do not exceed: that of a sample in which some 30 do not."""
    step = max(1, n // 30)
    sampled = margin[::step].copy()
    return np.partition(sampled, n // step)[n // step]


@njit(cache=True, nogil=True)
@no_type_check
def repair(cost, quota, price, sink, margin, budget):
    """Move one item too many at a time on along a shortest path; False where it gave up for want of budget.

    Only items whose margin is within the budget are looked at. Any other loses more by moving, at the prices of the
    beginning, and a path of length d moves prices by d at most: so the paths found here are the shortest of all as long
    as they are, put together, no longer than the budget.

    `nearest[u, v]` is the item of u that loses least by moving to v, and `loss[u, v]` what it loses. Neither depends
    on prices. A heap of the items of u is made when its least item towards v has left several times. `head` and `after`
    (with `before`, its inverse) lead through the items of a sink, so that no other item is looked at for it.
    """
    n_sinks = len(quota)
    count = np.zeros(n_sinks, dtype=np.int64)
    for i in range(len(sink)):
        count[sink[i]] += 1
    loss = np.full((n_sinks, n_sinks), NEVER)
    nearest = np.full((n_sinks, n_sinks), -1, dtype=np.int64)
    heap_of = np.full((n_sinks, n_sinks), -1, dtype=np.int64)
    heaps = [[(0.0, 0) for _ in range(0)] for _ in range(0)]
    head = np.full(n_sinks, -1, dtype=np.int64)
    after, before = np.empty(len(sink), dtype=np.int64), np.empty(len(sink), dtype=np.int64)
    for i in range(len(sink)):
        if margin[i] > budget:
            continue
        u = sink[i]
        enter(i, u, head, after, before)
        for v in range(n_sinks):
            lost = lost_by(cost, i, u, v)
            if lost < loss[u, v]:
                loss[u, v], nearest[u, v] = lost, i
    distance = np.empty(n_sinks, dtype=np.float64)
    came_from = np.empty(n_sinks, dtype=np.int64)
    # Successive shortest paths: prices that make every loss at least 0 stay so after each path, and the cost is least.
    for start in range(n_sinks):
        while count[start] > quota[start]:
            v = shortest_path(start, loss, count, quota, price, distance, came_from, budget)
            if v < 0:
                return False
            budget -= distance[v]
            count[start] -= 1
            count[v] += 1
            while v != start:
                u = came_from[v]
                i = nearest[u, v]
                sink[i] = v
                leave(i, u, head, after, before)
                enter(i, v, head, after, before)
                for w in range(n_sinks):
                    arrive(i, v, w, cost, loss, nearest, heap_of, heaps)
                for w in range(n_sinks):
                    if w != u and nearest[u, w] == i:
                        find_nearest(u, w, cost, sink, head, after, loss, nearest, heap_of, heaps)
                v = u
    return True


@njit(cache=True, nogil=True)
@no_type_check
def shortest_path(start, loss, count, quota, price, distance, came_from, budget):
    """Find the nearest sink with room (Dijkstra on losses made positive by prices), and raise prices along the way.

    Gives -1, and leaves prices as they are, where the nearest is further than the budget.
    """
    n_sinks = len(quota)
    done = np.zeros(n_sinks, dtype=np.bool_)
    distance[:] = NEVER
    distance[start] = 0.0
    while True:
        u = -1
        for k in range(n_sinks):
            if not done[k] and (u < 0 or distance[k] < distance[u]):
                u = k
        if count[u] < quota[u]:
            break
        done[u] = True
        for v in range(n_sinks):
            if not done[v]:
                further = distance[u] + max(0.0, loss[u, v] + price[v] - price[u])  # below 0 only by rounding
                if further < distance[v]:
                    distance[v], came_from[v] = further, u
    reached = distance[u]
    if reached > budget:
        return -1
    # Reduced losses along the path become 0 and none falls below, so that moving along it leaves no cheaper exchange.
    for k in range(n_sinks):
        price[k] -= min(distance[k], reached)
    return u


@njit(cache=True, nogil=True)
@no_type_check
def lost_by(cost, i, u, v):
    """What item i of sink u loses by moving to v, in double precision."""
    return np.float64(cost[v, i]) - np.float64(cost[u, i])


@njit(cache=True, nogil=True)
@no_type_check
def arrive(i, u, v, cost, loss, nearest, heap_of, heaps):
    """Item i is now at sink u: it may be the one that loses least by moving to v."""
    if u == v:
        return
    lost = lost_by(cost, i, u, v)
    if heap_of[u, v] >= 0:
        heapq.heappush(heaps[heap_of[u, v]], (lost, i))
    if lost < loss[u, v]:
        loss[u, v], nearest[u, v] = lost, i


@njit(cache=True, nogil=True)
@no_type_check
def enter(i, u, head, after, before):
    """Item i is now the first of sink u."""
    after[i], before[i] = head[u], -1
    if head[u] >= 0:
        before[head[u]] = i
    head[u] = i


@njit(cache=True, nogil=True)
@no_type_check
def leave(i, u, head, after, before):
    """Item i is no longer one of sink u."""
    if before[i] >= 0:
        after[before[i]] = after[i]
    else:
        head[u] = after[i]
    if after[i] >= 0:
        before[after[i]] = before[i]


@njit(cache=True, nogil=True)
@no_type_check
def find_nearest(u, v, cost, sink, head, after, loss, nearest, heap_of, heaps):
    """The item of u that lost least by moving to v has left u: find the next."""
    if heap_of[u, v] < 0:
        loss[u, v], nearest[u, v] = NEVER, -1
        i = head[u]
        while i >= 0:
            lost = lost_by(cost, i, u, v)
            if lost < loss[u, v]:
                loss[u, v], nearest[u, v] = lost, i
            i = after[i]
        heap_of[u, v] -= 1
        if heap_of[u, v] >= -LOOKS:
            return
        heap = [(0.0, 0) for _ in range(0)]
        i = head[u]
        while i >= 0:
            if cost[v, i] < NEVER:
                heap.append((lost_by(cost, i, u, v), i))
            i = after[i]
        heapq.heapify(heap)
        heap_of[u, v] = len(heaps)
        heaps.append(heap)
    heap = heaps[heap_of[u, v]]
    # Items that have left are dropped when they come up, not when they leave: searching a heap would cost more.
    while len(heap) > 0 and sink[heap[0][1]] != u:
        heapq.heappop(heap)
    if len(heap) > 0:
        loss[u, v], nearest[u, v] = heap[0]
    else:
        loss[u, v], nearest[u, v] = NEVER, -1
