/* Which GPUs run a build's device code. */
#include "lib/device/built_for.h"
#include "tests/check.h"

#define ARCHITECTURES(...) {__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int)

static const struct {
    int architectures[3];
    size_t count;
    int ptx, gpu;
    bool runs;
} rows[] = {
    {ARCHITECTURES(90), 90, 90, true},         {ARCHITECTURES(90), 90, 80, false},
    {ARCHITECTURES(90), 90, 120, true}, /* by PTX */
    {ARCHITECTURES(90), 0, 120, false},        {ARCHITECTURES(80), 0, 86, true},
    {ARCHITECTURES(86), 86, 80, false},        {ARCHITECTURES(75, 120), 120, 90, false},
    {ARCHITECTURES(75, 80, 90), 90, 89, true}, {ARCHITECTURES(75), 75, 70, false},
    {ARCHITECTURES(75), 75, 75, true},
};

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(tb_is_built_for(rows[i].architectures, rows[i].count, rows[i].ptx, rows[i].gpu) == rows[i].runs,
              "row %zu: a GPU of %d", i, rows[i].gpu);
    return check_result();
}
