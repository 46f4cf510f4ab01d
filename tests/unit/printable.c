/* Texts of strangers: what a terminal would obey is a question mark when they are printed, and escaped in JSON. */
#include "lib/reports/json.h"
#include "lib/user/printable.h"
#include "tests/check.h"

#include <string.h>

static const struct {
    const char *text, *printed, *in_json;
} cases[] = {
    {"/opt/program", "/opt/program", "\"/opt/program\""},
    {"\"a\\b\"", "\"a\\b\"", "\"\\\"a\\\\b\\\"\""},
    {"\x1b]0;title\x07", "?]0;title?", "\"\\u001b]0;title\\u0007\""},
    {"line\nline\r\t", "line?line??", "\"line\\u000aline\\u000d\\u0009\""},
    {"\x7f", "?", "\"\\u007f\""},
    {"\xc2\x9b\x33", "?3", "\"\\u009b3\""},
    {"\x9b\x33", "?3", "\"\\ufffd3\""},
    {"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8", "???", "\"\\u202e\\u2066\\u2028\""},
    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xc2\xa0", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xc2\xa0",
     "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xc2\xa0\""},
    {"\xc0\x9b\xe0\x82\x9b", "?????",
     "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""},          /* longer than they need be */
    {"\xed\xa0\x80", "???", "\"\\ufffd\\ufffd\\ufffd\""}, /* half of a pair */
    {"\xf4\x90\x80\x80\xff", "?????", "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* beyond Unicode */
    {"\xe2\x82", "??", "\"\\ufffd\\ufffd\""},                                     /* cut */
    {"", "", "\"\""},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        tb_json json = {0};
        snprintf(text, sizeof text, "%s", cases[i].text);
        tb_make_printable(text);
        CHECK(strcmp(text, cases[i].printed) == 0, "case %zu is printed as %s", i, text);
        tb_json_text(&json, NULL, cases[i].text);
        CHECK(strcmp(json.text, cases[i].in_json) == 0, "case %zu is %s in JSON", i, json.text);
        free(json.text);
    }
    return check_result();
}
