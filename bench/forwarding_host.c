/* The host of forwarding.c: routines that return at once. */
#define ROUTINE(name)                                                                                        \
    __attribute__((visibility("default"))) double name(const int *n, const double *x, const int *step_x,     \
                                                       const double *y, const int *step_y);                  \
    double name(const int *n, const double *x, const int *step_x, const double *y, const int *step_y)        \
    {                                                                                                        \
        return *x + *y + *n + *step_x + *step_y;                                                             \
    }

ROUTINE(ddot_)
ROUTINE(dasum_)
ROUTINE(dnrm2_)
ROUTINE(dsdot_)
