"""The paper's Algorithms 1 and 2, transcribed line by line into plain Python.

Only for comparison: nothing in edgecil imports this; a test and a benchmark do. Plain loops,
SciPy's linkage once per granularity, no shortcuts. Line numbers are those of the pseudo-code. The
choices, where the paper leaves one:

- granularities are all of 2 … N (the paper gives no set);
- the I of "I - G" is 1 for every pair of classes, as the analysis of "Step 2-3" has it;
- clusters become tasks (line 5) as in that analysis: largest first; a cluster larger than a task
  goes out in pieces of a task's size, the classes that fit best first, each to the smallest task;
  a smaller one goes whole to the smallest task; then tasks that are too large pass their last
  classes on.

Algorithm 2 is taken at its word: G is I - D, so that its clusters hold *dissimilar* classes and its
next task is the most *dissimilar* one; only the last line looks for the greatest S.
"""

from __future__ import annotations

from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

Tasks = list[list[int]]


def hard_sequence(D, K: int) -> Tasks:
    """Algorithm 1: Hard Task Sequence Generation."""
    N = len(D)
    # 1: G <- D; G_ii <- 0
    G = [[0.0 if i == j else float(D[i][j]) for j in range(N)] for i in range(N)]
    candidates = []
    # 2-18
    for g in range(2, N + 1):
        tasks = _merge_into_tasks(_cluster(_ones_minus(G), g), G, K)
        ITS = _inter_task_similarity(G, tasks)
        # 10: the first task has the least similarity to all others
        order = [min(range(K), key=lambda k: sum(ITS[k][j] for j in range(K) if j != k))]
        # 11: the remaining tasks
        remaining = [k for k in range(K) if k not in order]
        # 12-16: the next task has the least similarity to all chosen ones
        while remaining:
            best = min(remaining, key=lambda k: sum(ITS[t][k] for t in order))
            order.append(best)
            remaining.remove(best)
        candidates.append([tasks[k] for k in order])
    # 17, 19: the least S
    return min(candidates, key=lambda candidate: similarity_score(D, candidate))


def easy_sequence(D, K: int) -> Tasks:
    """Algorithm 2: Easy Task Sequence Generation."""
    N = len(D)
    # 1: G <- I - D; G_ii <- 0
    G = _ones_minus(D)
    candidates = []
    # 2-18
    for g in range(2, N + 1):
        tasks = _merge_into_tasks(_cluster(_ones_minus(G), g), G, K)
        ITS = _inter_task_similarity(G, tasks)
        # 10: the first task has the greatest G to all others
        order = [max(range(K), key=lambda k: sum(ITS[k][j] for j in range(K) if j != k))]
        # 11: the remaining tasks
        remaining = [k for k in range(K) if k not in order]
        # 12-16: the next task has the greatest G to all chosen ones
        while remaining:
            best = max(remaining, key=lambda k: sum(ITS[t][k] for t in order))
            order.append(best)
            remaining.remove(best)
        candidates.append([tasks[k] for k in order])
    # 17, 19: the greatest S
    return max(candidates, key=lambda candidate: similarity_score(D, candidate))


def similarity_score(D, tasks: Tasks) -> float:
    """S, eq. (sim), by its nested sums."""
    N, K = sum(len(task) for task in tasks), len(tasks)
    total = 0.0
    for i in range(K - 1):
        for c in tasks[i]:
            for e in tasks[i + 1]:
                total += D[c][e]
    return K / ((K - 1) * N) * total


def _ones_minus(G) -> list[list[float]]:
    """I - G with a zero diagonal (line 2, and line 1 of Algorithm 2)."""
    N = len(G)
    return [[0.0 if i == j else 1.0 - float(G[i][j]) for j in range(N)] for i in range(N)]


def _cluster(M, g: int) -> Tasks:
    """Line 4: hierarchical clustering on M into g clusters (complete linkage), largest first.

    SciPy refuses negative distances, and M of Algorithm 2 is D, which may have some. A constant
    added to all distances gives the same clusters.
    """
    distances = squareform(M, checks=False)
    shift = max(0.0, -distances.min())
    assignment = fcluster(linkage(distances + shift, "complete"), g, "maxclust")
    clusters: dict[int, list[int]] = {}
    for class_, cluster in enumerate(assignment):
        clusters.setdefault(int(cluster), []).append(class_)
    return sorted(sorted(clusters.values()), key=len, reverse=True)


def _merge_into_tasks(clusters: Tasks, G, K: int) -> Tasks:
    """Line 5, by the analysis of "Step 2-3": pieces of clusters to the currently smallest task."""
    size = sum(len(cluster) for cluster in clusters) // K
    tasks: Tasks = [[] for _ in range(K)]
    for cluster in clusters:
        rest = sorted(cluster, key=lambda c: -sum(G[c][e] for e in cluster))
        while rest:
            piece, rest = rest[:size], rest[size:]
            min(tasks, key=len).extend(piece)
    for task in tasks:
        while len(task) > size:
            excess = task.pop()
            min(tasks, key=len).append(excess)
    return tasks


def _inter_task_similarity(G, tasks: Tasks) -> list[list[float]]:
    """Lines 6-9."""
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
