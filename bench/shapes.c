/* The groups of shapes that bench/kernels measures, and random ones. */
#include "bench/shapes.h"

#include <math.h>
#include <stdlib.h>

const bench_group bench_groups[] = {
    {"squares", 4, {{2048, 2048, 2048}, {3072, 3072, 3072}, {4096, 4096, 4096}, {8192, 8192, 8192}}},
    {"odd sizes",
     7,
     {{1025, 1025, 1025},
      {1111, 1111, 1111},
      {2049, 2049, 2049},
      {3001, 3001, 3001},
      {4095, 4095, 4095},
      {4097, 4097, 4097},
      {333, 777, 1555}}},
    {"256 to 1536",
     10,
     {{256, 256, 256},
      {384, 384, 384},
      {512, 512, 512},
      {640, 640, 640},
      {768, 768, 768},
      {896, 896, 896},
      {1000, 1000, 1000},
      {1024, 1024, 1024},
      {1280, 1280, 1280},
      {1536, 1536, 1536}}},
    {"skinny",
     11,
     {{16384, 16, 4096},
      {16, 16384, 4096},
      {16384, 64, 4096},
      {64, 64, 65536},
      {128, 128, 131072},
      {4096, 1, 4096},
      {1, 4096, 4096},
      {4096, 4096, 32},
      {50, 4096, 1000},
      {1000, 1000, 10000},
      {25600, 64, 2560}}},
    {"long k, tall",
     7,
     {{256, 256, 65536},
      {8192, 128, 8192},
      {128, 8192, 8192},
      {512, 512, 16384},
      {16384, 256, 4096},
      {193, 321, 500},
      {256, 256, 1024}}},
    {"short side",
     16,
     {{4096, 1, 4096},
      {1, 4096, 4096},
      {4096, 2, 4096},
      {4096, 4, 4096},
      {4, 4096, 4096},
      {8192, 8, 8192},
      {16384, 16, 4096},
      {16, 16384, 4096},
      {16384, 1, 16384},
      {4097, 1, 4097},
      {4097, 4, 4097},
      {16385, 16, 4097},
      {1000, 3, 1000},
      {100000, 1, 64},
      {100000, 16, 64},
      {16, 16, 1000000}}},
    {"read once", /* an operand of 1 GiB */
     9,
     {{65536, 1, 4096},
      {65536, 2, 4096},
      {65536, 4, 4096},
      {65536, 8, 4096},
      {65536, 16, 4096},
      {16, 65536, 4096},
      {65537, 1, 4097},
      {65537, 4, 4097},
      {65537, 16, 4097}}},
    {0},
};

/* Sizes spread evenly over their logarithms, as shapes in programs are; half of them multiples of 4. */
static int64_t draw_size(double least, double most)
{
    double fraction = (double)rand() / RAND_MAX;
    int64_t size = (int64_t)(least * pow(most / least, fraction));
    return rand() % 2 ? size : (size + 3) / 4 * 4;
}

bench_shape bench_draw_shape(double least, double most)
{
    const int64_t m = draw_size(least, most), n = draw_size(least, most), k = draw_size(least, most);
    return (bench_shape){m, n, k};
}
