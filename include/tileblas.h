/* TileBLAS: matrix products and solutions with triangular matrices, all of level 3, on NVIDIA GPUs behind the BLAS names that
 * programs already call.
 *
 * Nothing in this header is needed to use the library: preload it, link it, call cblas_sgemm, dgemm_ and so on.
 * The functions below are for programs that want to look or to steer. All may be called from any thread.
 *
 * Pointers given to these may be host memory, device memory (cudaMalloc), managed memory,
 * or a mixture. The call returns when C is ready.
 */
#ifndef TILEBLAS_H
#define TILEBLAS_H

#include <stddef.h>

#if defined(__GNUC__)
#define TILEBLAS_API __attribute__((visibility("default")))
#else
#define TILEBLAS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TILEBLAS_VERSION_MAJOR 0
#define TILEBLAS_VERSION_MINOR 1
#define TILEBLAS_VERSION_PATCH 0

/* "0.1.0" */
TILEBLAS_API const char *tileblas_version(void);

/* ---- Where calls went ------------------------------------------------------------------------------- */

/* One route's share of the calls since the start of the process, a fork, or the last reset. */
typedef struct tileblas_route_statistics {
    unsigned long long calls;
    double flop;        /* 2mnk of a real GEMM, 8mnk of a complex one, about half of that of a triangle */
    double seconds;     /* wall time of the calls */
    double link_bytes;  /* copied between host and device memory */
    double won_seconds; /* the forecast for the host less the seconds taken, over device calls that had one */
} tileblas_route_statistics;

/* A shape is a class of products, told apart by mnk: small up to 80^3, medium up to 1024^3, large up to 8192^3,
 * huge; skinny is what is not small and has m, n or k under 128. */
#define TILEBLAS_SHAPE_COUNT 5

typedef struct tileblas_shape_statistics {
    const char *shape; /* "small", "skinny", "medium", "large", "huge" */
    tileblas_route_statistics host, resident, streamed;
} tileblas_shape_statistics;

#define TILEBLAS_REASON_MAXIMUM 16

typedef struct tileblas_reason_count {
    const char *reason; /* "too small to gain" and the like; NULL behind the last */
    unsigned long long calls;
} tileblas_reason_count;

/* Routines that are taken over, each with its share of all of the above. */
#define TILEBLAS_ROUTINE_MAXIMUM 128

typedef struct tileblas_routine_statistics {
    const char *routine; /* "sgemm", "dgemm"; NULL behind the last */
    tileblas_route_statistics host, resident, streamed;
} tileblas_routine_statistics;

typedef struct tileblas_statistics {
    tileblas_route_statistics host;     /* handed to the program's own BLAS */
    tileblas_route_statistics resident; /* operands already on the device */
    tileblas_route_statistics streamed; /* operands copied to the device and back */
    tileblas_shape_statistics shapes[TILEBLAS_SHAPE_COUNT];
    tileblas_reason_count host_reasons[TILEBLAS_REASON_MAXIMUM]; /* why calls went to the host */
    tileblas_routine_statistics routines[TILEBLAS_ROUTINE_MAXIMUM];
    tileblas_route_statistics
        served; /* of the streamed calls, those that the devices of `tileblas serve` computed */
} tileblas_statistics;

/* size is sizeof(tileblas_statistics) as the caller was compiled; later versions have more members. Those
 * that an older library does not know become zero or NULL. Returns the size of the library's own. The texts
 * are the library's. Calls too small to gain are counted only while the option STATS is not 0: they take a
 * shorter way. Calls whose arguments are irregular, or that leave C as it is, are not counted. */
TILEBLAS_API size_t tileblas_read_statistics(tileblas_statistics *statistics, size_t size);
TILEBLAS_API void tileblas_reset_statistics(void);

/* Why the calling thread's last call ran where it did: "streamed with tiled: faster on the device". Writes
 * at most size bytes, always terminated; returns the full length without the terminator, 0 before any call.
 * Calls too small to gain leave no plan, unless VERBOSE or STATS is set: what comes is an older call's. Where the host
 * computed for want of a device, the text ends with what tileblas_device says by now.
 */
TILEBLAS_API size_t tileblas_last_plan(char *text, size_t size);

/* Whether calls of this process can run on a device, and why not: "up: NVIDIA H200", "not started yet: ...",
 * "none: no NVIDIA driver (libcuda.so.1) is installed ...". Starts nothing. Written as tileblas_last_plan does. */
TILEBLAS_API size_t tileblas_device(char *text, size_t size);

/* Appends to the file what the option STATS=json says of a process that ends, as it is now: a line of JSON. The
 * command `tileblas show` makes a page of such a file, in which a process counts with its last line. NULL: nothing
 * is written. From the first call on it is kept when calls run; earlier ones are in the page's tables alone. Returns
 * 0, or -1 when the file cannot be written. */
TILEBLAS_API int tileblas_report(const char *path);

/* ---- Steering --------------------------------------------------------------------------------------- */

/* Sets an option, by its environment name without TILEBLAS_ ("ROUTE", "streamed"). Returns 0, or -1 with
 * nothing changed when there is no such option or the value is not accepted. */
TILEBLAS_API int tileblas_set_option(const char *name, const char *value);

/* A line for each option, of three texts with tabs between them: its name, its value, and what it accepts. Written as
 * tileblas_last_plan does. */
TILEBLAS_API size_t tileblas_options(char *text, size_t size);

/* What the calling thread's later calls demand, whatever the option PRECISION says: "fp32", never less
 * accurate than fused multiply-adds of their own element; "ieee", those and nothing else; "fast", less in
 * FP32. NULL: the option again. Returns 0, or -1 with nothing changed when there is no such precision. */
TILEBLAS_API int tileblas_set_precision(const char *name);

/* The CUDA stream (a cudaStream_t or CUstream) on which the calling thread's later calls with operands in
 * device memory run, behind the work already in it. NULL, the default, is the legacy default stream. The
 * stream stays the caller's, and must be replaced here before it is destroyed. */
TILEBLAS_API void tileblas_set_stream(void *stream);

/* ---- Attaching -------------------------------------------------------------------------------------- */

/* Binds the calls of routines that this library takes over, of all objects that are loaded, to this library:
 * what preloading does at the start of a program, for one that is running, and also for objects that were opened
 * RTLD_LOCAL or RTLD_DEEPBIND. What an object called before is its host BLAS from then on. Objects that are
 * loaded later are bound, too: by another call of this, or by the next product that arrives here, is not small, and
 * begins some milliseconds after the last look. Left alone are BLAS libraries themselves, pointers that were
 * copied elsewhere, and BLAS that is linked statically.
 *
 * Other threads may be calling meanwhile. Returns how many references are bound, those of earlier calls
 * among them, or -1 with no further one bound when the process cannot be looked at: out of memory, or in a
 * child that was forked while another thread was in the dynamic linker. The library stays loaded from the first call on.
 */
TILEBLAS_API int tileblas_attach(void);

/* How many objects hold the references that the last tileblas_attach of this process counted. */
TILEBLAS_API int tileblas_attached_objects(void);

/* Binds them back, each to what it led to before, and returns how many, or -1 as above. A reference that
 * somebody has changed since is left as it is; calls that are under way end here. */
TILEBLAS_API int tileblas_detach(void);

/* Where a process has several TileBLAS libraries, the one that was loaded first attaches, whichever is called;
 * statistics and options are its own, too. Writes the path of its file, at most size bytes, always terminated;
 * returns the full length without the terminator. */
TILEBLAS_API size_t tileblas_runtime(char *path, size_t size);

#ifdef __cplusplus
}
#endif

#endif
