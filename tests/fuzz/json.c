/* The reader of JSON: what it makes of any text has finite numbers and texts that end, and is freed whole. */
#include "tests/fuzz/fuzz.h"
#include "tools/json_value.h"

#include <math.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

static size_t look_at(const json_value *value)
{
    size_t length = 0;
    for (; value; value = value->next) {
        length += (value->key ? strlen(value->key) : 0) + (value->text ? strlen(value->text) : 0);
        length += look_at(value->first);
        if (!isfinite(value->number) || json_integer_of(value, "m", 100) > 100)
            abort();
    }
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    json_value *value = json_read(text);
    if (value && look_at(value) > size)
        abort();
    if (value)
        json_free(value);
    free(text);
    return 0;
}
