// Armadillo, which sends products of matrices to GEMM once they are larger than 4 x 4, and to SYRK where it
// is told of a transpose of the same matrix; held against sums in long double. Without its wrapper library,
// so that the BLAS is the one that the program is linked with.
#define ARMA_DONT_USE_WRAPPER
#include <armadillo>

#include "product_check.hpp"

template <class Element>
static void check(const char *name, const arma::Mat<Element> &c, const arma::Mat<Element> &a,
                  const arma::Mat<Element> &b)
{
    if (c.n_rows != a.n_rows || c.n_cols != b.n_cols) {
        std::printf("%s: the shape is wrong\n", name);
        std::exit(1);
    }
    check_product<Element>(name, c, a, b, a.n_rows, b.n_cols, a.n_cols);
}

template <class Element> static int multiply()
{
    using matrix = arma::Mat<Element>;
    arma::arma_rng::set_seed(3);
    const matrix a(120, 150, arma::fill::randn), b(150, 90, arma::fill::randn);
    const matrix at = a.t(), bt = b.t();
    const Element multiple = -2;
    matrix sum(120, 90, arma::fill::randn), part(200, 200);

    check<Element>("A B", a * b, a, b);
    check<Element>("A^T B", at.t() * b, a, b);
    check<Element>("A B^T", a * bt.t(), a, b);
    check<Element>("A^T B^T", at.t() * bt.t(), a, b);
    check<Element>("a multiple", multiple * a * b, multiple * a, b);
    check<Element>("a part of A", a.submat(10, 20, 109, 119) * b.rows(50, 149), a.submat(10, 20, 109, 119),
                   b.rows(50, 149));
    check<Element>("A A^T", a * a.t(), a, at);
    check<Element>("A^T A", a.t() * a, at, a);

    // C += A B, as the product of [A C] and [B; 1].
    const matrix before = sum;
    sum += a * b;
    check<Element>("a sum", sum, arma::join_rows(a, before),
                   arma::join_cols(b, matrix(90, 90, arma::fill::eye)));

    part.fill(-7);
    part.submat(10, 20, 129, 109) = a * b;
    check<Element>("into a part", part.submat(10, 20, 129, 109), a, b);
    part.submat(10, 20, 129, 109).fill(-7);
    if (arma::any(arma::vectorise(part) != -7)) {
        std::printf("entries outside the part were written\n");
        return 1;
    }
    std::printf("products are right\n");
    return 0;
}

int main(int argc, char **argv)
{
    return wants_double(argc, argv) ? multiply<double>() : multiply<float>();
}
