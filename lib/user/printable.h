/* Text that another process or a file has given: paths, names of programs, what a driver says. Shown as it is, it could move a
 * terminal's cursor, set its title or forge a line. Everything that is printed passes one of these; JSON and HTML, which have
 * their own ways to write characters, ask for them one by one.
 */
#ifndef TB_PRINTABLE_H
#define TB_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a byte that begins no character in UTF-8 counts as. */
#define TB_NO_CHARACTER UINT32_C(0xfffd)

/* The first character of a text that is not empty, and how many bytes it has. */
size_t tb_read_character(const char *text, uint32_t *character);

/* The character in UTF-8; how many bytes, of at most 4. */
size_t tb_write_character(char *to, uint32_t character);

/* Whether a terminal obeys the character instead of showing it: the controls of ASCII, line ends among them, and of Latin-1 (C1),
 * and those of Unicode that end lines or turn the direction of writing. */
bool tb_is_control(uint32_t character);

/* Puts a question mark in the place of each control, and of each byte that is no UTF-8. The text does not grow. */
void tb_make_printable(char *text);

#endif
