/* What the build has device code for besides code for every chip: a chip may run PTX of an older one, in which kernels for
 * later chips are empty, and none waits for the launch before it. All of it where the build does not say. For files that
 * have entries.
 */
#ifndef TB_BUILT_CODE_H
#define TB_BUILT_CODE_H

#ifndef TB_CODE_FROM_80 /* and before 12.0 */
#define TB_CODE_FROM_80 1
#endif
#ifndef TB_CODE_FOR_90
#define TB_CODE_FOR_90 1
#endif
#ifndef TB_CODE_FROM_90
#define TB_CODE_FROM_90 1
#endif

/* What tb_entry.early is for code that waits itself where it is for 9.0 and later. */
#define TB_EARLY (TB_CODE_FROM_90 != 0)

#endif
