/* The jump by which a call under a bare name goes on whose destination is not known at a glance: to that which tb_find_way
 * (host_blas.c) says, with every register as it came that may carry an argument, and the stack. The exported functions come here
 * by a jump, so that the call returns to whoever called them.
 *
 * Saved are, on x86-64, six integers, the count of vectors of a variadic call, the static chain, and the vectors' lower halves;
 * on AArch64, eight integers, the address of a result in memory, and eight vectors.
 */

#if defined __x86_64__ && defined __CET__
#include <cet.h>
#elif defined __x86_64__
#define _CET_ENDBR
#endif

    .hidden tb_find_way
    .globl tb_go_untouched
    .hidden tb_go_untouched
    .type tb_go_untouched, %function

    .text
#if defined __x86_64__
tb_go_untouched:
    .cfi_startproc
    _CET_ENDBR
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
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
    call tb_find_way
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
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    jmp *%r11
    .cfi_endproc

#elif defined __aarch64__
tb_go_untouched:
    .cfi_startproc
    hint #34 /* bti c, which older assemblers do not know by name */
    stp x29, x30, [sp, #-224]!
    .cfi_def_cfa_offset 224
    .cfi_offset 29, -224
    .cfi_offset 30, -216
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    str x8, [sp, #80]
    stp q0, q1, [sp, #96]
    stp q2, q3, [sp, #128]
    stp q4, q5, [sp, #160]
    stp q6, q7, [sp, #192]
    bl tb_find_way
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldr x8, [sp, #80]
    ldp q0, q1, [sp, #96]
    ldp q2, q3, [sp, #128]
    ldp q4, q5, [sp, #160]
    ldp q6, q7, [sp, #192]
    ldp x29, x30, [sp], #224
    .cfi_def_cfa_offset 0
    .cfi_restore 29
    .cfi_restore 30
    br x16
    .cfi_endproc

#if defined __ARM_FEATURE_BTI_DEFAULT
    .pushsection .note.gnu.property, "a", %note
    .balign 8
    .long 4, 16, 5
    .asciz "GNU"
    .long 0xc0000000, 4, 1, 0 /* every function begins with a landing pad */
    .popsection
#endif

#else
#error "calls can go on untouched on x86-64 and AArch64 only"
#endif
    .size tb_go_untouched, . - tb_go_untouched

    .section .note.GNU-stack, "", %progbits
