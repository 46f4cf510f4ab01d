/* Shapes of products, in groups that are measured together: C is m x n, summed over k. */
#ifndef BENCH_SHAPES_H
#define BENCH_SHAPES_H

#include <stdint.h>

typedef struct bench_shape {
    int64_t m, n, k;
} bench_shape;

typedef struct bench_group {
    const char *name;
    int count;
    bench_shape shapes[16];
} bench_group;

/* Ends with a row without a name. */
extern const bench_group bench_groups[];

/* Draws by rand(), each side between least and most. */
bench_shape bench_draw_shape(double least, double most);

#endif
