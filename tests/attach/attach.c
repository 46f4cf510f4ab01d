/* Attaching to modules that preloading would not reach, and detaching from them. */
#include "tests/attach/attach.h"

/* Every word and every page is as it was. */
static void check_same(const picture *before, const module *module, const char *when)
{
    picture *now = take_picture(module);
    const int different = compare_pictures(before, now);
    CHECK(different == 0, "%s: %d words are not as they were", when, different);
    CHECK(strcmp(before->maps, now->maps) == 0, "%s: mapped\n%s instead of\n%s", when, now->maps,
          before->maps);
    free(now);
}

/* ---- One module ---------------------------------------------------------------------------------------------- */

static void there_and_back(void)
{
    const module module = open_first();
    check_calls(&tileblas, &module, false, "before attaching");
    picture *before = take_picture(&module);
    for (int round = 0; round < 3; round++) {
        check_number(tileblas.attach(), REFERENCES, "attach: bound");
        picture *attached = take_picture(&module);
        check_number(compare_pictures(before, attached), REFERENCES, "attached: changed");
        CHECK(strcmp(before->maps, attached->maps) == 0, "attached: mapped\n%s", attached->maps);
        free(attached);
        check_calls(&tileblas, &module, true, "attached");
        check_number(tileblas.attach(), REFERENCES, "attached again: bound");
        check_number(tileblas.detach(), REFERENCES, "detach: restored");
        check_same(before, &module, "detached");
        check_number(tileblas.detach(), 0, "detached again: restored");
        check_calls(&tileblas, &module, false, "detached");
    }
    free(before);
}

/* Jump slots that were never called through lead to the linker. */
static void never_called(void)
{
    const module module = open_first();
    picture *before = take_picture(&module);
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    check_number(tileblas.detach(), REFERENCES, "detach: restored");
    check_same(before, &module, "detached");
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    check_calls(&tileblas, &module, true, "attached");
    check_number(tileblas.detach(), REFERENCES, "detach: restored");
    check_calls(&tileblas, &module, false, "detached");
    free(before);
}

/* Pointers that the program has changed are its own, before attaching and after. */
static void changed_pointers(void)
{
    static int nothing;
    const module module = open_first();
    void *const original = *module.variable();
    *module.variable() = &nothing;
    check_number(tileblas.attach(), REFERENCES - 1, "attach: bound");
    CHECK(*module.variable() == &nothing, "a pointer of the program's was bound");
    CHECK(module.constant() != original, "a pointer in read-only data was not bound");
    *module.variable() = original;
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    CHECK(*module.variable() == module.constant(), "two references are bound to different functions");
    *module.variable() = &nothing;
    check_number(tileblas.detach(), REFERENCES - 1, "detach: restored");
    CHECK(*module.variable() == &nothing, "a pointer of the program's was restored");
    CHECK(module.constant() == original, "a pointer in read-only data was not restored");
}

/* A function of the same library under another name is not what the reference is named for. */
static void other_functions(void)
{
    const module module = open_first();
    void *blas = dlopen(modules[1], RTLD_LAZY | RTLD_NOLOAD);
    void *other = blas ? dlsym(blas, "fixture_square") : NULL;
    *module.variable() = other;
    check_number(tileblas.attach(), REFERENCES - 1, "attach: bound");
    CHECK(other && *module.variable() == other, "a function of another name was bound");
}

/* The library whose plain names have 64 bits takes none whose width it does not know. */
static void other_width(void)
{
    const module module = open_first();
    check_number(tileblas.attach(), 0, "attach to calls of another width: bound");
    check_calls(&tileblas, &module, false, "of another width");
}

/* ---- Several modules -------------------------------------------------------------------------------------------- */

static void loaded_later(void)
{
    check_number(tileblas.attach(), 0, "attach to nobody: bound");
    const module first = open_first();
    check_calls(&tileblas, &first, false, "loaded after attaching");
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    const module second = open_module(modules[2], modules[3], ON_ITS_OWN);
    check_calls(&tileblas, &second, false, "loaded after attaching");
    check_number(tileblas.attach(), 2 * REFERENCES, "attach: bound");
    check_calls(&tileblas, &first, true, "attached twice");
    check_calls(&tileblas, &second, true, "attached");
    check_number(tileblas.detach(), 2 * REFERENCES, "detach: restored");
    check_calls(&tileblas, &first, false, "detached");
    check_calls(&tileblas, &second, false, "detached");
}

