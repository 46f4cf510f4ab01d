"""A job of NetworkX, whose spectral functions are NumPy's."""

import networkx
from checks import require_near


def resistances(size):
    """Resistances between all nodes of a graph. By Foster's theorem those along the edges sum up to n - 1."""
    n = size(1200)
    graph = networkx.random_regular_graph(6, n, seed=52)
    found = networkx.resistance_distance(graph)
    require_near(sum(found[u][v] for u, v in graph.edges), n - 1, 1e-8, "the sum along the edges")
