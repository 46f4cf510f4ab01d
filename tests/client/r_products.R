# R's products, which go to DGEMM, and to DSYRK where a matrix meets itself; triangular systems, which go to DTRSM;
# and the routines above them: lm, whose QR decomposition has products of vectors alone, and prcomp and solve, which
# have LAPACK's. Held against sums that use no BLAS.
#
#   Rscript r_products.R

unit <- .Machine$double.eps / 2

fail <- function(...) {
    cat(..., "\n")
    quit(status = 1)
}

# a %*% b: colSums adds up in long double.
product_without_blas <- function(a, b) {
    c <- vapply(seq_len(nrow(a)), function(i) colSums(a[i, ] * b), numeric(ncol(b)))
    t(matrix(c, ncol(b), nrow(a)))
}

# c = a %*% b within what rounding explains: of k terms in whatever order, and of the terms and the sums here.
check <- function(name, c, a, b) {
    wanted <- product_without_blas(a, b)
    bound <- 1.01 * (ncol(a) + 3) * unit * product_without_blas(abs(a), abs(b))
    if (!identical(dim(c), dim(wanted)) || !all(abs(c - wanted) <= bound))
        fail(name, "is wrong by up to", max(abs(c - wanted)))
}

products <- function() {
    a <- matrix(rnorm(120 * 150), 120)
    b <- matrix(rnorm(150 * 90), 150)
    check("a %*% b", a %*% b, a, b)
    check("a part of a", a[11:60, 21:99] %*% b[1:79, 2:4], a[11:60, 21:99], b[1:79, 2:4])
    check("crossprod of two", crossprod(a, b[1:120, ]), t(a), b[1:120, ])
    check("tcrossprod of two", tcrossprod(a[, 1:90], b), a[, 1:90], t(b))
    check("crossprod", crossprod(a), t(a), a)
    check("tcrossprod", tcrossprod(a), a, t(a))
    if (!isSymmetric(crossprod(a), tol = 0))
        fail("crossprod: the halves differ")

    # R keeps what is not finite from a BLAS, unless it is told that the BLAS knows.
    a[3, 5] <- NaN
    a[7, 9] <- Inf
    for (way in c("default", "blas")) {
        options(matprod = way)
        c <- a %*% b
        if (!all(is.nan(c[3, ])) || !identical(c[7, ], sign(b[9, ]) * Inf) || !all(is.finite(c[-c(3, 7), ])))
            fail("NaN or infinity is lost or misplaced, matprod =", way)
    }
    options(matprod = "default")
}

# The least squares of a backward stable method are those of a nearby problem: what is left over is at right
# angles to the columns but for the distance of that problem (Higham, Accuracy and Stability of Numerical
# Algorithms, 20.2).
least_squares <- function() {
    m <- 300
    n <- 20
    x <- matrix(rnorm(m * n), m)
    y <- rnorm(m)
    coefficients <- coef(lm(y ~ x - 1))
    left <- y - rowSums(x * rep(coefficients, each = m))
    lengths <- sqrt(colSums(x^2))
    size <- sqrt(sum(left^2)) + sqrt(sum(y^2)) + sum(lengths * abs(coefficients))
    if (!all(abs(colSums(x * left)) <= m * n * unit * lengths * size))
        fail("lm: the columns are not at right angles to what is left over")
}

# Principal components are the eigenvectors of the covariance, to the backward error of a singular value
# decomposition.
components <- function() {
    m <- 200
    n <- 40
    x <- matrix(rnorm(m * n), m) * rep(seq_len(n), each = m)
    found <- prcomp(x)
    v <- found$rotation
    centred <- x - rep(colMeans(x), each = m)
    covariance <- product_without_blas(t(centred), centred) / (m - 1)
    size <- sum(centred^2) / (m - 1)
    if (!all(abs(product_without_blas(covariance, v) - v * rep(found$sdev^2, each = n)) <= 64 * m * unit * size))
        fail("prcomp: no eigenvectors of the covariance")
    if (!all(abs(product_without_blas(t(v), v) - diag(n)) <= 64 * m * unit))
        fail("prcomp: the components are not orthonormal")
    if (is.unsorted(rev(found$sdev)))
        fail("prcomp: the components are out of order")
}

# A backward stable solution leaves a residual that is small beside |A||X|.
solution <- function() {
    n <- 200
    a <- matrix(rnorm(n * n), n)
    b <- matrix(rnorm(n * 7), n)
    x <- solve(a, b)
    if (!all(abs(product_without_blas(a, x) - b) <= 64 * n * unit * product_without_blas(abs(a), abs(x))))
        fail("solve: the residual is too large")
}

# R's own solves of triangular systems, which are DTRSM: the triangle that is not looked at may hold anything.
triangular <- function() {
    n <- 150
    values <- matrix(rnorm(n * n) / 12, n) + 2 * diag(n)
    b <- matrix(rnorm(n * 90), n)
    for (upper in c(TRUE, FALSE))
        for (transposed in c(FALSE, TRUE)) {
            outside <- if (upper) lower.tri(values) else upper.tri(values)
            stored <- replace(values, outside, NaN)
            triangle <- replace(values, outside, 0)
            x <- (if (upper) backsolve else forwardsolve)(stored, b, transpose = transposed)
            a <- if (transposed) t(triangle) else triangle
            # What substitution leaves, in any order (Higham, Accuracy and Stability of Numerical Algorithms, 8.1).
            if (!all(abs(product_without_blas(a, x) - b) <= 1.01 * (n + 5) * unit * product_without_blas(abs(a), abs(x))))
                fail("a triangular system, upper", upper, "transposed", transposed, ": the residual is too large")
        }
}

set.seed(7)
products()
least_squares()
components()
solution()
triangular()
cat("products and what is made of them are right\n")