/* Calls the library by an address that nobody has bound. */
static void call_library(void)
{
    static float a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
    void (*gemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                 int);
    *(void **)&gemm = dlsym(tileblas.handle, "cblas_sgemm");
    for (int i = 0; i < SIZE * SIZE; i++)
        a[i] = b[i] = 1;
    const int before = count_of_library(&tileblas);
    gemm(102, 111, 111, SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 0, c, SIZE);
    CHECK(count_of_library(&tileblas) == before + 1 && c[SIZE] == SIZE,
          "the library was not called, or wrongly");
}

/* The next call of an attached module finds what was loaded meanwhile, and detaching restores it; detached, nothing is found. */
static void followed(void)
{
    const module first = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    const module second = open_module(modules[2], modules[3], ON_ITS_OWN);
    check_calls(&tileblas, &second, false, "before the next call");
    let_time_pass();
    picture *before = take_picture(&second);
    check_call(&tileblas, &first, false, true, "the next call");
    check_calls(&tileblas, &second, true, "found by the next call");
    check_number(tileblas.detach(), 2 * REFERENCES, "detach: restored");
    check_same(before, &second, "detached");
    check_calls(&tileblas, &second, false, "detached");
    free(before);

    const module third = open_module(modules[4], modules[5], ON_ITS_OWN);
    let_time_pass();
    call_library();
    check_calls(&tileblas, &third, false, "loaded when detached");
}

/* Another object comes to lie in the list where one lay that refers to nothing. */
static void closed_before(void)
{
    void *bare = dlopen(modules[3], ON_ITS_OWN);
    check_number(tileblas.attach(), 0, "attach to nobody: bound");
    CHECK(bare && dlclose(bare) == 0 && !dlopen(modules[3], RTLD_LAZY | RTLD_NOLOAD),
          "a BLAS is kept loaded");
    const module module = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    check_calls(&tileblas, &module, true, "attached");
}

/* Modules that are closed take their references along, and others come to lie where they lay. One that has called keeps
 * loaded, as its host BLAS does. */
static void closed_meanwhile(void)
{
    char **of = modules;
    for (int round = 0; round < 6; round++) {
        of = round % 2 ? modules : modules + 2;
        const module module = open_module(of[0], of[1], ON_ITS_OWN);
        check_number(tileblas.attach(), REFERENCES, "attach: bound");
        if (round % 3 == 2)
            check_number(tileblas.detach(), REFERENCES, "detach: restored");
        dlclose(module.handle);
        CHECK(!dlopen(of[0], RTLD_LAZY | RTLD_NOLOAD), "round %d: attaching keeps a module loaded", round);
        check_number(tileblas.detach(), 0, "nobody is there: restored");
    }
    for (int round = 0; round < 2; round++, of = modules + 2) {
        const module module = open_module(of[0], of[1], ON_ITS_OWN);
        check_number(tileblas.attach(), (round + 1) * REFERENCES, "attach: bound");
        check_calls(&tileblas, &module, true, "attached");
    }
    check_number(tileblas.detach(), 2 * REFERENCES, "detach: restored");
}

/* Where a module lay that was bound and closed comes to lie one that the linker has bound to this library, as it does where the
 * program sees it: what led to the first one's BLAS does not come to lead there, which is gone. The third object has that BLAS's
 * name and nothing else. */
