// Armadillo, which sends products of float matrices to sgemm_ once they are larger than 4 x 4, held against sums in
// double. Without its wrapper library, so that the BLAS is the one that the program is linked with.
#define ARMA_DONT_USE_WRAPPER
#include <armadillo>

#include "product_check.hpp"

using arma::fmat;

static void check(const char *name, const fmat &c, const fmat &a, const fmat &b)
{
    if (c.n_rows != a.n_rows || c.n_cols != b.n_cols) {
        std::printf("%s: the shape is wrong\n", name);
        std::exit(1);
    }
    check_product(name, c, a, b, a.n_rows, b.n_cols, a.n_cols);
}

int main()
{
    arma::arma_rng::set_seed(3);
    const fmat a(120, 150, arma::fill::randn), b(150, 90, arma::fill::randn);
    const fmat at = a.t(), bt = b.t();
    fmat sum(120, 90, arma::fill::randn), part(200, 200);

    check("A B", a * b, a, b);
    check("A^T B", at.t() * b, a, b);
    check("A B^T", a * bt.t(), a, b);
    check("A^T B^T", at.t() * bt.t(), a, b);
    check("a multiple", -2.0f * a * b, -2.0f * a, b);
    check("a part of A", a.submat(10, 20, 109, 119) * b.rows(50, 149), a.submat(10, 20, 109, 119),
          b.rows(50, 149));

    // C += A B, as the product of [A C] and [B; 1].
    const fmat before = sum;
    sum += a * b;
    check("a sum", sum, arma::join_rows(a, before), arma::join_cols(b, fmat(90, 90, arma::fill::eye)));

    part.fill(-7);
    part.submat(10, 20, 129, 109) = a * b;
    check("into a part", part.submat(10, 20, 129, 109), a, b);
    part.submat(10, 20, 129, 109).fill(-7);
    if (arma::any(arma::vectorise(part) != -7)) {
        std::printf("entries outside the part were written\n");
        return 1;
    }
    std::printf("products are right\n");
    return 0;
}
