#include "lib/user/printable.h"

#include <string.h>

/* Bytes of the character that begins with this one; 0 where none does. */
static size_t length_of(unsigned char first)
{
    return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

/* Written with more bytes than it takes, half of a pair of UTF-16, or beyond Unicode. */
static bool is_misfit(uint32_t character, size_t length)
{
    return (length == 3 && character < 0x800) || (length == 4 && character < 0x10000) ||
           (character >= 0xd800 && character < 0xe000) || character > 0x10ffff;
}

size_t tb_read_character(const char *text, uint32_t *character)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const size_t length = length_of(bytes[0]);
    *character = TB_NO_CHARACTER;
    if (length == 0)
        return 1;
    uint32_t code = length == 1 ? bytes[0] : bytes[0] & (0xffU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) /* the text's end, too */
            return 1;
        code = code << 6 | (bytes[i] & 0x3f);
    }
    if (is_misfit(code, length))
        return 1;
    *character = code;
    return length;
}

size_t tb_write_character(char *to, uint32_t character)
{
    const size_t length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i > 1; i--, character >>= 6)
        to[i - 1] = (char)(0x80 | (character & 0x3f));
    to[0] = (char)(marks[length] | character);
    return length;
}

bool tb_is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) ||
           (character >= 0x2028 && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
}

void tb_make_printable(char *text)
{
    char *to = text;
    while (*text) {
        uint32_t character;
        const size_t length = tb_read_character(text, &character);
        const bool is_shown = !tb_is_control(character) && (character != TB_NO_CHARACTER || length > 1);
        if (is_shown)
            memmove(to, text, length);
        else
            *to = '?';
        to += is_shown ? length : 1;
        text += length;
    }
    *to = '\0';
}
