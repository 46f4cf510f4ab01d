"""A job of NetworkX, whose spectral functions are NumPy's."""

import networkx
import numpy
from checks import require_near


def centralities(size):
    """Subgraph centralities: the diagonal of the exponential of the graph's matrix A, of which one element is checked."""
    graph = networkx.random_regular_graph(6, size(2000), seed=52)
    found = networkx.subgraph_centrality(graph)
    nodes = list(graph)
    matrix = networkx.to_scipy_sparse_array(graph, nodelist=nodes, dtype=float)
    term = numpy.zeros(len(nodes))
    term[0] = 1
    expected = term[0]
    for k in range(1, 60):
        term = matrix @ term / k
        expected += term[0]
    require_near(found[nodes[0]], expected, 1e-8, "a centrality")
