/* Preloaded, it is the call of setlocale that many programs begin with: for commas.py. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void set_locale(void)
{
    if (!setlocale(LC_ALL, "")) {
        fprintf(stderr, "the locale %s cannot be set\n", getenv("LC_ALL"));
        _Exit(2);
    }
}
