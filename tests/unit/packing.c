/* Columns packed and unpacked: every float comes back bit for bit, whatever it is, or the packing says that it cannot.
 */
#include "lib/packing.h"
#include "tests/check.h"
#include "tests/sim/sim.h"

#include <math.h>
#include <string.h>

enum { ROWS_MOST = 1000, COLUMNS_MOST = 20, GAP = 7, ROUNDS = 400 };

typedef enum kind { UNIFORM, SPARSE, ZERO, INTEGERS, WIDE, SUBNORMAL, ANY_BITS, SPECIAL, KINDS } kind;

static float draw(check_random *random, kind kind)
{
    static const float specials[] = {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 1e-45f, 3e38f, 1.0f};
    const float x = check_uniform(random);
    const uint32_t bits = (uint32_t)check_next(random);
    float any;
    memcpy(&any, &bits, sizeof any);
    switch (kind) {
    case UNIFORM:
        return x;
    case SPARSE:
        return bits % 4 ? (bits % 8 < 4 ? 0.0f : -0.0f) : x;
    case ZERO:
        return 0;
    case INTEGERS:
        return (float)(bits % 256);
    case WIDE:
        return ldexpf(x, (int)(bits % 40));
    case SUBNORMAL:
        return ldexpf(x, -(int)(bits % 150));
    case ANY_BITS:
        return any;
    case SPECIAL:
        return bits % 16 ? x : CHECK_PICK(random, specials);
    case KINDS:
        break;
    }
    return 0;
}

int main(void)
{
    check_random random = {.state = check_seed()};
    static float source[COLUMNS_MOST * (ROWS_MOST + GAP)], target[COLUMNS_MOST * (ROWS_MOST + GAP)];
    static _Alignas(
        64) unsigned char memory[(COLUMNS_MOST + 3) * (ROWS_MOST + TB_PACKED_FLOATS) * sizeof(float)];
    int packed_rounds[KINDS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        const kind kind = (enum kind)(round % KINDS);
        const int64_t rows = check_between(&random, 1, ROWS_MOST), ld = rows + check_between(&random, 0, GAP);
        const size_t bytes = sizeof memory / (size_t)check_between(&random, 1, 3) / 64 * 64;
        const int64_t most = tb_packing_columns(rows, bytes);
        const int64_t columns = check_between(&random, 1, most < COLUMNS_MOST ? most : COLUMNS_MOST);
        for (int64_t i = 0; i < columns * ld; i++)
            source[i] = draw(&random, kind);
        memset(target, 0x55, sizeof target);
        tb_packing packing;
        tb_packing_begin(&packing, memory, bytes, rows, columns);
        for (int64_t column = 0; column < columns; column++)
            tb_pack_column(&packing, column, source + column * ld);
        const size_t used = tb_packing_end(&packing);
        CHECK(used <= bytes, "%zu of %zu bytes", used, bytes);
        packed_rounds[kind] += used > 0;
        if (used == 0)
            continue;
        sim_unpack(&(tb_packed){memory, target, rows, columns, ld}, columns);
        for (int64_t column = 0; column < columns; column++)
            CHECK(memcmp(target + column * ld, source + column * ld, (size_t)rows * sizeof(float)) == 0,
                  "kind %d: column %lld of %lld x %lld", kind, (long long)column, (long long)rows,
                  (long long)columns);
    }
    CHECK(packed_rounds[UNIFORM] == ROUNDS / KINDS && packed_rounds[SPARSE] == ROUNDS / KINDS &&
              packed_rounds[ZERO] == ROUNDS / KINDS && packed_rounds[INTEGERS] == ROUNDS / KINDS,
          "%d, %d, %d and %d packed", packed_rounds[UNIFORM], packed_rounds[SPARSE], packed_rounds[ZERO],
          packed_rounds[INTEGERS]);
    CHECK(packed_rounds[ANY_BITS] < ROUNDS / KINDS, "any bits were packed");
    return check_result();
}
