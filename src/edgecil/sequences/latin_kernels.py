"""The inner loop of the Latin design."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.inner_loops import inner_loop

Flags = NDArray[np.bool_]
# Two runs with the same tasks cost as much as four pairs that meet again; the same run far more.
NEAR_REPEAT, REPEAT = 8, 40
KEY, PRIME = 48_271, 2**31 - 1  # they make numbers by which runs are compared


@inner_loop
def change_partners(
    place: Ints,
    sizes: Ints,
    low: Ints,
    high: Ints,
    seed: int,
    temperatures: Floats,
    count: bool,
    ends: bool,
    groupings: int,
) -> int:
    """Anneal L runs so that classes meet new partners, keeping every class's visits balanced.

    Two kinds of moves: two classes exchange places in one run, and in as many more as it takes to
    keep their visits within `low` and `high`; or a ring of classes exchanges two runs, each class
    taking in one run the place that it had in the other.

    Args:
        place: (L, N) position of each class in each run, changed in place.
        sizes: (K,) classes per position.
        low: (K,) least visits of a class to a position.
        high: (K,) most visits.
        seed: of the proposals.
        temperatures: (s,) one per proposal.
        count: whether meetings count, which takes (N, N) memory; else every move is made.
        ends: whether meetings in the first and in the last task count once more, each by itself,
            so that these tasks change from run to run.
        groupings: the number of ways to divide the classes into tasks in any order, if two runs
            with the same tasks count as a near repeat; else 0.

    Returns:
        The sum over class pairs of their squared number of meetings, and what near repeats add;
        0 if meetings do not count.
    """
    np.random.seed(seed)
    runs, classes = place.shape
    tasks = len(sizes)
    member = np.empty((runs, tasks, sizes.max()), dtype=np.int64)
    met = np.zeros((classes, classes) if count else (0, 0), dtype=np.int64)
    met_at_ends = np.zeros((2, classes, classes) if count and ends else (2, 0, 0), dtype=np.int64)
    visits = np.zeros((classes, tasks), dtype=np.int64)
    for run in range(runs):
        filled = np.zeros(tasks, dtype=np.int64)
        for c in range(classes):
            p = place[run, c]
            visits[c, p] += 1
            if count:
                for other in member[run, p, : filled[p]]:
                    met[c, other] += 1
                    met[other, c] += 1
                    if ends and (p == 0 or p == tasks - 1):
                        end = 0 if p == 0 else 1
                        met_at_ends[end, c, other] += 1
                        met_at_ends[end, other, c] += 1
            member[run, p, filled[p]] = c
            filled[p] += 1
    pairs = classes * (classes - 1) // 2
    cost = int(np.sum(met**2)) // 2 + int(np.sum(met_at_ends**2)) // 2
    least = _fewest_repeats(int(np.sum(met)) // 2, pairs) if count else -1
    if count and ends:
        for end in range(2):
            least += _fewest_repeats(int(np.sum(met_at_ends[end])) // 2, pairs)
    chosen = np.empty(runs, dtype=np.bool_)
    keys = np.full(classes if groupings else 0, KEY, dtype=np.int64)
    for c in range(1, len(keys)):
        keys[c] = (keys[c - 1] ** 2 + KEY) % PRIME
    alike = np.zeros((2, runs), dtype=np.int64)
    if groupings:
        chosen[:] = True
        cost += _near_repeats(member, sizes, keys, alike, chosen)
        least += NEAR_REPEAT * (_fewest_repeats(runs, groupings) - runs) // 2
    ring = np.empty(tasks, dtype=np.int64)
    for temperature in temperatures:
        if cost == least:
            break
        c, run = np.random.randint(classes), np.random.randint(runs)
        patience = -temperature * np.log(np.random.random())
        if np.random.random() < 0.5:
            other = (run + 1 + np.random.randint(runs - 1)) % runs
            ring_here = _find_ring(place, member, sizes, run, other, c, ring)
            chosen[:] = False
            chosen[run] = chosen[other] = True
            before = _near_repeats(member, sizes, keys, alike, chosen)
            change = _turn(place, member, met, met_at_ends, sizes, run, other, ring_here)
            after = _near_repeats(member, sizes, keys, alike, chosen)
            if change + after - before > patience:
                change += _turn(place, member, met, met_at_ends, sizes, run, other, ring_here[::-1])
                after = _near_repeats(member, sizes, keys, alike, chosen)
        else:
            e = (c + 1 + np.random.randint(classes - 1)) % classes
            chosen[:] = False
            if not _balanced(place, visits, low, high, chosen, run, c, e):
                continue
            before = _near_repeats(member, sizes, keys, alike, chosen)
            change = _exchange(place, member, met, met_at_ends, visits, sizes, chosen, c, e)
            after = _near_repeats(member, sizes, keys, alike, chosen)
            if change + after - before > patience:
                change += _exchange(place, member, met, met_at_ends, visits, sizes, chosen, c, e)
                after = _near_repeats(member, sizes, keys, alike, chosen)
        cost += change + after - before
    return cost


@inner_loop
def _fewest_repeats(meetings: int, pairs: int) -> int:
    """Return the sum of squares if meetings were spread over the pairs as evenly as possible."""
    each, extra = meetings // pairs, meetings % pairs
    return pairs * each**2 + extra * (2 * each + 1)


@inner_loop
def _near_repeats(member: Ints, sizes: Ints, keys: Ints, alike: Ints, chosen: Flags) -> int:
    """Return what runs with the same tasks cost, summed over all pairs with a chosen run.

    Args:
        member: (L, K, m) classes of every task.
        sizes: (K,) how many they are.
        keys: (N,) a large number for every class; none if such runs cost nothing.
        alike: (2, L) numbers of the runs, renewed here for the chosen ones: equal in the first row
            if two runs have the same tasks, in both rows if they are the same run.
        chosen: (L,) runs that count.
    """
    if len(keys) == 0:
        return 0
    tasks, orders = alike
    for run in np.flatnonzero(chosen):
        tasks[run] = orders[run] = 0
        for p in range(len(sizes)):
            total = 0
            for c in member[run, p, : sizes[p]]:
                total += keys[c]
            mixed = (total % PRIME) ** 2 % PRIME
            tasks[run] += mixed
            orders[run] += (p + 1) * mixed
    cost = 0
    for run in np.flatnonzero(chosen):
        for other in range(len(chosen)):
            if tasks[other] == tasks[run] and (other > run or not chosen[other]):
                cost += REPEAT if orders[other] == orders[run] else NEAR_REPEAT
    return cost


@inner_loop
def _replace(
    member: Ints, met: Ints, met_at_ends: Ints, sizes: Ints, p: int, leaver: int, comer: int
) -> int:
    """Put `comer` in the seat of `leaver` in task p of a run; the change in squared meetings."""
    group = member[p, : sizes[p]]
    change, seat = 0, 0
    at_end = met_at_ends.shape[1] > 0 and (p == 0 or p == len(sizes) - 1)
    end = met_at_ends[0 if p == 0 else 1]
    for other in range(len(group)):
        x = group[other]
        if x == leaver:
            seat = other
            continue
        if len(met) == 0:
            continue
        change += 2 * (met[comer, x] - met[leaver, x]) + 2
        met[comer, x] += 1
        met[x, comer] += 1
        met[leaver, x] -= 1
        met[x, leaver] -= 1
        if at_end:
            change += 2 * (end[comer, x] - end[leaver, x]) + 2
            end[comer, x] += 1
            end[x, comer] += 1
            end[leaver, x] -= 1
            end[x, leaver] -= 1
    group[seat] = comer
    return change


@inner_loop
def _find_ring(
    place: Ints, member: Ints, sizes: Ints, run: int, other: int, c: int, ring: Ints
) -> Ints:
    """Return classes, each of which has in the run `other` the place that the next has in `run`."""
    step_at = np.full(len(sizes), -1, dtype=np.int64)
    step = 0
    while step_at[place[run, c]] < 0:
        step_at[place[run, c]] = step
        ring[step] = c
        step += 1
        q = place[other, c]
        if step_at[q] >= 0:
            return ring[step_at[q] : step]
        c = member[run, q, np.random.randint(sizes[q])]
    return ring[:0]


@inner_loop
def _turn(
    place: Ints,
    member: Ints,
    met: Ints,
    met_at_ends: Ints,
    sizes: Ints,
    run: int,
    other: int,
    ring: Ints,
) -> int:
    """Let every class of a ring exchange its places in two runs; the change in squares."""
    if len(ring) < 2:
        return 0
    change = 0
    for i in range(len(ring)):
        c, following = ring[i], ring[(i + 1) % len(ring)]
        q = place[other, c]
        change += _replace(member[run], met, met_at_ends, sizes, q, following, c)
    for i in range(len(ring)):
        c, following = ring[i], ring[(i + 1) % len(ring)]
        q = place[other, c]
        change += _replace(member[other], met, met_at_ends, sizes, q, c, following)
    for c in ring:
        place[run, c], place[other, c] = place[other, c], place[run, c]
    return change


@inner_loop
def _balanced(
    place: Ints, visits: Ints, low: Ints, high: Ints, chosen: Flags, run: int, c: int, e: int
) -> bool:
    """Mark the runs in which c and e must change places together; False if none will do."""
    if place[run, c] == place[run, e]:
        return False
    gained = np.zeros(len(low), dtype=np.int64)
    while run >= 0:
        chosen[run] = True
        gained[place[run, e]] += 1
        gained[place[run, c]] -= 1
        run, settled = -1, True
        for k in range(len(low)):
            mine, theirs = visits[c, k] + gained[k], visits[e, k] - gained[k]
            too_many = mine > high[k] or theirs < low[k]
            if too_many or mine < low[k] or theirs > high[k]:
                settled = False
                giver = c if too_many else e
                for other in range(len(chosen)):
                    if not chosen[other] and place[other, giver] == k:
                        run = other
                break
        if settled:
            return True
    return False


@inner_loop
def _exchange(
    place: Ints,
    member: Ints,
    met: Ints,
    met_at_ends: Ints,
    visits: Ints,
    sizes: Ints,
    chosen: Flags,
    c: int,
    e: int,
) -> int:
    """Exchange the places of c and e in the chosen runs; the change in squared meetings."""
    change = 0
    for run in range(len(chosen)):
        p, q = place[run, c], place[run, e]
        if chosen[run] and p != q:
            change += _replace(member[run], met, met_at_ends, sizes, p, c, e)
            change += _replace(member[run], met, met_at_ends, sizes, q, e, c)
            place[run, c], place[run, e] = q, p
            visits[c, p] -= 1
            visits[c, q] += 1
            visits[e, q] -= 1
            visits[e, p] += 1
    return change
