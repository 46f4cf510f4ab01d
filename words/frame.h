/* Stacks. Programs call from threads with little stack (docs/manners.md, "Stacks"). What has large things on
 * the stack for a while only, before or after something is called that needs stack itself, is a function that
 * is not inlined: a frame holds all that was inlined into its function, whether or not it is in use.
 */
#ifndef TB_FRAME_H
#define TB_FRAME_H

#define TB_OWN_FRAME __attribute__((noinline))

#endif
