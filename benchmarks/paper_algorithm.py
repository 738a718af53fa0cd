"""The paper's Algorithms 1 and 2, transcribed into plain Python as they are printed.

Only for comparison: nothing in edgecil imports this. Plain loops, SciPy's linkage once per
granularity, no shortcuts. The classifier, where the paper leaves one to make:

- granularities are all of 2 … N (the paper gives no set);
- clusters become tasks as in the analysis of "Step 2-3": largest first; a cluster larger than a
  task goes out in pieces of a task's size, the most coherent classes first, each to the smallest
  task; a smaller one goes whole to the smallest task; then full tasks hand their last classes on;
- the next task is the one with the least (most) similarity summed over all chosen tasks, which is
  what the pseudo-code says;
- *easy* is taken in the sense of the text (similar classes into different tasks, most similar task
  next): its pseudo-code turns G into I - D and would then look for the most dissimilar ones.
"""

from __future__ import annotations

from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

Tasks = list[list[int]]


def hard_sequence(D, K: int) -> Tasks:
    """Algorithm 1: the candidate with the least S over all granularities."""
    return _generate(D, K, _pack, sign=1.0)


def easy_sequence(D, K: int) -> Tasks:
    """Algorithm 2, in the text's sense: the candidate with the greatest S."""
    return _generate(D, K, _deal, sign=-1.0)


def similarity_score(D, tasks: Tasks) -> float:
    """S, eq. (sim), by its nested sums."""
    N, K = sum(len(task) for task in tasks), len(tasks)
    total = 0.0
    for i in range(K - 1):
        for c in tasks[i]:
            for e in tasks[i + 1]:
                total += D[c][e]
    return K / ((K - 1) * N) * total


def _generate(D, K: int, to_tasks, sign: float) -> Tasks:
    N = len(D)
    G = [[0.0 if i == j else float(D[i][j]) for j in range(N)] for i in range(N)]
    M = [[0.0 if i == j else 1.0 - G[i][j] for j in range(N)] for i in range(N)]
    best, best_score = None, float("inf")
    for g in range(2, N + 1):
        merges = linkage(squareform(M, checks=False), method="complete")
        tasks = to_tasks(_clusters(fcluster(merges, g, criterion="maxclust")), G, K)
        candidate = [tasks[k] for k in _greedy_order(_inter_task_similarity(G, tasks), sign)]
        score = similarity_score(G, candidate)
        if sign * score < best_score:
            best, best_score = candidate, sign * score
    return best


def _clusters(assignment) -> Tasks:
    clusters: dict[int, list[int]] = {}
    for class_, cluster in enumerate(assignment):
        clusters.setdefault(int(cluster), []).append(class_)
    return sorted(clusters.values(), key=len, reverse=True)


def _pack(clusters: Tasks, G, K: int) -> Tasks:
    """Step 2-3: whole clusters, or coherent pieces of them, to the currently smallest task."""
    size = sum(len(cluster) for cluster in clusters) // K
    tasks: Tasks = [[] for _ in range(K)]
    for cluster in clusters:
        rest = sorted(cluster, key=lambda c: -sum(G[c][e] for e in cluster))
        while rest:
            piece, rest = rest[:size], rest[size:]
            min(tasks, key=len).extend(piece)
    for task in tasks:
        while len(task) > size:
            min(tasks, key=len).append(task.pop())
    return tasks


def _deal(clusters: Tasks, G, K: int) -> Tasks:
    """The easy twin: the classes of a cluster go to different tasks, always the smallest."""
    tasks: Tasks = [[] for _ in range(K)]
    for cluster in clusters:
        for class_ in cluster:
            min(tasks, key=len).append(class_)
    return tasks


def _inter_task_similarity(G, tasks: Tasks) -> list[list[float]]:
    K = len(tasks)
    ITS = [[0.0] * K for _ in range(K)]
    for i in range(K):
        for j in range(K):
            if i != j:
                total = 0.0
                for c1 in tasks[i]:
                    for c2 in tasks[j]:
                        total += G[c1][c2]
                ITS[i][j] = total / (len(tasks[i]) * len(tasks[j]))
    return ITS


def _greedy_order(ITS: list[list[float]], sign: float) -> list[int]:
    K = len(ITS)
    order = [min(range(K), key=lambda k: sign * sum(ITS[k][j] for j in range(K) if j != k))]
    remaining = [k for k in range(K) if k not in order]
    while remaining:
        chosen = min(remaining, key=lambda k: sign * sum(ITS[t][k] for t in order))
        order.append(chosen)
        remaining.remove(chosen)
    return order
