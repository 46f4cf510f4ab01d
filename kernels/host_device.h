/* Functions in headers that C and CUDA share: launch functions call them, and device code. */
#ifndef TB_HOST_DEVICE_H
#define TB_HOST_DEVICE_H

#ifdef __CUDACC__
#define TB_HOST_DEVICE_INLINE __host__ __device__ inline
#else
#define TB_HOST_DEVICE_INLINE static inline
#endif

#endif
