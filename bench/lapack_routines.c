#include "bench/lapack_routines.h"

#include "bench/lapack_geqrf.h"
#include "bench/lapack_gesv.h"
#include "bench/lapack_getrf.h"
#include "bench/lapack_getri.h"
#include "bench/lapack_orgqr.h"
#include "bench/lapack_potrf.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static double whole_matrices(const lapack_operands *operands)
{
    return ((double)operands->m + operands->right_sides) * operands->n;
}

const lapack_routine lapack_routines[] = {
    {.calls = {"potrf"},
     .stores_triangle = true,
     .flop = lapack_potrf_flop,
     .elements_moved = lapack_potrf_moved,
     .make = lapack_potrf_make,
     .call_fortran = lapack_potrf_fortran,
     .prepare = lapack_potrf_prepare,
     .enqueue = lapack_potrf_enqueue,
     .residual = lapack_potrf_residual},
    {.calls = {"getrf"},
     .may_be_tall = true,
     .flop = lapack_getrf_flop,
     .elements_moved = whole_matrices,
     .call_fortran = lapack_getrf_fortran,
     .prepare = lapack_getrf_prepare,
     .enqueue = lapack_getrf_enqueue,
     .collect = lapack_getrf_collect,
     .residual = lapack_getrf_residual},
    {.calls = {"gesv"},
     .has_right_sides = true,
     .flop = lapack_gesv_flop,
     .elements_moved = whole_matrices,
     .call_fortran = lapack_gesv_fortran,
     .prepare = lapack_getrf_prepare,
     .enqueue = lapack_gesv_enqueue,
     .collect = lapack_getrf_collect,
     .residual = lapack_gesv_residual},
    {.calls = {"getrf", "getri"},
     .flop = lapack_getri_flop,
     .elements_moved = whole_matrices,
     .count_work = lapack_getri_count_work,
     .call_fortran = lapack_getri_fortran,
     .prepare = lapack_getri_prepare,
     .enqueue = lapack_getri_enqueue,
     .residual = lapack_getri_residual},
    {.calls = {"geqrf"},
     .may_be_tall = true,
     .flop = lapack_geqrf_flop,
     .elements_moved = whole_matrices,
     .count_work = lapack_geqrf_count_work,
     .call_fortran = lapack_geqrf_fortran,
     .prepare = lapack_geqrf_prepare,
     .enqueue = lapack_geqrf_enqueue,
     .collect = lapack_geqrf_collect,
     .residual = lapack_geqrf_residual},
    {.calls = {"geqrf", "orgqr"},
     .may_be_tall = true,
     .flop = lapack_orgqr_flop,
     .elements_moved = whole_matrices,
     .count_work = lapack_orgqr_count_work,
     .call_fortran = lapack_orgqr_fortran,
     .prepare = lapack_orgqr_prepare,
     .enqueue = lapack_orgqr_enqueue,
     .residual = lapack_orgqr_residual},
    {.calls = {NULL}},
};

/* With what is orgqr of real numbers as ungqr of complex ones. */
static void append_call(const char *call, tb_element element, char name[LAPACK_NAME_BYTES])
{
    const size_t length = strlen(name);
    snprintf(name + length, LAPACK_NAME_BYTES - length, "%s", call);
    if (tb_is_complex(element) && strncmp(call, "or", 2) == 0)
        memcpy(name + length, "un", 2);
}

static void begin_name(tb_element element, char name[LAPACK_NAME_BYTES])
{
    name[0] = (char)tolower(tb_element_rows[element].letter);
    name[1] = 0;
}

const char *lapack_call_name(const lapack_routine *routine, int call, tb_element element,
                             char name[LAPACK_NAME_BYTES])
{
    begin_name(element, name);
    append_call(routine->calls[call], element, name);
    return name;
}

const char *lapack_name(const lapack_routine *routine, tb_element element, char name[LAPACK_NAME_BYTES])
{
    begin_name(element, name);
    for (int call = 0; call < LAPACK_CALLS_MOST && routine->calls[call]; call++) {
        if (call > 0)
            strcat(name, "+");
        append_call(routine->calls[call], element, name);
    }
    return name;
}
