/* Options that are lists, with commas between what they list. */
#ifndef BENCH_LISTS_H
#define BENCH_LISTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How many positive numbers the text lists; 0 where it lists anything else, or more than `most`. */
static inline int bench_read_sizes(const char *text, int sizes[], int most)
{
    int count = 0;
    for (const char *at = text; count < most; at++) {
        char *end;
        const long size = strtol(at, &end, 10);
        if (end == at || size <= 0 || size > INT_MAX || (*end != ',' && *end != 0))
            return 0;
        sizes[count++] = (int)size;
        if (*end == 0)
            return count;
        at = end;
    }
    return 0;
}

/* Whether the text lists nothing but names that are known. */
static inline bool bench_lists_names(const char *text, bool (*is_known)(const char *name))
{
    for (const char *at = text;; at++) {
        char name[16];
        const size_t length = strcspn(at, ",");
        if (length >= sizeof name)
            return false;
        memcpy(name, at, length);
        name[length] = 0;
        if (!is_known(name))
            return false;
        at += length;
        if (*at == 0)
            return true;
    }
}

/* Whether the list has the word; NULL has all. */
static inline bool bench_lists(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == 0))
            return true;
    return !list;
}

#endif
