"""A job of PyTorch Geometric."""

import torch
from checks import require
from torch_geometric.nn import GCNConv


def graph_network(size):
    """Fifteen steps of training a graph network: products, and sums over edges."""
    torch.manual_seed(1)
    nodes, edges, width = size(30000), size(150000), size(256)
    ends = torch.randint(0, nodes, (2, edges))
    labels = torch.arange(nodes) % 10
    features = torch.randn(10, width)[labels] + torch.randn(nodes, width)
    first, second = GCNConv(width, width), GCNConv(width, 10)
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-2)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        found = second(torch.relu(first(features, ends)), ends)
        loss = torch.nn.functional.cross_entropy(found, labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    require(losses[-1] < losses[0], f"losses from {losses[0]} to {losses[-1]}")
