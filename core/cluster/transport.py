"""Which cluster does each sample go to, if every cluster takes a given number of each label? (Wecker et al. 2020, 3.3)

The paper swaps pairs of samples for as long as that helps. Here the answer is exact: each label is a transportation
problem with one sink per cluster. Compiled; importing this imports numba, so only functions that cluster import it.

Sink k has the price `price[k]`, and item i prefers the sink of least `cost[i, k] + price[k]`. At the right prices every
sink is preferred as often as its quota says, and then the preferences are a cheapest assignment (duality). So
`balance` moves prices until the counts are nearly right, and `repair` does the rest along shortest paths, exactly.
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
NEVER = np.inf


@njit(cache=True, nogil=True)
@no_type_check
def assign_labels(cost, first, quotas, price, sink):
    """Assign the items `first[l]:first[l + 1]` of every label l to sinks; prices begin where they are, in place.

    A cell whose quota is 0 is closed: its cost becomes infinite in `cost`.
    """
    for label in range(len(quotas)):
        begin, end = first[label], first[label + 1]
        quota, own = quotas[label], cost[begin:end]
        for k in range(len(quota)):
            if quota[k] == 0:
                own[:, k] = NEVER
        unbalanced = balance(own, quota, price[label], sink[begin:end])
        if unbalanced > 0:
            repair(own, quota, price[label], sink[begin:end])


@njit(cache=True, nogil=True)
@no_type_check
def balance(cost, quota, price, sink):
    """Move prices by Newton steps on the dual until few items are where they are not wanted; return how many.

    From far off, `soften` brings the prices near first. The dual is piecewise linear. Seen from a distance its
    curvature is the Laplacian of a graph: as many items lie between sinks u and v, per unit of price, as have u and v
    for their best two and are nearly undecided.
    """
    n, n_sinks = cost.shape
    second = np.empty(n, dtype=np.int32)
    margin = np.empty(n, dtype=np.float64)
    step = np.empty(n_sinks, dtype=np.float64)
    trial_sink, trial = np.empty_like(sink), np.empty_like(price)
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
            least = prefer(cost, quota, trial, trial_sink, second, margin)
            if least < unbalanced:
                break
            length *= 0.5
        if least >= unbalanced:
            break
        price[:] = trial
        sink[:] = trial_sink
        unbalanced = least
    return unbalanced


@njit(cache=True, nogil=True)
@no_type_check
def prefer(cost, quota, price, sink, second, margin):
    """Write each item's best sink, its second best and how far apart they are; return how many are one too many."""
    n, n_sinks = cost.shape
    count = np.zeros(n_sinks, dtype=np.int64)
    for i in range(n):
        u, v, low, next_low = 0, 0, NEVER, NEVER
        for k in range(n_sinks):
            value = cost[i, k] + price[k]
            if value < low:
                v, next_low = u, low
                u, low = k, value
            elif value < next_low:
                v, next_low = k, value
        sink[i], second[i], margin[i] = u, v, next_low - low
        count[u] += 1
    unbalanced = 0
    for k in range(n_sinks):
        unbalanced += max(0, count[k] - quota[k])
    return unbalanced


@njit(cache=True, nogil=True)
@no_type_check
def soften(cost, quota, price):
    """Move prices as if every item were shared out, the more to a sink the cheaper it is there (Sinkhorn's steps).

    How far an item is spread falls from step to step like a temperature, so that the prices come near those that are
    sought; at once with sharp preferences they would jump back and forth.
    """
    n, n_sinks = cost.shape
    share, mass = np.empty(n_sinks, dtype=np.float64), np.empty(n_sinks, dtype=np.float64)
    temperature = 0.5 * mean_spread(cost, quota)
    for _ in range(N_COOLINGS):
        if not temperature > 0.0:
            break
        mass[:] = 0.0
        for i in range(n):
            least, total = NEVER, 0.0
            for k in range(n_sinks):
                least = min(least, cost[i, k] + price[k])
            for k in range(n_sinks):
                dearer = (cost[i, k] + price[k] - least) / temperature
                share[k] = math.exp(-dearer) if dearer < FAINTEST else 0.0
                total += share[k]
            for k in range(n_sinks):
                mass[k] += share[k] / total
        for k in range(n_sinks):
            # exp(-price / temperature) scales its mass: this brings it to the quota, with the others as they are.
            if quota[k] > 0:
                price[k] += temperature * math.log(max(mass[k], math.exp(-FAINTEST)) / quota[k])
        temperature *= 0.5


