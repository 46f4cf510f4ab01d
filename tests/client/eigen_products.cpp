// Eigen with EIGEN_USE_BLAS, which sends products of dynamic matrices to GEMM and rank updates to SYRK, held
// against sums in long double.
#define EIGEN_USE_BLAS
#include <Eigen/Dense>

#include "product_check.hpp"

template <class Element> using matrix = Eigen::Matrix<Element, Eigen::Dynamic, Eigen::Dynamic>;

template <class Element>
static void check(const char *name, const matrix<Element> &c, const matrix<Element> &a,
                  const matrix<Element> &b)
{
    check_product<Element>(name, c, a, b, a.rows(), b.cols(), a.cols());
}

template <class Element> static int multiply()
{
    std::srand(3);
    const matrix<Element> a = matrix<Element>::Random(120, 150), b = matrix<Element>::Random(150, 90);
    const matrix<Element> at = a.transpose(), bt = b.transpose();
    Eigen::Matrix<Element, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> row_major = a;
    matrix<Element> part = matrix<Element>::Constant(200, 200, -7);
    matrix<Element> half = matrix<Element>::Zero(120, 120);
    const Element multiple = -2;

    check<Element>("A B", a * b, a, b);
    check<Element>("A^T B", at.transpose() * b, a, b);
    check<Element>("A B^T", a * bt.transpose(), a, b);
    check<Element>("row-major A", row_major * b, a, b);
    check<Element>("a multiple", multiple * (a * b), multiple * a, b);
    half.template selfadjointView<Eigen::Lower>().rankUpdate(a);
    check<Element>("A A^T", half.template selfadjointView<Eigen::Lower>(), a, at);
    part.block(10, 20, 120, 90).noalias() = a * b;
    check<Element>("into a block", part.block(10, 20, 120, 90), a, b);
    part.block(10, 20, 120, 90).setConstant(-7);
    if (!(part.array() == -7).all()) {
        std::printf("entries outside the block were written\n");
        return 1;
    }
    std::printf("products are right\n");
    return 0;
}

int main(int argc, char **argv)
{
    return wants_double(argc, argv) ? multiply<double>() : multiply<float>();
}
