/* The error handlers that a program of irregular.c has, which is compiled once for each of its routines. */
#include "tests/abi/handlers.h"

#include <string.h>

void (*handlers_tell)(const char *handler, const char *routine, size_t length, long number);

void cblas_xerbla(int number, const char *routine, const char *format, ...);
void xerbla_(const char *routine, const int *number, size_t length);

void cblas_xerbla(int number, const char *routine, const char *format, ...)
{
    (void)format;
    handlers_tell("cblas_xerbla", routine, strlen(routine), number);
}

void xerbla_(const char *routine, const int *number, size_t length)
{
    handlers_tell("xerbla_", routine, length, *number);
}
