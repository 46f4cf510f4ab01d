// When a product of a C++ client is right: held against sums in long double, within what rounding explains.
#ifndef PRODUCT_CHECK_HPP
#define PRODUCT_CHECK_HPP

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

// C = A B, with m x n entries that are sums of k products. Ends the program with the first entry that is
// wrong.
template <class Element, class Index, class C, class A, class B>
void check_product(const char *name, const C &c, const A &a, const B &b, Index m, Index n, Index k)
{
    const long double unit = std::numeric_limits<Element>::epsilon() / 2;
    for (Index i = 0; i < m; i++)
        for (Index j = 0; j < n; j++) {
            long double wanted = 0, size = 0;
            for (Index l = 0; l < k; l++) {
                wanted += (long double)a(i, l) * b(l, j);
                size += std::fabs((long double)a(i, l) * b(l, j));
            }
            if (!(std::fabs(c(i, j) - wanted) <= 1.01L * (long double)(k + 2) * unit * size)) {
                std::printf("%s: entry %ld, %ld is %.17g, not %.17Lg\n", name, (long)i, (long)j,
                            (double)c(i, j), wanted);
                std::exit(1);
            }
        }
}

// The argument of a client: float32 or float64.
inline bool wants_double(int argc, char **argv)
{
    if (argc != 2 || (std::strcmp(argv[1], "float32") != 0 && std::strcmp(argv[1], "float64") != 0)) {
        std::printf("usage: %s float32|float64\n", argv[0]);
        std::exit(2);
    }
    return std::strcmp(argv[1], "float64") == 0;
}

#endif
