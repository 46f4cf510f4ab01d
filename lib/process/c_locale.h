/* Numbers with a decimal point. A program may have called setlocale, and then printf writes and scanf reads a
 * comma, or whatever else the locale has; files, JSON and lines of ours are by the rules of the C locale all
 * the same.
 */
#ifndef TB_C_LOCALE_H
#define TB_C_LOCALE_H

#include <locale.h>

/* Puts this thread in the C locale, other threads being left where they are; what it returns leads back. For all categories
 * that locale is an object which the C library has anyway: nothing is allocated, and nobody has to free it. */
static inline locale_t tb_enter_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void tb_leave_c_locale(locale_t previous)
{
    uselocale(previous);
}

#endif
