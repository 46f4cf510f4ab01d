/* The error handlers of a program (handlers.c): what they are to do with what they hear. */
#ifndef HANDLERS_H
#define HANDLERS_H

#include <stddef.h>

extern void (*handlers_tell)(const char *handler, const char *routine, size_t length, long number);

#endif
