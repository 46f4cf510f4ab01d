#include "bench/cusolver.h"

#include "bench/driver.h"
#include "bench/expect.h"

#include <dlfcn.h>
#include <string.h>

typedef struct cusolverDnContext *handle;
typedef struct cusolverDnParams *parameters;

/* Their results, triangles and types are enumerations of CUDA's headers: 0 is success; 0 is the lower triangle, 1 the upper. */
#define CUSOLVER_FUNCTIONS(X)                                                                                \
    X(cusolverGetVersion, (int *version))                                                                    \
    X(cusolverDnCreate, (handle * created))                                                                  \
    X(cusolverDnCreateParams, (parameters * created))                                                        \
    X(cusolverDnXpotrf_bufferSize,                                                                           \
      (handle with, parameters by, int triangle, int64_t n, int type, const void *a, int64_t lda,            \
       int computed_in, size_t *device_bytes, size_t *host_bytes))                                           \
    X(cusolverDnXpotrf,                                                                                      \
      (handle with, parameters by, int triangle, int64_t n, int type, void *a, int64_t lda, int computed_in, \
       void *on_device, size_t device_bytes, void *on_host, size_t host_bytes, int *info))                   \
    X(cusolverDnXgetrf_bufferSize,                                                                           \
      (handle with, parameters by, int64_t m, int64_t n, int type, const void *a, int64_t lda,               \
       int computed_in, size_t *device_bytes, size_t *host_bytes))                                           \
    X(cusolverDnXgetrf,                                                                                      \
      (handle with, parameters by, int64_t m, int64_t n, int type, void *a, int64_t lda, int64_t *pivots,    \
       int computed_in, void *on_device, size_t device_bytes, void *on_host, size_t host_bytes, int *info))  \
    X(cusolverDnXgetrs,                                                                                      \
      (handle with, parameters by, int operation, int64_t n, int64_t right_sides, int type_of_a,             \
       const void *a, int64_t lda, const int64_t *pivots, int type_of_b, void *b, int64_t ldb, int *info))   \
    X(cusolverDnXgeqrf_bufferSize,                                                                           \
      (handle with, parameters by, int64_t m, int64_t n, int type, const void *a, int64_t lda,               \
       int type_of_tau, const void *tau, int computed_in, size_t *device_bytes, size_t *host_bytes))         \
    X(cusolverDnXgeqrf, (handle with, parameters by, int64_t m, int64_t n, int type, void *a, int64_t lda,   \
                         int type_of_tau, void *tau, int computed_in, void *on_device, size_t device_bytes,  \
                         void *on_host, size_t host_bytes, int *info))

#define DECLARE(name, parameters) static int(*name) parameters;
CUSOLVER_FUNCTIONS(DECLARE)
#undef DECLARE

/* Not of the 64-bit interface: it has a function for each element. */
typedef int orgqr_size(handle with, int m, int n, int k, const void *a, int lda, const void *tau,
                       int *elements);
typedef int orgqr(handle with, int m, int n, int k, void *a, int lda, const void *tau, void *on_device,
                  int elements, int *info);
static struct forming {
    const char *name, *size_name;
    orgqr *form;
    orgqr_size *size;
} formings[TB_ELEMENTS] = {
    [TB_FP32] = {"cusolverDnSorgqr", "cusolverDnSorgqr_bufferSize"},
    [TB_FP64] = {"cusolverDnDorgqr", "cusolverDnDorgqr_bufferSize"},
    [TB_COMPLEX_FP32] = {"cusolverDnCungqr", "cusolverDnCungqr_bufferSize"},
    [TB_COMPLEX_FP64] = {"cusolverDnZungqr", "cusolverDnZungqr_bufferSize"},
};

/* cudaDataType. */
static const int types[TB_ELEMENTS] = {
    [TB_FP32] = 0, [TB_FP64] = 1, [TB_COMPLEX_FP32] = 4, [TB_COMPLEX_FP64] = 5};

static handle cusolver;
static parameters advanced;

/* Info of a call and of one that follows it. */
enum { FIRST, SECOND, INFOS };

/* Of what was prepared last. */
static struct workspace {
    void *on_device, *on_host;
    size_t device_bytes, host_bytes;
    int *infos; /* on the device, as is all below */
    int64_t *pivots;
    void *tau;
    void *identity, *inverse; /* NULL but where matrices are inverted */
    int form_elements;        /* of on_device, that orgqr asks for */
} workspace;

