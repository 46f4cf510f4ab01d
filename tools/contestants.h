/* Those that `tileblas bench` measures: SGEMM on host memory, each reached at run time, each under one signature.
 */
#ifndef TOOL_CONTESTANTS_H
#define TOOL_CONTESTANTS_H

#include "words/product.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct contestant {
    const char *name;
    char origin[PATH_MAX]; /* the library's path, or why there is none */
    /* False when it failed. The product is column-major, all of it in host memory. */
    bool (*multiply)(const tb_product *product);
} contestant;

/* The BLAS that TileBLAS hands calls to. */
bool open_host_blas(contestant *contestant);

/* libtileblas.so, through what it exports; path is NULL for the one that belongs to this command. */
bool open_tileblas(const char *path, contestant *contestant);
/* Why its last product ran where it did. */
void last_tileblas_plan(char *text, size_t size);

/* cuBLAS with what its caller has to do: device memory, copies to it and back. */
bool open_cublas(contestant *contestant);

#endif
