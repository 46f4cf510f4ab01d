// Eigen with EIGEN_USE_BLAS, which sends products of dynamic float matrices to sgemm_, held against sums in double.
#define EIGEN_USE_BLAS
#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using Eigen::MatrixXf;

static void check(const char *name, const MatrixXf &c, const MatrixXf &a, const MatrixXf &b)
{
    const double unit = std::ldexp(1.0, -24);
    for (Eigen::Index i = 0; i < a.rows(); i++)
        for (Eigen::Index j = 0; j < b.cols(); j++) {
            double exact = 0, size = 0;
            for (Eigen::Index l = 0; l < a.cols(); l++) {
                exact += (double)a(i, l) * b(l, j);
                size += std::fabs((double)a(i, l) * b(l, j));
            }
            if (!(std::fabs(c(i, j) - exact) <= 1.01 * (double)(a.cols() + 2) * unit * size)) {
                std::printf("%s: entry %td, %td is %g, not %g\n", name, i, j, c(i, j), exact);
                std::exit(1);
            }
        }
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
