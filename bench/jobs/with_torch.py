"""Jobs of PyTorch on the CPU."""

import numpy
import torch
from checks import require
from torch import nn
from with_numpy import normal_float32


def train(model, data, labels, batch, steps, rate):
    torch.manual_seed(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    losses = []
    for step in range(steps):
        first = step * batch % (len(data) - batch + 1)
        loss = nn.functional.cross_entropy(model(data[first : first + batch]), labels[first : first + batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    is_sane = numpy.isfinite(losses).all() and losses[-1] < 2 * losses[0]
    require(is_sane, f"losses from {losses[0]} to {losses[-1]}")


def classes(count, shape, seed=52):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % 10
    centres = torch.randn(10, *shape, generator=generator)
    return centres[labels] + torch.randn(count, *shape, generator=generator), labels


def mlp_training(size):
    torch.manual_seed(1)
    width = size(1536)
    model = nn.Sequential(nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))
    train(model, *classes(size(16384), (784,)), size(1024), 50, 1e-3)


class Tokens(nn.Module):
    def __init__(self, width):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(width, 10)

    def forward(self, tokens):
        return self.head(self.encoder(tokens).mean(1))


def transformer_training(size):
    torch.manual_seed(1)
    width = 8 * size(64)
    train(Tokens(width), *classes(size(64), (size(128), width)), size(16), 5, 1e-4)


def torch_factors(size):
    """A solution, a Cholesky factorization and eigenvalues in float64."""
    torch.manual_seed(1)
    n = size(3000)
    a, b = torch.randn(n, n, dtype=torch.float64), torch.randn(n, size(500), dtype=torch.float64)
    x = torch.linalg.solve(a, b)
    require((a @ x[:, 0] - b[:, 0]).norm() < 1e-9 * n * x[:, 0].norm(), "a solution")
    gram = a @ a.T / n + torch.eye(n, dtype=torch.float64)
    factor = torch.linalg.cholesky(gram)
    require((factor @ (factor.T @ b[:, 0]) - gram @ b[:, 0]).norm() < 1e-9 * n * b[:, 0].norm(), "a factor")
    values = torch.linalg.eigvalsh(gram[: n // 2, : n // 2])
    require(abs(values.sum() - gram.diagonal()[: n // 2].sum()) < 1e-8 * n, "the eigenvalues' sum")


class Features(torch.utils.data.Dataset):
    """Each item is made by a product of NumPy's, in the process that loads it."""

    def __init__(self, count, n):
        self.count, self.n = count, n
        self.projection = normal_float32(n, 256, seed=9)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return normal_float32(self.n, self.n, seed=index) @ self.projection, index % 10


def loaded_features(size):
    """Training on features that four forked workers make."""
    torch.manual_seed(1)
    data = Features(size(80), size(1500))
    loader = torch.utils.data.DataLoader(data, batch_size=8, num_workers=4, multiprocessing_context="fork")
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    seen = 0
    for features, labels in loader:
        loss = nn.functional.cross_entropy(model(features / 40).mean(1), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        require(bool(torch.isfinite(loss)), "the loss")
        seen += len(labels)
    require(seen == len(data), "items")
