#include "lib/process/c_locale.h"

locale_t tb_enter_c_locale(void)
{
    /* For all categories this is an object that the C library has anyway; nobody has to free it. */
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void tb_leave_c_locale(locale_t previous)
{
    uselocale(previous);
}
