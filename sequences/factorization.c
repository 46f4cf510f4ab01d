#include "sequences/factorization.h"

#include "sequences/cholesky.h"
#include "sequences/lu.h"
#include "sequences/qr.h"

static const struct {
    tb_status (*walk)(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor);
    tb_status (*walk_block)(const tb_factor *factor, tb_range columns, int64_t panel, tb_visitor *visitor);
    tb_status (*resume)(const tb_factor *factor, int64_t done, tb_visitor *visitor);
} kinds[TB_FACTORS_COUNT] = {
    [TB_CHOLESKY] = {tb_walk_cholesky, tb_walk_cholesky_block, tb_resume_cholesky},
    [TB_LU] = {tb_walk_lu, tb_walk_lu_halves, tb_resume_lu},
    [TB_QR] = {tb_walk_qr, tb_walk_qr_block, tb_resume_qr},
};

tb_status tb_walk_factor(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor)
{
    return kinds[tb_factors_of(factor)].walk(factor, block, panel, visitor);
}

tb_status tb_walk_factor_block(const tb_factor *factor, tb_range columns, int64_t panel, tb_visitor *visitor)
{
    return kinds[tb_factors_of(factor)].walk_block(factor, columns, panel, visitor);
}

tb_status tb_resume_factor(const tb_factor *factor, int64_t done, tb_visitor *visitor)
{
    return kinds[tb_factors_of(factor)].resume(factor, done, visitor);
}

tb_factor tb_panel_triangle(const tb_factor *panel)
{
    return tb_cholesky_triangle(panel);
}

tb_product tb_panel_solve(const tb_factor *panel)
{
    return tb_cholesky_solve(panel);
}
