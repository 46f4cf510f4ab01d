"""scikit-learn on float32: k-means, whose compiled loops call SGEMM through SciPy, and a neural network, which does
through NumPy. Held against distances and layers in float64 that use no BLAS.

usage: sklearn_clusters.py
"""

import sys

from checks import SKIPPED, np

try:
    from sklearn.cluster import KMeans
    from sklearn.neural_network import MLPClassifier
except ImportError:
    print("skipped: this Python has no scikit-learn")
    sys.exit(SKIPPED)

CLUSTERS, FEATURES, POINTS = 5, 30, 2000
UNIT = 2.0**-24  # half the distance of 1 to the next float32
random = np.random.default_rng(17)
truth = random.integers(CLUSTERS, size=POINTS)
middles = random.uniform(-20, 20, (CLUSTERS, FEATURES))
points = (middles[truth] + random.standard_normal((POINTS, FEATURES))).astype(np.float32)


def product(a, b):
    return np.einsum("ij,jk->ik", a.astype(np.float64), b.astype(np.float64), optimize=False)


def clusters():
    model = KMeans(CLUSTERS, n_init=2, random_state=0).fit(points)
    if model.cluster_centers_.dtype != np.float32:
        sys.exit("k-means was not done in float32")
    centers = model.cluster_centers_.astype(np.float64)
    squares = ((points.astype(np.float64)[:, None, :] - centers) ** 2).sum(axis=2)
    if not np.array_equal(model.labels_, squares.argmin(axis=1)):
        sys.exit("k-means: a point is not with its nearest centre")
    for cluster in range(CLUSTERS):
        if len(set(model.labels_[truth == cluster])) != 1:
            sys.exit("k-means: points of one blob were torn apart")
    # A sum of squares, in whatever order: each term is rounded once for each addition that it goes through.
    if abs(model.inertia_ / squares.min(axis=1).sum() - 1) > 1.1 * (POINTS + FEATURES + 4) * UNIT:
        sys.exit(f"k-means: the sum of squares is {model.inertia_}, not {squares.min(axis=1).sum()}")


def layer(x, error, weights, bias):
    """x W + b, and a bound of the error of float32 that starts with x's."""
    steps = 1.01 * (len(weights) + 2) * UNIT
    size = product(np.abs(x), np.abs(weights)) + np.abs(bias)
    return product(x, weights) + bias, steps * size + product(error, np.abs(weights))


def network():
    model = MLPClassifier((40,), random_state=0, max_iter=15, batch_size=200).fit(points, truth)
    if model.coefs_[0].dtype != np.float32:
        sys.exit("the network was not trained in float32")
    hidden, error = layer(points, np.zeros_like(points), *model.coefs_[:1], *model.intercepts_[:1])
    hidden = np.maximum(hidden, 0)
    outputs, error = layer(hidden, error, *model.coefs_[1:], *model.intercepts_[1:])
    size = np.abs(outputs).max(axis=1, keepdims=True)
    outputs = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    outputs /= outputs.sum(axis=1, keepdims=True)
    # No probability moves by more than half of what moves the outputs; the rest is the rounding of exp and the sum.
    bound = error.max(axis=1, keepdims=True) / 2 + (2 * size + CLUSTERS + 8) * UNIT
    excess = np.max(np.abs(model.predict_proba(points) - outputs) - bound)
    if not excess <= 0:
        sys.exit(f"network: a probability is wrong, by {excess} more than rounding explains")
    if np.mean(model.predict(points) == truth) < 0.99:
        sys.exit("network: it has not learned")


clusters()
network()
print("clusters and predictions are right")
