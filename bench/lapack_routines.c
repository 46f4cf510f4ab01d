#include "bench/lapack_routines.h"

#include "bench/lapack_potrf.h"

#include <ctype.h>
#include <stdio.h>

const lapack_routine lapack_routines[] = {
    {"potrf", lapack_potrf_flop, lapack_potrf_moved, lapack_potrf_make, lapack_potrf_fortran,
     lapack_potrf_prepare, lapack_potrf_enqueue, lapack_potrf_residual},
    {0},
};

const char *lapack_name(const lapack_routine *routine, tb_element element, char name[8])
{
    snprintf(name, 8, "%c%s", tolower(tb_element_rows[element].letter), routine->name);
    return name;
}
