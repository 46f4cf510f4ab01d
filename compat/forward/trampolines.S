/* One trampoline per forwarded name, stamped from the lists of names: a jump to the name's target. There is
 * none until the first call, which goes through tb_forward_first to tb_resolve_forwarded (resolve.c) and
 * then on to what that found.
 *
 * Nothing that a caller passes or gets back is touched, neither registers nor stack: hidden string lengths,
 * complex results and structures go through whatever their convention. Only what every call may change anyway
 * is used: r11 on x86-64, x16 and x17 on AArch64, which the linker's own stubs use too.
 *
 * tb_forwarded.inc is written by CMake; each of its lines is "forward name".
 */

#if defined __x86_64__ && defined __CET__
#include <cet.h>
#elif defined __x86_64__
#define _CET_ENDBR
#endif

    .set tb_index, 0
    .hidden tb_resolve_forwarded

#if defined __x86_64__

/* ---- x86-64, System V ----------------------------------------------------------------------------------- */

    .macro forward name
    .pushsection .rodata.tb_forward_names, "a", %progbits
0:  .asciz "\name"
    .popsection
    .pushsection .rodata.tb_forward_offsets, "a", %progbits
    .long 0b - tb_forward_names
    .popsection
    .globl \name
    .type \name, %function
    .balign 16
\name:
    _CET_ENDBR
    movq tb_forward_targets + 8 * tb_index(%rip), %r11
    testq %r11, %r11
    je 1f
    jmp *%r11
1:  movl $tb_index, %r11d
    jmp tb_forward_first
    .size \name, . - \name
    .set tb_index, tb_index + 1
    .endm

    .text
/* r11 holds the index. Saved is all that may carry an argument: six integers, the count of vectors of a variadic
 * call, the static chain, and the vectors' lower halves, as BLAS passes none wider than 16 bytes. */
    .type tb_forward_first, %function
tb_forward_first:
    .cfi_startproc
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
    movl %r11d, %edi
    movq 8(%rbp), %rsi /* where the caller goes on */
    call tb_resolve_forwarded
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
    .size tb_forward_first, . - tb_forward_first

/* Stands for a name that nobody has: zero in every register that can carry a result. */
    .globl tb_forward_missing
    .hidden tb_forward_missing
    .type tb_forward_missing, %function
tb_forward_missing:
    .cfi_startproc
    _CET_ENDBR
    xorl %eax, %eax
    xorl %edx, %edx
    xorps %xmm0, %xmm0
    xorps %xmm1, %xmm1
    ret
    .cfi_endproc
    .size tb_forward_missing, . - tb_forward_missing

#elif defined __aarch64__

/* ---- AArch64 -------------------------------------------------------------------------------------------- */

    .macro forward name
    .pushsection .rodata.tb_forward_names, "a", %progbits
0:  .asciz "\name"
    .popsection
    .pushsection .rodata.tb_forward_offsets, "a", %progbits
    .long 0b - tb_forward_names
    .popsection
    .globl \name
    .type \name, %function
    .balign 16
\name:
    hint #34 /* bti c, which older assemblers do not know by name */
    adrp x16, tb_forward_targets + 8 * tb_index
    ldr x16, [x16, #:lo12:tb_forward_targets + 8 * tb_index]
    cbz x16, 1f
    br x16
1:  movz w17, #tb_index
    b tb_forward_first
    .size \name, . - \name
    .set tb_index, tb_index + 1
    .endm

    .text
/* w17 holds the index. Saved is all that may carry an argument: eight integers, the address of a result in memory,
 * eight vectors. */
    .type tb_forward_first, %function
tb_forward_first:
    .cfi_startproc
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
    mov w0, w17
    mov x1, x30 /* where the caller goes on */
    bl tb_resolve_forwarded
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
    .size tb_forward_first, . - tb_forward_first

/* Stands for a name that nobody has: zero in every register that can carry a result. */
    .globl tb_forward_missing
    .hidden tb_forward_missing
    .type tb_forward_missing, %function
tb_forward_missing:
    .cfi_startproc
    hint #34
    mov x0, #0
    mov x1, #0
    movi v0.2d, #0
    movi v1.2d, #0
    movi v2.2d, #0
    movi v3.2d, #0
    ret
    .cfi_endproc
    .size tb_forward_missing, . - tb_forward_missing

#if defined __ARM_FEATURE_BTI_DEFAULT
    .pushsection .note.gnu.property, "a", %note
    .balign 8
    .long 4, 16, 5
    .asciz "GNU"
    .long 0xc0000000, 4, 1, 0 /* every function begins with a landing pad */
    .popsection
#endif

#else
#error "names can be forwarded on x86-64 and AArch64 only"
#endif

/* ---- What the names are stamped to -------------------------------------------------------------------------- */

    .section .rodata.tb_forward_names, "a", %progbits
    .globl tb_forward_names
    .hidden tb_forward_names
tb_forward_names:

    .section .rodata.tb_forward_offsets, "a", %progbits
    .balign 4
    .globl tb_forward_offsets
    .hidden tb_forward_offsets
tb_forward_offsets:

/* A trampoline leaves the stack as it is, so one entry describes them all to whoever unwinds through one. */
    .text
    .cfi_startproc
#include "tb_forwarded.inc"
    .cfi_endproc

    .bss
    .balign 8
    .globl tb_forward_targets
    .hidden tb_forward_targets
tb_forward_targets:
    .skip 8 * tb_index
    .size tb_forward_targets, . - tb_forward_targets

    .section .note.GNU-stack, "", %progbits
