/* TileBLAS: SGEMM on NVIDIA GPUs behind the BLAS names that programs already call.
 *
 * Nothing in this header is needed to use the library: preload it, link it, call cblas_sgemm or sgemm_.
 * The functions below are for programs that want to look or to steer. All may be called from any thread.
 *
 * Pointers given to cblas_sgemm and sgemm_ may be host memory, device memory (cudaMalloc), managed memory,
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

/* One route's share of the calls since the start or the last reset. */
typedef struct tileblas_route_statistics {
    unsigned long long calls;
    double flop;    /* 2mnk, summed */
    double seconds; /* wall time inside the library; host calls are counted but not timed */
} tileblas_route_statistics;

typedef struct tileblas_statistics {
    tileblas_route_statistics host;     /* handed to the program's own BLAS */
    tileblas_route_statistics resident; /* operands already on the device */
    tileblas_route_statistics streamed; /* operands copied to the device and back */
} tileblas_statistics;

/* Calls too small to gain are counted only while the option STATS is 1: they take a shorter way. */
TILEBLAS_API void tileblas_get_statistics(tileblas_statistics *statistics);
TILEBLAS_API void tileblas_reset_statistics(void);

/* Why the calling thread's last call ran where it did: "streamed with tiled: faster on the device". Writes
 * at most size bytes, always terminated; returns the full length without the terminator, 0 before any call.
 */
TILEBLAS_API size_t tileblas_last_plan(char *text, size_t size);

/* ---- Steering --------------------------------------------------------------------------------------- */

/* Sets an option, by its environment name without TILEBLAS_ ("ROUTE", "streamed"). Returns 0, or -1 with
 * nothing changed when there is no such option or the value is not accepted. */
TILEBLAS_API int tileblas_set_option(const char *name, const char *value);

/* The CUDA stream (a cudaStream_t or CUstream) on which the calling thread's later calls with operands in
 * device memory run, behind the work already in it. NULL, the default, is the legacy default stream. The
 * stream stays the caller's, and must be replaced here before it is destroyed. */
TILEBLAS_API void tileblas_set_stream(void *stream);

#ifdef __cplusplus
}
#endif

#endif
