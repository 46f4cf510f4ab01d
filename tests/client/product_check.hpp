// When a float32 product of a C++ client is right: held against sums in double, within what rounding explains.
#ifndef PRODUCT_CHECK_HPP
#define PRODUCT_CHECK_HPP

#include <cmath>
#include <cstdio>
#include <cstdlib>

// C = A B, with m x n entries that are sums of k products. Ends the program with the first entry that is wrong.
template <class Index, class C, class A, class B>
void check_product(const char *name, const C &c, const A &a, const B &b, Index m, Index n, Index k)
{
    const double unit = std::ldexp(1.0, -24);
    for (Index i = 0; i < m; i++)
        for (Index j = 0; j < n; j++) {
            double exact = 0, size = 0;
            for (Index l = 0; l < k; l++) {
                exact += (double)a(i, l) * b(l, j);
                size += std::fabs((double)a(i, l) * b(l, j));
            }
            if (!(std::fabs(c(i, j) - exact) <= 1.01 * (double)(k + 2) * unit * size)) {
                std::printf("%s: entry %ld, %ld is %g, not %g\n", name, (long)i, (long)j, (double)c(i, j),
                            exact);
                std::exit(1);
            }
        }
}

#endif
