#include "bench/lapack_sides.h"

#include "bench/driver.h"
#include "bench/expect.h"
#include "bench/timing.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static lapack_side library_side(const char *name, const char *key, const char *file)
{
    lapack_side side = {.name = name, .key = key, .library = dlopen(file, RTLD_NOW | RTLD_LOCAL)};
    if (!side.library)
        side.missing = dlerror();
    return side;
}

static lapack_side cusolver_side(const char *name, const char *key, const char *missing)
{
    return (lapack_side){.name = name, .key = key, .missing = missing};
}

static const char *open_cusolver(lapack_sides *sides, const char *no_device)
{
    const char *missing = no_device ? no_device : bench_open_cusolver();
    if (!missing)
        sides->cusolver = bench_cusolver_version();
    return missing;
}

static void tell_missing(const lapack_sides *sides)
{
    int there = 0;
    for (int side = 0; side < sides->count; side++)
        if (sides->list[side].missing)
            printf("without %s: %s\n", sides->list[side].name, sides->list[side].missing);
        else
            there++;
    bench_expect(there > 0, "there is no side to measure");
}

lapack_sides lapack_open_sides(const lapack_options *options)
{
    lapack_sides sides = {.on_host = options->on_host, .link = (double)NAN};
    const char *no_device = bench_open_driver();
    sides.has_device = !no_device;
    setenv("TILEBLAS_START", "wait", 0); /* the first call brings the device up */
    const char *no_cusolver = open_cusolver(&sides, no_device);
    sides.list[LAPACK_OURS] = library_side("TileBLAS", "tileblas", TB_LIBRARY);
    if (options->on_host) {
        sides.list[LAPACK_REFERENCE] = library_side("OpenBLAS", "openblas", "libopenblas.so.0");
        sides.list[LAPACK_COPIES] = cusolver_side("copies", "copies", no_cusolver);
        sides.count = LAPACK_SIDES_MOST;
        if (no_device)
            printf("without a device TileBLAS leaves all to the host: %s\n", no_device);
        else
            sides.link = bench_measure_link();
    } else {
        sides.list[LAPACK_REFERENCE] = cusolver_side("cuSOLVER", "cusolver", no_cusolver);
        sides.count = LAPACK_COPIES;
        if (no_device)
            sides.list[LAPACK_OURS].missing = no_device;
    }
    tell_missing(&sides);
    return sides;
}

/* What the library does not take over it forwards, to a host that cannot read the device's memory. */
static bool is_taken_over(const char *name)
{
    for (tb_routine routine = 0; routine < TB_ROUTINES; routine++)
        if (strcmp(tb_routine_rows[routine].name, name) == 0)
            return true;
    return false;
}

void lapack_find_routine(lapack_sides *sides, const lapack_routine *routine, tb_element element)
{
    for (int i = 0; i < sides->count; i++) {
        lapack_side *side = &sides->list[i];
        side->is_complete = side->library != NULL;
        for (int call = 0; side->is_complete && call < LAPACK_CALLS_MOST && routine->calls[call]; call++) {
            char name[LAPACK_NAME_BYTES], symbol[LAPACK_NAME_BYTES + 1];
            lapack_call_name(routine, call, element, name);
            snprintf(symbol, sizeof symbol, "%s_", name);
            bench_function *const found = (bench_function *)dlsym(side->library, symbol);
            side->fortran.functions[call] = found;
            side->is_complete = found && (i != LAPACK_OURS || is_taken_over(name));
        }
    }
}

/* Of the size that the side's functions ask for. */
static void take_work(lapack_fortran *fortran, const lapack_operands *operands)
{
    const lapack_routine *routine = operands->routine;
    free(fortran->work);
    fortran->work = NULL;
    fortran->work_count = 0;
    if (!routine->count_work)
        return;
    fortran->work_count = routine->count_work(fortran, operands);
    bench_expect(fortran->work_count > 0, "a routine asks for no workspace");
    fortran->work = lapack_allocate((size_t)fortran->work_count * tb_bytes_of(operands->element));
}

static bool prepare(lapack_side *side, const lapack_operands *operands)
{
    if (!side->library)
        return operands->routine->prepare(operands);
    if (side->is_complete)
        take_work(&side->fortran, operands);
    return side->is_complete;
}

int lapack_choose_sides(lapack_sides *sides, const lapack_operands *operands, int chosen[LAPACK_SIDES_MOST])
{
    int count = 0;
    for (int i = 0; i < sides->count; i++)
        if (!sides->list[i].missing && prepare(&sides->list[i], operands))
            chosen[count++] = i;
    return count;
}

/* What cuSOLVER leaves beside the matrices. */
static void collect(const lapack_operands *operands)
{
    if (operands->routine->collect)
        operands->routine->collect(operands);
}

static bool run_copies(const lapack_operands *operands)
{
    lapack_send(operands);
    if (!operands->routine->enqueue(operands))
        return false;
    lapack_bring_back(operands);
    collect(operands);
    return true;
}

double lapack_time_call(const lapack_sides *sides, int side, const lapack_operands *operands)
{
    const lapack_side *called = &sides->list[side];
    bool computed;
    const double start = tb_seconds();
    if (called->library)
        computed = operands->routine->call_fortran(&called->fortran, operands) == 0;
    else if (sides->on_host)
        computed = run_copies(operands);
    else
        computed = operands->routine->enqueue(operands);
    if (!sides->on_host)
        bench_await_device();
    const double seconds = tb_seconds() - start;
    if (!called->library) {
        computed = computed && bench_cusolver_info() == 0;
        collect(operands);
    }
    return computed ? seconds : (double)NAN;
}
