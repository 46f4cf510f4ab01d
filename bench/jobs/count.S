/* One trampoline per counted name, stamped from the list of names that CMake writes: jobs_counted.inc, each of
 * whose lines is "counted name". count.c says what happens at a call; here nothing that a caller passes or gets back
 * is lost, whatever the convention. x86-64 only, System V.
 */
#if !defined __x86_64__
#error "calls are counted on x86-64 only"
#endif

    .set jobs_index, 0
    .hidden jobs_begin_call, jobs_end_call

    .macro counted name
    .pushsection .rodata.jobs_names, "a", %progbits
0:  .asciz "\name"
    .popsection
    .pushsection .rodata.jobs_offsets, "a", %progbits
    .long 0b - jobs_names
    .popsection
    .globl \name
    .type \name, %function
    .balign 16
\name:
    movl $jobs_index, %r11d
    jmp jobs_go
    .size \name, . - \name
    .set jobs_index, jobs_index + 1
    .endm

    .section .rodata.jobs_names, "a", %progbits
    .globl jobs_names
    .hidden jobs_names
jobs_names:

    .section .rodata.jobs_offsets, "a", %progbits
    .balign 4
    .globl jobs_offsets
    .hidden jobs_offsets
jobs_offsets:

    .text
/* r11 holds the index. Saved is all that may carry an argument: six integers, the count of vectors of a variadic
 * call, the static chain, and the vectors' lower halves, as BLAS passes none wider than 16 bytes. */
    .type jobs_go, %function
jobs_go:
    pushq %rbp
    movq %rsp, %rbp
    subq $192, %rsp
    movq %rdi, (%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rax, 48(%rsp)
    movq %r10, 56(%rsp)
    movups %xmm0, 64(%rsp)
    movups %xmm1, 80(%rsp)
    movups %xmm2, 96(%rsp)
    movups %xmm3, 112(%rsp)
    movups %xmm4, 128(%rsp)
    movups %xmm5, 144(%rsp)
    movups %xmm6, 160(%rsp)
    movups %xmm7, 176(%rsp)
    movl %r11d, %edi
    leaq 8(%rbp), %rsi /* where the return address is */
    call jobs_begin_call
    movq %rax, %r11
    movq (%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    movq 48(%rsp), %rax
    movq 56(%rsp), %r10
    movups 64(%rsp), %xmm0
    movups 80(%rsp), %xmm1
    movups 96(%rsp), %xmm2
    movups 112(%rsp), %xmm3
    movups 128(%rsp), %xmm4
    movups 144(%rsp), %xmm5
    movups 160(%rsp), %xmm6
    movups 176(%rsp), %xmm7
    leave
    jmp *%r11
    .size jobs_go, . - jobs_go

/* Where an outermost call comes back, with the stack as its caller has it after the call. Saved is all that may
 * carry a result: two integers, two vectors. */
    .globl jobs_return
    .hidden jobs_return
    .type jobs_return, %function
jobs_return:
    subq $64, %rsp
    movq %rax, (%rsp)
    movq %rdx, 8(%rsp)
    movups %xmm0, 16(%rsp)
    movups %xmm1, 32(%rsp)
    call jobs_end_call
    movq %rax, 56(%rsp)
    movq (%rsp), %rax
    movq 8(%rsp), %rdx
    movups 16(%rsp), %xmm0
    movups 32(%rsp), %xmm1
    addq $56, %rsp
    ret
    .size jobs_return, . - jobs_return

#include "jobs_counted.inc"

    .section .note.GNU-stack, "", %progbits
