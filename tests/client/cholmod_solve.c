/* A sparse system of equations, solved by CHOLMOD with a supernodal factorization: it gathers columns of the
 * factor into dense blocks, whose updates are products (dgemm_, and dsyrk_ on the diagonal). Held against the
 * residual, by loops.
 *
 * The matrix is that of a resistor network on a cube: a random conductance from each knot to its neighbours
 * and to ground.
 */
#include <cholmod.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 17, N = SIDE * SIDE * SIDE };

static double random_between(double low, double high)
{
    return low + (high - low) * rand() / RAND_MAX;
}

static void connect(cholmod_triplet *network, int row, int column, double value)
{
    ((int *)network->i)[network->nnz] = row;
    ((int *)network->j)[network->nnz] = column;
    ((double *)network->x)[network->nnz++] = value;
}

/* The lower triangle; entries of one place are added up. */
static cholmod_sparse *make_matrix(cholmod_common *common)
{
    static const int steps[3] = {1, SIDE, SIDE * SIDE};
    cholmod_triplet *network = cholmod_allocate_triplet(N, N, N * 10, -1, CHOLMOD_REAL, common);
    for (int knot = 0; knot < N; knot++) {
        connect(network, knot, knot, random_between(0.01, 0.1));
        for (int direction = 0; direction < 3; direction++) {
            int neighbour = knot + steps[direction];
            if (knot / steps[direction] % SIDE == SIDE - 1)
                continue;
            double conductance = random_between(0.5, 2);
            connect(network, neighbour, knot, -conductance);
            connect(network, knot, knot, conductance);
            connect(network, neighbour, neighbour, conductance);
        }
    }
    cholmod_sparse *matrix = cholmod_triplet_to_sparse(network, 0, common);
    cholmod_free_triplet(&network, common);
    return matrix;
}

/* b - A x, and |A||x| + |b|, by rows. */
static void compute_residual(const cholmod_sparse *matrix, const double *x, const double *b, double *residual,
                             double *size)
{
    const int *starts = matrix->p, *rows = matrix->i;
    const double *values = matrix->x;
    for (int i = 0; i < N; i++) {
        residual[i] = b[i];
        size[i] = fabs(b[i]);
    }
    for (int column = 0; column < N; column++)
        for (int entry = starts[column]; entry < starts[column + 1]; entry++) {
            int row = rows[entry];
            residual[row] -= values[entry] * x[column];
            size[row] += fabs(values[entry] * x[column]);
            if (row != column) {
                residual[column] -= values[entry] * x[row];
                size[column] += fabs(values[entry] * x[row]);
            }
        }
}

int main(void)
{
    static double residual[N], size[N];
    int wrong = 0;
    cholmod_common common;
    cholmod_start(&common);
    common.supernodal = CHOLMOD_SUPERNODAL;
    srand(5);
    cholmod_sparse *matrix = make_matrix(&common);
    cholmod_dense *b = cholmod_allocate_dense(N, 1, N, CHOLMOD_REAL, &common);
    for (int i = 0; i < N; i++)
        ((double *)b->x)[i] = random_between(-1, 1);

    cholmod_factor *factor = cholmod_analyze(matrix, &common);
    cholmod_factorize(matrix, factor, &common);
    if (common.status != CHOLMOD_OK || !factor->is_super || factor->minor != N) {
        printf("there is no supernodal factor\n");
        return 1;
    }
    cholmod_dense *x = cholmod_solve(CHOLMOD_A, factor, b, &common);
    compute_residual(matrix, x->x, b->x, residual, size);

    /* The bound is that of sums of N terms at most, in the factorization and two triangular solutions (Higham, Accuracy and
     * Stability of Numerical Algorithms, 10.1). */
    const double bound = (3 * N + 1) * DBL_EPSILON / 2;
    double worst = 0;
    for (int i = 0; i < N; i++) {
        wrong += !(fabs(residual[i]) <= bound * size[i]);
        worst = fmax(worst, fabs(residual[i]) / size[i]);
    }
    printf("%d of %d equations are not solved; the worst residual is %.1e, and %.1e is explained\n", wrong, N,
           worst, bound);
    cholmod_free_factor(&factor, &common);
    cholmod_free_sparse(&matrix, &common);
    cholmod_free_dense(&b, &common);
    cholmod_free_dense(&x, &common);
    cholmod_finish(&common);
    return wrong != 0;
}
