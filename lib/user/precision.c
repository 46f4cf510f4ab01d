#include "lib/user/precision.h"

#include "include/tileblas.h"
#include "lib/user/options.h"

/* By the choices of the option PRECISION, in their order. */
static const tb_accuracy accuracies[] = {TB_ACCURACY_FP32, TB_ACCURACY_IEEE, TB_ACCURACY_FAST};

/* The calling thread's own choice, counted from 1; 0 is none. */
static _Thread_local long own;

tb_accuracy tb_wanted_accuracy(void)
{
    return accuracies[own > 0 ? own - 1 : tb_option_value(TB_OPTION_PRECISION)];
}

int tileblas_set_precision(const char *name)
{
    const long choice = name ? tb_find_choice(TB_OPTION_PRECISION, name) : -1;
    if (name && choice < 0)
        return -1;
    own = choice + 1;
    return 0;
}
