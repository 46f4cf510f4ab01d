#include "lib/residency.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

_Atomic(uintptr_t) tb_heap_start = UINTPTR_MAX;

/* Of /proc/self/stat, counted from 1. */
#define FIELD_START_BREAK 47

void tb_learn_heap(void)
{
    char text[1024];
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        return;
    text[length] = '\0';
    /* The second field, the program's name in parentheses, may hold blanks and parentheses itself. */
    const char *field = strrchr(text, ')');
    for (int number = 2; field && number < FIELD_START_BREAK; number++)
        field = strchr(field + 1, ' ');
    uintptr_t start = field ? (uintptr_t)strtoull(field, NULL, 10) : 0;
    if (start > 0)
        atomic_store(&tb_heap_start, start);
}

void tb_locate_operands(const tb_problem *problem, tb_facts *facts)
{
    facts->a = facts->b = facts->c = (tb_place){.memory = TB_MEMORY_HOST};
    if (!tb_device.in_process())
        return;
    tb_device.locate(problem->c, &facts->c);
    if (problem->k > 0) {
        tb_device.locate(problem->a, &facts->a);
        tb_device.locate(problem->b, &facts->b);
    }
}
