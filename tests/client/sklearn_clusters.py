"""scikit-learn: k-means, whose compiled loops call GEMM through SciPy, and a neural network, which does
through NumPy. Held against distances and layers that use no BLAS.

usage: sklearn_clusters.py float32|float64
"""

import sys

from checks import SKIPPED, np, product_without_blas, unit

try:
    from sklearn.cluster import KMeans
    from sklearn.neural_network import MLPClassifier
except ImportError:
    print("skipped: this Python has no scikit-learn")
    sys.exit(SKIPPED)

CLUSTERS, FEATURES, POINTS = 5, 30, 2000
ELEMENT = np.dtype(sys.argv[1])
# What one rounding in the program and one in what it is held against make together.
UNIT = unit(ELEMENT) + unit(np.float64)
random = np.random.default_rng(17)
truth = random.integers(CLUSTERS, size=POINTS)
middles = random.uniform(-20, 20, (CLUSTERS, FEATURES))
points = (middles[truth] + random.standard_normal((POINTS, FEATURES))).astype(ELEMENT)


def clusters():
    model = KMeans(CLUSTERS, n_init=2, random_state=0).fit(points)
    if model.cluster_centers_.dtype != ELEMENT:
        sys.exit(f"k-means was not done in {ELEMENT}")
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
    """x W + b, and a bound of the error that starts with x's."""
    steps = 1.01 * (len(weights) + 2) * UNIT
    size = product_without_blas(np.abs(x), np.abs(weights)) + np.abs(bias)
    return product_without_blas(x, weights) + bias, steps * size + product_without_blas(error, np.abs(weights))


def network():
    model = MLPClassifier((40,), random_state=0, max_iter=15, batch_size=200).fit(points, truth)
    if model.coefs_[0].dtype != ELEMENT:
        sys.exit(f"the network was not trained in {ELEMENT}")
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
