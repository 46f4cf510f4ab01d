/* What the driver says of an H200's clusters. For tests that run without one. */
#ifndef TESTS_CLUSTERS_H200_H
#define TESTS_CLUSTERS_H200_H

#include "kernels/catalog.h"

static const tb_clusters clusters_h200 = {.at_a_time = {{0, 132, 66, 39, 30, 22, 17, 15, 15},
                                                        {0, 264, 132, 79, 62, 47, 39, 32, 30},
                                                        {0, 396, 198, 124, 92, 69, 62, 47, 45}},
                                          .wide_at_a_time = 7};

#endif
