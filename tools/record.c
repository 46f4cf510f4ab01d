#include "tools/record.h"

#include "tools/json_value.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a host may be said to have. */
enum { CORES_MOST = 1 << 20 };

/* Calls of one kind: the sum over all kinds has to be a number, too. */
#define CALLS_MOST (INT64_C(1) << 48)

/* A thousand years, in which many kinds may have been computed. */
#define SECONDS_MOST 3e10

static void take_process(const json_value *line, record *record)
{
    const int cores = (int)json_integer_of(line, "cores", CORES_MOST);
    if (record->processes++ == 0)
        snprintf(record->program, sizeof record->program, "%s", json_text_of(line, "program"));
    record->cores = cores > record->cores ? cores : record->cores;
    record->left_out += (unsigned long long)json_integer_of(line, "left_out", INT64_MAX);
}

static bool has_only(const char *text, const char *letters, size_t least, size_t most)
{
    const size_t length = strlen(text);
    return length >= least && length <= most && strspn(text, letters) == length;
}

/* Sums of seconds stay numbers as well. */
static double seconds_of(const json_value *line, const char *key)
{
    const double seconds = json_number_of(line, key);
    return seconds > 0 ? fmin(seconds, SECONDS_MOST) : 0;
}

/* Whether there are such calls. */
static bool is_possible(const tb_called *called)
{
    const problem problem = record_problem(called);
    tb_product product = problem_product(&problem);
    return problem.m > 0 && problem.n > 0 && problem.k > 0 && problem_settle_leading_dimensions(&product) &&
           problem_has_room(&product);
}

static void take_kind(const json_value *line)
{
    tb_called called = {0};
    const char *routine = json_text_of(line, "routine"), *letters = json_text_of(line, "letters"),
               *places = json_text_of(line, "places");
    const json_value *beta = json_member(line, "beta_is_zero");
    while (called.routine < TB_ROUTINES && strcmp(tb_routine_rows[called.routine].name, routine) != 0)
        called.routine++;
    if (called.routine == TB_ROUTINES || !has_only(letters, "NTCRLU", 2, TB_LETTERS_SIZE - 1) ||
        !has_only(places, "hpmd", TB_ROLES, TB_ROLES))
        return;
    snprintf(called.letters, sizeof called.letters, "%s", letters);
    snprintf(called.places, sizeof called.places, "%s", places);
    snprintf(called.spelling, sizeof called.spelling, "%s", json_text_of(line, "spelling"));
    called.beta_is_zero = beta && beta->number != 0;
    called.extents =
        (tb_extents){3,
                     {json_integer_of(line, "m", INT64_MAX), json_integer_of(line, "n", INT64_MAX),
                      json_integer_of(line, "k", INT64_MAX)},
                     "mnk"};
    called.host_calls = (unsigned long long)json_integer_of(line, "host_calls", CALLS_MOST);
    called.device_calls = (unsigned long long)json_integer_of(line, "device_calls", CALLS_MOST);
    called.host_seconds = seconds_of(line, "host_seconds");
    called.device_seconds = seconds_of(line, "device_seconds");
    called.host_forecast = seconds_of(line, "host_forecast");
    if (is_possible(&called))
        tb_add_called(&called);
}

bool record_read(const char *path, record *record)
{
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (getline(&line, &size, file) > 0) {
        json_value *value = json_read(line);
        if (value && json_member(value, "tileblas"))
            take_process(value, record);
        else if (value)
            take_kind(value);
        if (value)
            json_free(value);
    }
    free(line);
    fclose(file);
    errno = 0;
    return record->processes > 0;
}

bool record_write(const char *path, const record *record)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        return false;
    const bool is_written = tb_write_called(file, record->program, record->cores, record->left_out);
    const int error = errno; /* of writing, which closing may know nothing of */
    if (close(file) != 0)
        return false;
    errno = error;
    return is_written;
}

/* N, T, C, or R: conjugated alone. */
static void read_operation(char letter, bool *transpose, bool *conjugate)
{
    *transpose = letter == 'T' || letter == 'C';
    *conjugate = letter == 'C' || letter == 'R';
}

problem record_problem(const tb_called *called)
{
    problem problem = {.routine = called->routine,
                       .m = called->extents.of[0],
                       .n = called->extents.of[1],
                       .k = called->extents.of[2],
                       .alpha = 1,
                       .beta = called->beta_is_zero ? 0 : 1};
    const char *letter = called->letters;
    const bool has_side = problem_has_side(&problem), has_triangle = problem_has_triangle(&problem);
    if (has_side)
        problem.right = *letter++ == 'R';
    if (has_side || has_triangle)
        problem.triangle = *letter++ == 'L' ? TB_LOWER : TB_UPPER;
    if (has_side && !problem_is_in_place(&problem))
        return problem;
    read_operation(*letter++, &problem.transpose_a, &problem.conjugate_a);
    if (problem_is_in_place(&problem))
        problem.unit_diagonal = *letter == 'U';
    else
        read_operation(*letter, &problem.transpose_b, &problem.conjugate_b);
    return problem;
}
