/* Texts of strangers, as they are printed and as they are written in JSON: no control is left, what is left is UTF-8, and what is
 * read again is written the same. */
#include "lib/reports/json.h"
#include "lib/user/printable.h"
#include "tests/fuzz/fuzz.h"
#include "tools/json_value.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

static void check_shown(const char *text)
{
    while (*text) {
        uint32_t character;
        char again[4];
        const size_t length = tb_read_character(text, &character);
        if (tb_is_control(character) || tb_write_character(again, character) != length ||
            memcmp(again, text, length) != 0)
            abort();
        text += length;
    }
}

static char *in_json(const char *text)
{
    tb_json json = {0};
    tb_json_text(&json, NULL, text);
    check_shown(json.text);
    return json.text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *written = in_json(text), *read = strdup(written);
    json_value *value = json_read(read);
    char *again = value ? in_json(value->text) : NULL;
    if (!again || strcmp(written, again) != 0)
        abort();
    json_free(value);
    const size_t length = strlen(text);
    tb_make_printable(text);
    check_shown(text);
    if (strlen(text) > length)
        abort();
    free(again), free(read), free(written), free(text);
    return 0;
}
