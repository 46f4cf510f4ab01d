#include "lib/user/precision.h"

#include "include/tileblas.h"
#include "lib/user/options.h"

#include <string.h>

/* By the choices of the option PRECISION, in their order. */
static const struct {
    const char *name;
    tb_accuracy accuracy;
} choices[] = {{"fp32", TB_ACCURACY_FP32}, {"ieee", TB_ACCURACY_IEEE}, {"fast", TB_ACCURACY_FAST}};
enum { CHOICES = sizeof choices / sizeof *choices };

/* The calling thread's own choice, counted from 1; 0 is none. */
static _Thread_local int own;

tb_accuracy tb_wanted_accuracy(void)
{
    return choices[own > 0 ? own - 1 : tb_option_value(TB_OPTION_PRECISION)].accuracy;
}

int tileblas_set_precision(const char *name)
{
    if (!name) {
        own = 0;
        return 0;
    }
    for (int i = 0; i < CHOICES; i++)
        if (strcmp(name, choices[i].name) == 0) {
            own = i + 1;
            return 0;
        }
    return -1;
}
