#include "words/element.h"
#include "words/routine.h"

const tb_element_row tb_element_rows[TB_ELEMENTS] = {
    [TB_FP32] = {'S', 4, false, 0x1p-24},
    [TB_FP64] = {'D', 8, false, 0x1p-53},
    [TB_COMPLEX_FP32] = {'C', 8, true, 0x1p-24},
    [TB_COMPLEX_FP64] = {'Z', 16, true, 0x1p-53},
};

const tb_routine_row tb_routine_rows[TB_ROUTINES] = {
#define TB_ROUTINE(NAME, name, CLASS, element)                                                               \
    [TB_##NAME] = {#name, "cblas_" #name, #NAME " ", TB_CLASS_##CLASS, element},
#define TB_LAPACK_ROUTINE(NAME, name, CLASS, element)                                                        \
    [TB_##NAME] = {#name, "LAPACKE_" #name, #NAME " ", TB_CLASS_##CLASS, element},
#include "words/routines.def"
#undef TB_ROUTINE
};

const tb_class_row tb_class_rows[TB_CLASSES] = {
#define TB_CLASS(NAME, pattern, scalars, ...) [TB_CLASS_##NAME] = {__VA_ARGS__},
#include "words/classes.def"
#undef TB_CLASS
};
