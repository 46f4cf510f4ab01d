#include "dispatch/schedule.h"

tb_schedule tb_make_schedule(const tb_kernel *kernel, const tb_product *product, tb_target target)
{
    return tb_prepare(kernel, product, target);
}
