#include "sequences/factorization.h"

#include "sequences/cholesky.h"
#include "sequences/lu.h"

static const struct {
    tb_status (*walk)(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor);
    tb_status (*walk_block)(const tb_factor *factor, tb_range columns, int64_t panel, tb_visitor *visitor);
    tb_status (*resume)(const tb_factor *factor, int64_t done, tb_visitor *visitor);
} classes[TB_CLASSES] = {
    [TB_CLASS_POTRF] = {tb_walk_cholesky, tb_walk_cholesky_block, tb_resume_cholesky},
    [TB_CLASS_GETRF] = {tb_walk_lu, tb_walk_lu_halves, tb_resume_lu},
};

tb_status tb_walk_factor(const tb_factor *factor, int64_t block, int64_t panel, tb_visitor *visitor)
{
    return classes[tb_routine_rows[factor->routine].class].walk(factor, block, panel, visitor);
}

tb_status tb_walk_factor_block(const tb_factor *factor, tb_range columns, int64_t panel, tb_visitor *visitor)
{
    return classes[tb_routine_rows[factor->routine].class].walk_block(factor, columns, panel, visitor);
}

tb_status tb_resume_factor(const tb_factor *factor, int64_t done, tb_visitor *visitor)
{
    return classes[tb_routine_rows[factor->routine].class].resume(factor, done, visitor);
}
