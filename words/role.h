/* What an operand is to its product. State that each operand has is an array indexed by role. */
#ifndef TB_ROLE_H
#define TB_ROLE_H

typedef enum tb_role {
    TB_A,
    TB_B,
    TB_C,
    TB_ROLES,
} tb_role;

#endif
