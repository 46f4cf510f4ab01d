"""The jobs: whole programs of real packages, with data that they make on the spot, of 1 to 10 s each on 16 cores.

The list is frozen: a job, once measured, is never changed and never left out, so that figures of different versions of
the library are of the same work. New jobs are added at the end. What a job does lies in with_PACKAGE.py, in the
function of its name (in C: NAME.c). A job has a fixed seed, checks its own result, and says nothing unless that is
wrong; what iterates does so a fixed number of times.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Job:
    name: str
    package: str  # whose code asks for the linear algebra; with_PACKAGE.py has the job
    what: str

    @property
    def is_program(self):
        return self.package == "C"


JOBS = [
    Job("products", "numpy", "ten products of 3000, float64"),
    Job("products_float32", "numpy", "twelve products of 4000, float32"),
    Job("products_complex", "numpy", "four products of 2500, complex128"),
    Job("one_product", "numpy", "one product of 1500: a short program"),
    Job("covariance", "numpy", "cov of 40000 x 1500, and eigh"),
    Job("solve", "numpy", "three solutions of 4000"),
    Job("inverse", "numpy", "three inverses of 3000"),
    Job("cholesky", "numpy", "three Cholesky factorizations of 5000"),
    Job("svd", "numpy", "singular values and vectors of 2000"),
    Job("qr", "numpy", "QR of 6000 x 3000"),
    Job("least_squares", "numpy", "lstsq of 8000 x 1500"),
    Job("thin_products", "numpy", "sixty products of 6000 x 6000 with 48 columns"),
    Job("subspace", "numpy", "25 iterations of a subspace of 200 in 5000: products and QR"),
    Job("small_products", "numpy", "400000 products of 24, 250000 solutions of 8"),
    Job("signals", "numpy", "sorting, Fourier transforms, sums: no linear algebra"),
    Job("threads", "numpy", "sixteen threads: 48 times twelve products of 1200"),
    Job("forks", "numpy", "eight forked processes: 16 times twelve products of 1200"),
    Job("cho_solve", "scipy", "cho_factor of 5000, cho_solve with 2500 columns"),
    Job("expm", "scipy", "the exponential of a matrix of 2000"),
    Job("lu", "scipy", "lu_factor of 6000, solve_triangular twice with 2000 columns"),
    Job("eigh_generalized", "scipy", "eigh of two matrices of 2000"),
    Job("schur_complement", "scipy", "a sparse system of 25600 with a dense border of 800"),
    Job("kalman", "scipy", "a Kalman filter of 12 states, 12000 steps"),
    Job("sparse_modes", "scipy", "24 modes of a sparse matrix of 40000: sparse only"),
    Job("logistic", "scipy", "a regression by L-BFGS: products of a matrix and a vector only"),
    Job("k_neighbours", "sklearn", "neighbours of 10000 questions in 60000 x 784, float32"),
    Job("kmeans", "sklearn", "256 clusters of 100000 x 256, 40 iterations"),
    Job("gaussian_process", "sklearn", "a Gaussian process of 2500, five length scales with gradients"),
    Job("kernel_ridge", "sklearn", "a kernel ridge of 7000"),
    Job("pca", "sklearn", "principal components of 20000 x 1000 by a full SVD"),
    Job("ridge", "sklearn", "three ridge regressions, 20000 x 2000, 200 targets"),
    Job("nmf", "sklearn", "nonnegative factors, 50 of 5000 x 3000, 60 iterations"),
    Job("grid_search", "sklearn", "forty kernel ridges in sixteen processes of joblib"),
    Job("random_forest", "sklearn", "200 trees in sixteen threads: no linear algebra"),
    Job("ols", "statsmodels", "least squares of 30000 x 600 with statistics"),
    Job("state_space", "statsmodels", "forty likelihoods of a seasonal model by a Kalman filter"),
    Job("returns", "pandas", "covariances of 10000 x 1500, 800 portfolios, monthly sums"),
    Job("numba_products", "numba", "ten products of 2500 by @ in compiled code"),
    Job("numba_small", "numba", "60000 solutions of 16 in sixteen threads"),
    Job("centralities", "networkx", "centralities of 2000 nodes, by eigenvectors"),
    Job("opencv_matrices", "opencv", "six products of 2000, a solution, principal axes"),
    Job("jax_process", "jax", "likelihoods and gradients of a Gaussian process of 2500, five times"),
    Job("jax_spectra", "jax", "eigenvalues and singular values of 1500"),
    Job("mlp_training", "torch", "training 784-1536-1536-10, 50 steps of 1024"),
    Job("transformer_training", "torch", "training four layers of width 512, 5 steps of 16 x 128 tokens"),
    Job("torch_factors", "torch", "a solution and a Cholesky factorization of 3000, eigenvalues of 1500"),
    Job("loaded_features", "torch", "four forked workers multiply in NumPy, the parent trains"),
    Job("gpytorch_process", "gpytorch", "six steps of training an exact Gaussian process of 2500"),
    Job("bert_inference", "transformers", "a BERT of six layers, three times 32 x 128 tokens"),
    Job("tiles", "C", "a C program on OpenBLAS: Cholesky of 10240 by tiles of 512"),
]

# What the packages are called where they are installed.
DISTRIBUTIONS = {
    "sklearn": "scikit-learn",
    "opencv": "opencv-python-headless",
}


def find_job(name):
    for job in JOBS:
        if job.name == name:
            return job
    raise KeyError(name)
