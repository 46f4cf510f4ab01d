#include "bench/lapack_sides.h"

#include "bench/cusolver.h"
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
    char name[8], symbol[16];
    lapack_name(routine, element, name);
    snprintf(symbol, sizeof symbol, "%s_", name);
    for (int i = 0; i < sides->count; i++) {
        lapack_side *side = &sides->list[i];
        const bool is_asked = side->library && (i != LAPACK_OURS || is_taken_over(name));
        side->function = is_asked ? (bench_function *)dlsym(side->library, symbol) : NULL;
    }
}

int lapack_choose_sides(const lapack_sides *sides, const lapack_operands *operands,
                        int chosen[LAPACK_SIDES_MOST])
{
    int count = 0;
    for (int i = 0; i < sides->count; i++) {
        const lapack_side *side = &sides->list[i];
        if (!side->missing && (side->library ? side->function != NULL : operands->routine->prepare(operands)))
            chosen[count++] = i;
    }
    return count;
}

static bool run_cusolver(const lapack_sides *sides, const lapack_operands *operands)
{
    if (sides->on_host)
        bench_copy(operands->on_device, operands->a, operands->bytes);
    if (!operands->routine->enqueue(operands))
        return false;
    if (sides->on_host)
        bench_copy(operands->a, operands->on_device, operands->bytes);
    return true;
}

double lapack_time_call(const lapack_sides *sides, int side, const lapack_operands *operands)
{
    const lapack_side *called = &sides->list[side];
    bool computed;
    const double start = tb_seconds();
    if (called->library)
        computed = operands->routine->call_fortran(called->function, operands) == 0;
    else
        computed = run_cusolver(sides, operands);
    if (!sides->on_host)
        bench_await_device();
    const double seconds = tb_seconds() - start;
    if (!called->library)
        computed = computed && bench_cusolver_info() == 0;
    return computed ? seconds : (double)NAN;
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    bench_expect(memory != NULL, "no memory is left");
    return memory;
}

lapack_operands lapack_make_operands(const lapack_sides *sides, const lapack_options *options,
                                     const lapack_routine *routine, tb_element element, int n)
{
    const size_t count = (size_t)n * (size_t)n;
    lapack_operands operands = {.routine = routine,
                                .element = element,
                                .upper = options->upper,
                                .n = n,
                                .bytes = count * tb_bytes_of(element)};
    operands.made = allocate(operands.bytes);
    bench_fill_random(element, operands.made, count);
    routine->make(&operands, operands.made);
    if (sides->has_device)
        operands.on_device = bench_allocate_on_device(operands.bytes);
    operands.a = sides->on_host ? allocate(operands.bytes) : operands.on_device;
    if (!sides->on_host) {
        operands.made_on_device = bench_allocate_on_device(operands.bytes);
        bench_copy(operands.made_on_device, operands.made, operands.bytes);
    }
    return operands;
}

static bool is_on_host(const lapack_operands *operands)
{
    return operands->a != operands->on_device;
}

void lapack_free_operands(const lapack_operands *operands)
{
    if (is_on_host(operands))
        free(operands->a);
    bench_free_on_device(operands->on_device);
    bench_free_on_device(operands->made_on_device);
    free(operands->made);
}

void lapack_refill(const lapack_operands *operands)
{
    if (is_on_host(operands)) {
        memcpy(operands->a, operands->made, operands->bytes);
        return;
    }
    bench_copy(operands->a, operands->made_on_device, operands->bytes);
    bench_await_device(); /* copies within the device may go on */
}

double lapack_residual(const lapack_operands *operands)
{
    if (is_on_host(operands))
        return operands->routine->residual(operands, operands->a);
    void *result = allocate(operands->bytes);
    bench_copy(result, operands->a, operands->bytes);
    const double residual = operands->routine->residual(operands, result);
    free(result);
    return residual;
}
