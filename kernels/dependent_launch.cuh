/* Programmatic dependent launches: what a kernel does whose entry is launched early (tb_entry.early), in all of its
 * threads, before it reads or writes any memory but its arguments. Its launch is prepared while the kernel before it
 * still runs.
 */
#pragma once

namespace dependent_launch
{

/* Waits until the launch before this one is over and its memory is seen. As each waits for the one before it, it comes after
 * all of them; that kernels of others in the caller's stream do so too, where they are launched so, is what CUDA asks of
 * them, and what CUB counts on. The launch behind this one is let in when the last block of this one ends: let in sooner, its blocks would
 * be put where there is room, two on one multiprocessor and none on another. */
__device__ inline void wait()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The same for the launches of tensor-core products: the launch behind this one is let in at once. It is mostly another of theirs, whose
 * blocks find one place a multiprocessor, or are small. */
__device__ inline void launch_dependents_and_wait()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    wait();
}

} // namespace dependent_launch
