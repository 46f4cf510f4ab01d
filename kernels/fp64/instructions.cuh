/* Instructions of dgemm_mma that have no name in CUDA. tests/emulated has the same functions for the host.
 */
#pragma once

namespace fp64
{

/* The ring of stages, as memory, and its shared address. */
__device__ inline double *ring()
{
    extern __shared__ __align__(128) double panels[];
    return panels;
}

__device__ inline unsigned first_stage()
{
    return unsigned(__cvta_generic_to_shared(ring()));
}

/* Copies 8 or 16 bytes to shared memory, 16 by way of L1 or not, of which only the first `valid` are read; the rest
 * become zero. An address of which nothing is read may be any. */
template <int bytes, bool through_l1>
__device__ inline void copy_async(unsigned shared, const double *global, int valid)
{
    if (bytes == 16 && through_l1)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(valid));
    else if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(valid));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared), "l"(global), "r"(valid));
}

#define TB_COPY_ASYNC_IF(copy)                                                                               \
    asm volatile("{\n"                                                                                       \
                 ".reg .pred wanted;\n"                                                                      \
                 "setp.ne.u32 wanted, %0, 0;\n"                                                              \
                 "@wanted " copy ";\n"                                                                       \
                 "}" ::"r"(wanted),                                                                          \
                 "r"(shared), "l"(global))

/* Copies 8 or 16 bytes, or does nothing. A predicate takes one instruction, a number of valid bytes six. */
template <int bytes, bool through_l1>
__device__ inline void copy_async_if(unsigned wanted, unsigned shared, const double *global)
{
    if (bytes == 16 && through_l1)
        TB_COPY_ASYNC_IF("cp.async.ca.shared.global [%1], [%2], 16");
    else if (bytes == 16)
        TB_COPY_ASYNC_IF("cp.async.cg.shared.global [%1], [%2], 16");
    else
        TB_COPY_ASYNC_IF("cp.async.ca.shared.global [%1], [%2], 8");
}

#undef TB_COPY_ASYNC_IF

__device__ inline double load_shared(unsigned address)
{
    double value;
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(address));
    return value;
}

__device__ inline void load_shared_pair(double &first, double &second, unsigned address)
{
    asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(first), "=d"(second) : "r"(address));
}

/* The value with those bits changed that its halves are given. */
__device__ inline double with_bits(double value, unsigned upper, unsigned lower)
{
    return __hiloint2double(__double2hiint(value) ^ int(upper), __double2loint(value) ^ int(lower));
}

/* 8 x 8 with 4 steps, which is all that sm_80 has: two for the two rows that lanes have. */
__device__ inline void multiply_by_four(double (&sum)[4], const double *a, double b)
{
#pragma unroll
    for (int h = 0; h < 2; h++)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(sum[2 * h]), "+d"(sum[2 * h + 1])
                     : "d"(a[h]), "d"(b));
}

/* sum (16 x 8) += a (16 x 8) * b (8 x 8). Of the sum lane 4 g + q holds, as sum[2 h + e], row h of its pair and column
 * 2 q + e (PTX ISA, "Matrix fragments for mma.m16n8k8 with .f64"). */
__device__ inline void multiply(double (&sum)[4], const double (&a)[4], const double (&b)[2])
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
    multiply_by_four(sum, a, b[0]);
    multiply_by_four(sum, a + 2, b[1]);
#endif
}

/* The same with 16 steps. */
__device__ inline void multiply(double (&sum)[4], const double (&a)[8], const double (&b)[4])
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, "
                 "%9, %10, %11}, "
                 "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
                 : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
                   "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
    for (int i = 0; i < 4; i++)
        multiply_by_four(sum, a + 2 * i, b[i]);
#endif
}

/* Copies four pieces of 16 bytes, `apart` bytes from each other in shared memory. One statement, so that each address has
 * registers of its own: a copy gives them back late, and the next one would wait for that. */
template <int apart>
__device__ inline void copy_four_async(unsigned shared, const char *first, const char *second,
                                       const char *third, const char *fourth)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n"
                 "cp.async.cg.shared.global [%0 + %5], [%2], 16;\n"
                 "cp.async.cg.shared.global [%0 + 2 * %5], [%3], 16;\n"
                 "cp.async.cg.shared.global [%0 + 3 * %5], [%4], 16;" ::"r"(shared),
                 "l"(first), "l"(second), "l"(third), "l"(fourth), "n"(apart));
}

/* Barriers in shared memory, at which so many arrive in each of their phases. */
__device__ inline void barrier_init(unsigned barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ inline void barrier_arrive(unsigned barrier)
{
    asm volatile("{\n"
                 ".reg .b64 state;\n"
                 "mbarrier.arrive.shared.b64 state, [%0];\n"
                 "}" ::"r"(barrier)
                 : "memory");
}

/* Arrives when the copies that the thread has begun are over. */
__device__ inline void barrier_arrive_after_copies(unsigned barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

/* Until those are over that the thread has begun. */
__device__ inline void wait_for_all_copies()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* Waits until the phase of this parity is over. */
__device__ inline void barrier_wait(unsigned barrier, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred over;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared.b64 over, [%0], %1;\n"
                 "@!over bra again;\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

} // namespace fp64
