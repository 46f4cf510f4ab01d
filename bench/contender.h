/* The contenders of bench/streamed: each side (sides.h) is a process of its own, so that no library's threads and contexts are in
 * another's way, and answers requests line by line.
 *
 *   prepare M N K pageable|pinned    makes random operands; "ready", or "no" and why not
 *   run                              one product; its seconds
 *   release                          frees the operands; "released" and how much was resident at most beside them, in
 *                                    bytes, or -1
 */
#ifndef BENCH_CONTENDER_H
#define BENCH_CONTENDER_H

/* Serves standard input until it ends, products of one routine; the exit status. */
int bench_serve(const char *name, const char *routine);

#endif