static void *find_library(void)
{
    static const char *const names[] = {"libcusolver.so.12", "/usr/local/cuda/lib64/libcusolver.so.12",
                                        "libcusolver.so.11", "/usr/local/cuda/lib64/libcusolver.so.11"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static bool find_functions(void *library)
{
    bool complete = true;
#define FIND(name, parameters)                                                                               \
    name = (__typeof__(name))dlsym(library, #name);                                                          \
    complete = complete && name;
    CUSOLVER_FUNCTIONS(FIND)
#undef FIND
    for (tb_element element = 0; element < TB_ELEMENTS; element++) {
        struct forming *forming = &formings[element];
        forming->form = (orgqr *)dlsym(library, forming->name);
        forming->size = (orgqr_size *)dlsym(library, forming->size_name);
        complete = complete && forming->form && forming->size;
    }
    return complete;
}

const char *bench_open_cusolver(void)
{
    void *library = find_library();
    if (!library)
        return "neither libcusolver.so.12 nor libcusolver.so.11 is found (LD_LIBRARY_PATH?)";
    if (!find_functions(library))
        return "libcusolver lacks functions";
    if (cusolverDnCreate(&cusolver) != 0 || cusolverDnCreateParams(&advanced) != 0)
        return "cuSOLVER does not start";
    workspace.infos = bench_allocate_on_device(INFOS * sizeof *workspace.infos);
    return NULL;
}

int bench_cusolver_version(void)
{
    int version = 0;
    bench_expect(cusolverGetVersion(&version) == 0, "cuSOLVER does not tell its version");
    return version;
}

/* In another one's place. No bytes: NULL. */
static void reallocate_on_device(void **memory, size_t bytes)
{
    bench_free_on_device(*memory);
    *memory = bytes > 0 ? bench_allocate_on_device(bytes) : NULL;
}

/* Of so many bytes on either side. */
static void take_workspace(size_t device_bytes, size_t host_bytes)
{
    const int zeros[INFOS] = {0};
    bench_copy(workspace.infos, zeros, sizeof zeros);
    reallocate_on_device(&workspace.on_device, device_bytes);
    reallocate_on_device(&workspace.identity, 0);
    reallocate_on_device(&workspace.inverse, 0);
    free(workspace.on_host);
    workspace.device_bytes = device_bytes;
    workspace.host_bytes = host_bytes;
    workspace.on_host = host_bytes > 0 ? malloc(host_bytes) : NULL;
    bench_expect(workspace.on_host || host_bytes == 0, "no memory is left");
}

bool bench_prepare_potrf(const bench_stored_triangle *matrix)
{
    const int type = types[matrix->element];
    size_t device_bytes = 0, host_bytes = 0;
    if (cusolverDnXpotrf_bufferSize(cusolver, advanced, matrix->upper, matrix->n, type, matrix->a, matrix->n,
                                    type, &device_bytes, &host_bytes) != 0)
        return false;
    take_workspace(device_bytes, host_bytes);
    return true;
}

bool bench_enqueue_potrf(const bench_stored_triangle *matrix)
{
    const int type = types[matrix->element];
    return cusolverDnXpotrf(cusolver, advanced, matrix->upper, matrix->n, type, matrix->a, matrix->n, type,
                            workspace.on_device, workspace.device_bytes, workspace.on_host,
                            workspace.host_bytes, &workspace.infos[FIRST]) == 0;
}

bool bench_prepare_getrf(const bench_device_matrix *a)
{
    const int type = types[a->element];
    size_t device_bytes = 0, host_bytes = 0;
    if (cusolverDnXgetrf_bufferSize(cusolver, advanced, a->m, a->n, type, a->data, a->m, type, &device_bytes,
                                    &host_bytes) != 0)
        return false;
    take_workspace(device_bytes, host_bytes);
    bench_free_on_device(workspace.pivots);
    workspace.pivots = bench_allocate_on_device((size_t)a->n * sizeof *workspace.pivots);
    return true;
}

bool bench_enqueue_getrf(const bench_device_matrix *a)
{
    const int type = types[a->element];
    return cusolverDnXgetrf(cusolver, advanced, a->m, a->n, type, a->data, a->m, workspace.pivots, type,
                            workspace.on_device, workspace.device_bytes, workspace.on_host,
                            workspace.host_bytes, &workspace.infos[FIRST]) == 0;
}

bool bench_enqueue_getrs(const bench_device_matrix *a, const bench_device_matrix *b)
{
    const int type = types[a->element], no_transpose = 0;
    return cusolverDnXgetrs(cusolver, advanced, no_transpose, a->n, b->n, type, a->data, a->m,
                            workspace.pivots, type, b->data, b->m, &workspace.infos[SECOND]) == 0;
}

void bench_fetch_pivots(int pivots[], int count)
{
    const size_t bytes = (size_t)count * sizeof *workspace.pivots;
    int64_t *fetched = malloc(bytes);
    bench_expect(fetched != NULL, "no memory is left");
    bench_copy(fetched, workspace.pivots, bytes);
    for (int i = 0; i < count; i++)
        pivots[i] = (int)fetched[i];
    free(fetched);
}

static size_t bytes_of(const bench_device_matrix *a)
{
    return (size_t)a->m * (size_t)a->n * tb_bytes_of(a->element);
}

static void write_identity(const bench_device_matrix *identity)
{
    const size_t n = (size_t)identity->n, element = tb_bytes_of(identity->element);
    const float one_float = 1;
    const double one_double = 1;
    const bool single = tb_real_of(identity->element) == TB_FP32;
    char *written = calloc(n * n, element);
    bench_expect(written != NULL, "no memory is left");
    for (size_t i = 0; i < n; i++)
        memcpy(written + i * (n + 1) * element, single ? (const void *)&one_float : &one_double,
               single ? sizeof one_float : sizeof one_double);
    bench_copy(identity->data, written, n * n * element);
    free(written);
}

bool bench_prepare_inverse(const bench_device_matrix *a)
{
    if (!bench_prepare_getrf(a))
        return false;
    workspace.inverse = bench_allocate_on_device(bytes_of(a));
    workspace.identity = bench_allocate_on_device(bytes_of(a));
    write_identity(&(bench_device_matrix){a->element, a->n, a->n, workspace.identity});
    return true;
}

bool bench_enqueue_inverse(const bench_device_matrix *a)
{
    const bench_device_matrix inverse = {a->element, a->n, a->n, workspace.inverse};
    if (!bench_enqueue_getrf(a))
        return false;
    bench_copy(inverse.data, workspace.identity, bytes_of(a));
    if (!bench_enqueue_getrs(a, &inverse))
        return false;
    bench_copy(a->data, inverse.data, bytes_of(a));
    return true;
}

bool bench_prepare_geqrf(const bench_device_matrix *a)
{
    const int type = types[a->element];
    size_t device_bytes = 0, host_bytes = 0;
    reallocate_on_device(&workspace.tau, (size_t)a->n * tb_bytes_of(a->element));
    if (cusolverDnXgeqrf_bufferSize(cusolver, advanced, a->m, a->n, type, a->data, a->m, type, workspace.tau,
                                    type, &device_bytes, &host_bytes) != 0)
        return false;
    take_workspace(device_bytes, host_bytes);
    return true;
}

bool bench_enqueue_geqrf(const bench_device_matrix *a)
{
    const int type = types[a->element];
    return cusolverDnXgeqrf(cusolver, advanced, a->m, a->n, type, a->data, a->m, type, workspace.tau, type,
                            workspace.on_device, workspace.device_bytes, workspace.on_host,
                            workspace.host_bytes, &workspace.infos[FIRST]) == 0;
}

void bench_fetch_tau(tb_element element, void *tau, int count)
{
    bench_copy(tau, workspace.tau, (size_t)count * tb_bytes_of(element));
}

bool bench_prepare_orgqr(const bench_device_matrix *a)
{
    const int m = (int)a->m, n = (int)a->n;
    if (!bench_prepare_geqrf(a) || formings[a->element].size(cusolver, m, n, n, a->data, m, workspace.tau,
                                                             &workspace.form_elements) != 0)
        return false;
    const size_t bytes = (size_t)workspace.form_elements * tb_bytes_of(a->element);
    if (bytes > workspace.device_bytes)
        take_workspace(bytes, workspace.host_bytes);
    return true;
}

bool bench_enqueue_orgqr(const bench_device_matrix *a)
{
    const int m = (int)a->m, n = (int)a->n;
    return formings[a->element].form(cusolver, m, n, n, a->data, m, workspace.tau, workspace.on_device,
                                     workspace.form_elements, &workspace.infos[SECOND]) == 0;
}

int bench_cusolver_info(void)
{
    int infos[INFOS];
    bench_copy(infos, workspace.infos, sizeof infos);
    return infos[FIRST] != 0 ? infos[FIRST] : infos[SECOND];
}
