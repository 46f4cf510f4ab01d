"""Jobs of scikit-learn. What iterates does so a fixed number of times, so that rounding does not change the work."""

import warnings

import numpy
from checks import require, require_near
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from with_numpy import normal, normal_float32

warnings.simplefilter("ignore", ConvergenceWarning)


def smooth(x):
    return numpy.sin(x[:, 0]) + 0.1 * x[:, 1]


def k_neighbours(size):
    centres = 0.5 * normal_float32(10, 784, seed=1)
    labels = numpy.arange(size(60000)) % 10
    data = centres[labels] + normal_float32(len(labels), 784, seed=2)
    asked = numpy.arange(size(10000)) % 10
    questions = centres[asked] + normal_float32(len(asked), 784, seed=3)
    found = KNeighborsClassifier(algorithm="brute").fit(data, labels).predict(questions)
    require((found == asked).mean() > 0.98, "classes of neighbours")


def kmeans(size):
    data = normal(size(100000), 256)
    model = KMeans(size(256), n_init=1, max_iter=40, tol=0, random_state=1).fit(data)
    some = slice(0, 2000)
    distances = ((data[some] - model.cluster_centers_[model.labels_[some]]) ** 2).sum()
    require(0 < distances < (data[some] ** 2).sum() and model.inertia_ < (data**2).sum(), "distances to the centres")


def gaussian_process(size):
    """The likelihood and its gradient at five length scales, and a prediction with the best."""
    x = normal(size(2500), 8)
    y = smooth(x)

    def try_five(objective, theta, bounds):
        tried = [theta + [step, 0] for step in numpy.linspace(0, 1.4, 5)]
        losses = [objective(each)[0] for each in tried]
        best = int(numpy.argmin(losses))
        return tried[best], losses[best]

    model = GaussianProcessRegressor(RBF(1.0) + WhiteKernel(1e-2), optimizer=try_five).fit(x, y)
    require(numpy.abs(model.predict(x[:100]) - y[:100]).mean() < 0.1, "predictions")


def kernel_ridge(size):
    x = normal(size(7000), 20)
    y = smooth(x)
    model = KernelRidge(kernel="rbf", alpha=1e-3, gamma=0.05).fit(x, y)
    residual = model.predict(x[:50]) + 1e-3 * model.dual_coef_[:50] - y[:50]
    require(numpy.abs(residual).max() < 1e-6, "the equations")


def pca(size):
    data = normal(size(20000), size(1000))
    model = PCA(svd_solver="full").fit(data)
    require_near(model.explained_variance_.sum(), data.var(axis=0, ddof=1).sum(), 1e-9, "the variance")


def ridge(size):
    """Three regressions with 200 targets each by the normal equations."""
    x = normal(size(20000), size(2000))
    weights = normal(x.shape[1], size(200), seed=9)
    y = x @ weights
    for alpha in (1.0, 10.0, 100.0):
        model = Ridge(alpha=alpha, solver="cholesky", fit_intercept=False).fit(x, y)
        w = model.coef_[0]
        gradient = x.T @ (x @ w - y[:, 0]) + alpha * w
        require(numpy.linalg.norm(gradient) < 1e-9 * numpy.linalg.norm(x.T @ y[:, 0]), "a gradient")


def nmf(size):
    data = numpy.random.default_rng(52).random((size(5000), size(3000)))
    model = NMF(size(50), init="nndsvda", solver="mu", max_iter=60, tol=0, random_state=1).fit(data)
    require(model.reconstruction_err_ < 0.6 * numpy.linalg.norm(data), "the residual")


def grid_search(size):
    """Forty kernel ridges in sixteen processes."""
    x = normal(size(3000), 50)
    y = smooth(x)
    search = GridSearchCV(KernelRidge(kernel="rbf", gamma=0.01), {"alpha": numpy.logspace(-4, 3, 8)}, cv=5, n_jobs=16)
    search.fit(x, y)
    require(search.best_score_ > 0.5, "the best score")


def random_forest(size):
    """Trees in sixteen threads: no linear algebra."""
    x = normal(size(20000), 60)
    y = (x[:, 0] * x[:, 1] > 0).astype(int)
    model = RandomForestClassifier(200, n_jobs=16, random_state=1).fit(x, y)
    require(model.score(x[:2000], y[:2000]) > 0.9, "classes")
