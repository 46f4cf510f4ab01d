#include "words/status.h"

const char *tb_status_text(tb_status status)
{
    switch (status) {
    case TB_OK:
        return "no error";
    case TB_NO_DEVICE:
        return "no usable device";
    case TB_OUT_OF_MEMORY:
        return "out of memory";
    case TB_UNSUPPORTED:
        return "not supported";
    case TB_DEVICE_LOST:
        return "device lost";
    }
    return "unknown status";
}