@njit(cache=True, nogil=True)
@no_type_check
def mean_spread(cost, quota):
    """How much dearer than its cheapest sink the open sinks are for an item, on average."""
    n, n_sinks = cost.shape
    total, n_open = 0.0, 0
    for k in range(n_sinks):
        n_open += quota[k] > 0
    for i in range(n):
        least, together = NEVER, 0.0
        for k in range(n_sinks):
            if quota[k] > 0:
                least = min(least, cost[i, k])
                together += cost[i, k]
        total += together / n_open - least
    return total / n


@njit(cache=True, nogil=True)
@no_type_check
def newton_step(quota, sink, second, margin, unbalanced, step):
    """Solve Laplacian @ step = excess, the Laplacian measured on the least decided items; False where all are tied."""
    n, n_sinks = len(sink), len(quota)
    nearest = min(n - 1, 4 * unbalanced + 8 * n_sinks)
    # Enough of the least decided items to tell how dense they lie, and few enough to lie near the present prices.
    width = np.partition(margin, nearest)[nearest]
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
def repair(cost, quota, price, sink):
    """Make preferences meet the quotas at least cost: one item too many at a time moves on along a shortest path.

    `nearest[u, v]` is the item of u that loses least by moving to v, and `loss[u, v]` what it loses. Neither depends
    on prices. A heap of the items of u is made when its least item towards v has left, and not before. `head` and
    `after` (with `before`, its inverse) lead through the items of a sink, so that no other item is looked at for it.
    """
    n_sinks = len(quota)
    count = np.zeros(n_sinks, dtype=np.int64)
    loss = np.full((n_sinks, n_sinks), NEVER)
    nearest = np.full((n_sinks, n_sinks), -1, dtype=np.int64)
    heap_of = np.full((n_sinks, n_sinks), -1, dtype=np.int64)
    heaps = [[(0.0, 0) for _ in range(0)] for _ in range(0)]
    head = np.full(n_sinks, -1, dtype=np.int64)
    after, before = np.empty(len(sink), dtype=np.int64), np.empty(len(sink), dtype=np.int64)
    for i in range(len(sink)):
        u = sink[i]
        count[u] += 1
        enter(i, u, head, after, before)
        for v in range(n_sinks):
            lost = cost[i, v] - cost[i, u]
            if lost < loss[u, v]:
                loss[u, v], nearest[u, v] = lost, i
    distance = np.empty(n_sinks, dtype=np.float64)
    came_from = np.empty(n_sinks, dtype=np.int64)
    # Successive shortest paths: prices that make every loss at least 0 stay so after each path, and the cost is least.
    for start in range(n_sinks):
        while count[start] > quota[start]:
            v = shortest_path(start, loss, count, quota, price, distance, came_from)
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


@njit(cache=True, nogil=True)
@no_type_check
def shortest_path(start, loss, count, quota, price, distance, came_from):
    """Find the nearest sink with room (Dijkstra on losses made positive by prices), and raise prices along the way."""
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
    # Reduced losses along the path become 0 and none falls below, so that moving along it leaves no cheaper exchange.
    for k in range(n_sinks):
        price[k] -= min(distance[k], reached)
    return u


@njit(cache=True, nogil=True)
@no_type_check
def arrive(i, u, v, cost, loss, nearest, heap_of, heaps):
    """Item i is now at sink u: it may be the one that loses least by moving to v."""
    if u == v:
        return
    lost = cost[i, v] - cost[i, u]
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
        heap = [(0.0, 0) for _ in range(0)]
        i = head[u]
        while i >= 0:
            if cost[i, v] < NEVER:
                heap.append((cost[i, v] - cost[i, u], i))
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
