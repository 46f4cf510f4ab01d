/* How the runtime speaks of success and failure. A tb_status says what went wrong in a step; a tb_outcome
 * is what a whole route answers: done, or declined with C exactly as the caller left it.
 */
#ifndef TB_STATUS_H
#define TB_STATUS_H

typedef enum tb_status {
    TB_OK = 0,
    TB_NO_DEVICE,     /* no driver, no device, or a device this build has no code for */
    TB_OUT_OF_MEMORY, /* on the device or for pinned host memory; the device stays usable */
    TB_UNSUPPORTED,   /* this device or kernel cannot serve the request; nothing was changed */
    TB_DEVICE_LOST,   /* a sticky error: the device must not be used again in this process */
} tb_status;

typedef enum tb_outcome {
    TB_DONE,     /* C holds the result */
    TB_DECLINED, /* C is untouched; the host route must take the whole call */
} tb_outcome;

/* "out of memory" and the like, for log lines. */
const char *tb_status_text(tb_status status);

/* Passes a failure up to the caller of the enclosing function. */
#define TB_TRY(step)                                                                                         \
    do {                                                                                                     \
        tb_status tb_try_status = (step);                                                                    \
        if (tb_try_status != TB_OK)                                                                          \
            return tb_try_status;                                                                            \
    } while (0)

#endif
