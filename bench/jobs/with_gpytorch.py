"""A job of GPyTorch on the CPU."""

import gpytorch
import torch
from checks import require


class Exact(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def gpytorch_process(size):
    """Six steps of training an exact process, by Cholesky factorizations in float64."""
    torch.manual_seed(1)
    x = torch.randn(size(2500), 6, dtype=torch.float64)
    y = torch.sin(x[:, 0]) + 0.1 * x[:, 1]
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    model = Exact(x, y, likelihood).double()
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    with gpytorch.settings.max_cholesky_size(100000):
        for _ in range(6):
            optimizer.zero_grad()
            loss = -objective(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    require(losses[-1] < losses[0], f"losses from {losses[0]} to {losses[-1]}")
