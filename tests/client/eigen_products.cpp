// Eigen with EIGEN_USE_BLAS, which sends products of dynamic float matrices to sgemm_, held against sums in double.
#define EIGEN_USE_BLAS
#include <Eigen/Dense>

#include "product_check.hpp"

using Eigen::MatrixXf;

static void check(const char *name, const MatrixXf &c, const MatrixXf &a, const MatrixXf &b)
{
    check_product(name, c, a, b, a.rows(), b.cols(), a.cols());
}

int main()
{
    std::srand(3);
    const MatrixXf a = MatrixXf::Random(120, 150), b = MatrixXf::Random(150, 90);
    const MatrixXf at = a.transpose(), bt = b.transpose();
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> row_major = a;
    MatrixXf part = MatrixXf::Constant(200, 200, -7);

    check("A B", a * b, a, b);
    check("A^T B", at.transpose() * b, a, b);
    check("A B^T", a * bt.transpose(), a, b);
    check("row-major A", row_major * b, a, b);
    check("a multiple", MatrixXf(-2.0f * (a * b)), -2.0f * a, b);
    part.block(10, 20, 120, 90).noalias() = a * b;
    check("into a block", part.block(10, 20, 120, 90), a, b);
    part.block(10, 20, 120, 90).setConstant(-7);
    if (!(part.array() == -7).all()) {
        std::printf("entries outside the block were written\n");
        return 1;
    }
    std::printf("products are right\n");
    return 0;
}