static void bound_by_the_linker(void)
{
    module module = open_first();
    void **const place = module.variable();
    void *const nothing = dlopen(modules[2], RTLD_NOW | RTLD_LOCAL);
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    dlclose(module.handle);
    CHECK(nothing && !dlopen(modules[1], RTLD_LAZY | RTLD_NOLOAD), "the BLAS is still there");
    CHECK(dlopen(library_path, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL), "it is not seen: %s", dlerror());
    void *const again = dlopen(modules[0], RTLD_NOW | RTLD_LOCAL);
    if (!CHECK(again, "%s", dlerror()))
        return;
    *(void **)&module.variable = dlsym(again, "caller_variable");
    *(void **)&module.errors = dlsym(again, "caller_errors");
    if (module.variable() != place)
        SKIP("the module lies elsewhere");
    for (int round = 0; round < 2; round++) {
        const int before = count_of_library(&tileblas);
        CHECK(module.errors(false, SIZE) == 0 && module.errors(true, SIZE) == 0, "wrong");
        CHECK(count_of_library(&tileblas) == before + 2, "what the linker has bound was bound to another");
        check_number(tileblas.detach(), 0, "detach: restored");
    }
}

/* A BLAS whose CBLAS calls its own Fortran by the name that we take over keeps these calls to itself. */
static void inside_blas(void)
{
    const module module = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    void *blas = dlopen(modules[1], RTLD_LAZY | RTLD_NOLOAD);
    void (*square)(void);
    *(void **)&square = blas ? dlsym(blas, "fixture_square") : NULL;
    const int before = count_of_library(&tileblas), fortran = module.blas->fortran_calls;
    square();
    CHECK(module.blas->fortran_calls - fortran == 1, "a BLAS's call of itself does not arrive");
    CHECK(count_of_library(&tileblas) == before, "a BLAS's call of itself was taken over");
    check_call(&tileblas, &module, false, true, "attached");
}

/* So does one that has CBLAS alone, and calls the Fortran of another. */
static void before_blas(void)
{
    const module module = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    check_call(&tileblas, &module, true, true, "attached");
    const int before = count_of_library(&tileblas), fortran = module.blas->fortran_calls;
    CHECK(module.errors(false, SIZE) == 0, "CBLAS in front of another BLAS is wrong");
    CHECK(count_of_library(&tileblas) == before + 1, "a call was taken over %d times",
          count_of_library(&tileblas) - before);
    CHECK(module.blas->fortran_calls == fortran + 1, "the BLAS behind was not called");
}

/* Attaches in front of a library that hands calls to a TileBLAS, which is none of the attached one's business: it is asked for
 * what it computes itself, or not at all. Every call is right, and arrives once. */
static void before_forwarder(void)
{
    const module module = open_first();
    check_number(tileblas.attach(), REFERENCES, "attach: bound");
    for (int form = 0; form < 4; form++) {
        const int before = count_of_library(&tileblas);
        const long errors = module.errors(form & 1, form < 2 ? SIZE : 2);
        CHECK(errors == 0, "call %d: %ld elements are wrong", form, errors);
        CHECK(count_of_library(&tileblas) == before + 1, "call %d was taken over %d times", form,
              count_of_library(&tileblas) - before);
    }
    check_number(tileblas.detach(), REFERENCES, "detach: restored");
}

/* The library that was loaded first does the work, whoever is asked: here the program preloaded one, or opened it before. */
static void several_libraries(void)
{
    char path[512];
    const library second = open_library(modules[2]);
    const module module = open_first();
    check_number(second.attach(), REFERENCES, "the second library attaches: bound");
    check_calls(&tileblas, &module, true, "attached by the second library");
    CHECK(count_of_library(&second) == 0, "the second library was called");
    second.runtime(path, sizeof path);
    CHECK(strcmp(path, modules[3]) == 0, "the runtime is %s instead of %s", path, modules[3]);
    check_number(tileblas.detach(), REFERENCES, "the first library detaches: restored");
    check_calls(&tileblas, &module, false, "detached");
}

int main(int argc, char **argv)
{
    static const scenario scenarios[] = {
        {"there_and_back", there_and_back},
        {"never_called", never_called},
        {"changed_pointers", changed_pointers},
        {"other_functions", other_functions},
        {"other_width", other_width},
        {"loaded_later", loaded_later},
        {"closed_before", closed_before},
        {"closed_meanwhile", closed_meanwhile},
        {"bound_by_the_linker", bound_by_the_linker},
        {"inside_blas", inside_blas},
        {"before_blas", before_blas},
        {"followed", followed},
        {"before_forwarder", before_forwarder},
        {"several_libraries", several_libraries},
    };
    return run_scenario(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
}
