/* A fuzzer of one process that any machine with GCC has: mutates the inputs of a corpus, and keeps those by
 * which the parser comes to code that no input came to before. The same seed makes the same inputs.
 *
 *     fuzz_TARGET CORPUS [SECONDS]     every file of the folder, and mutations of them for so long
 *     fuzz_TARGET FILE                 one input, such as that by which it ended
 *
 * What it was about when it ended, however that was, is in fuzz_TARGET.input where it runs.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>

enum { SIZE_MOST = 1 << 14, POOL_MOST = 4096, PLACES = 1 << 16, HANG_SECONDS = 20 };

typedef struct input {
    size_t size;
    uint8_t *bytes;
} input;

static input pool[POOL_MOST];
static int pool_count;
static check_random draw;

/* ---- Code that was come to ----------------------------------------------------------------------------- */

extern const char __executable_start[];
static uint8_t seen[PLACES];
static int seen_count;

/* What GCC's -fsanitize-coverage=trace-pc calls in each block of the parsers. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    const uintptr_t place = (uintptr_t)__builtin_return_address(0) - (uintptr_t)__executable_start;
    uint8_t *const block = &seen[(place ^ place >> 16) % PLACES];
    seen_count += *block == 0;
    *block = 1;
}

/* ---- Mutations ----------------------------------------------------------------------------------------- */

static size_t below(size_t count)
{
    return (size_t)check_between(&draw, 0, (int64_t)count - 1);
}

/* Puts bytes in the place of length others, as far as there is room. */
static void replace(input *input, size_t at, size_t length, const void *with, size_t count)
{
    if (input->size - length + count > SIZE_MOST)
        return;
    memmove(input->bytes + at + count, input->bytes + at + length, input->size - at - length);
    memcpy(input->bytes + at, with, count);
    input->size = input->size - length + count;
}

/* Another number for one that is written in digits. */
static void change_number(input *input)
{
    static const char *const numbers[] = {"0",
                                          "-1",
                                          "1",
                                          "255",
                                          "1e300",
                                          "-1e300",
                                          "1e-320",
                                          "0.5",
                                          "2147483648",
                                          "-2147483649",
                                          "1e5",
                                          "1e18",
                                          "1e19",
                                          "1e999",
                                          "nan",
                                          "inf",
                                          "1048577",
                                          "4294967296",
                                          "9223372036854775807",
                                          "9223372036854775808"};
    const size_t start = below(input->size);
    size_t at = start, end;
    while (at < input->size && (input->bytes[at] < '0' || input->bytes[at] > '9'))
        at++;
    for (end = at; end < input->size && strchr("0123456789.eE+-", input->bytes[end]); end++)
        ;
    const char *number = CHECK_PICK(&draw, numbers);
    if (end > at)
        replace(input, at, end - at, number, strlen(number));
}

/* Another whole number for one that lies there in binary. */
static void change_integer(input *input)
{
    static const uint64_t integers[] = {0,         1,          2,          0x7f,       0x80,
                                        0xff,      0xffff,     0x7fffffff, 0x80000000, 0xffffffff,
                                        INT64_MAX, UINT64_MAX, 64,         4096};
    const uint64_t integer = CHECK_PICK(&draw, integers);
    const size_t length = (size_t)1 << below(4);
    if (input->size >= length)
        memcpy(input->bytes + below(input->size - length + 1), &integer, length);
}

static void change_byte(input *input)
{
    uint8_t *byte = &input->bytes[below(input->size)];
    static const char marks[] = "\"{}[],:\\\n\0 \x1b\xc2\x9b\x80-u";
    if (below(2) == 0)
        *byte ^= (uint8_t)(1 << below(8));
    else
        *byte = (uint8_t)CHECK_PICK(&draw, marks);
}

/* A piece once more, a piece of another input, or none in its place. */
static void change_piece(input *input)
{
    const struct input *other = below(2) == 0 ? input : &pool[below((size_t)pool_count)];
    uint8_t copied[SIZE_MOST];
    if (other->size == 0)
        return;
    const size_t from = below(other->size), most = other->size - from;
    const size_t count = below(3) == 0 ? 0 : 1 + below(below(2) == 0 && most > 32 ? 32 : most);
    const size_t at = below(input->size), length = below(2) == 0 ? 0 : below(input->size - at);
    memcpy(copied, other->bytes + from, count);
    replace(input, at, length, copied, count);
}

static void mutate(input *input)
{
    static void (*const mutations[])(struct input *) = {change_number, change_number, change_integer,
                                                        change_byte, change_piece};
    for (size_t times = 1 + below(6); times > 0 && input->size > 0; times--)
        CHECK_PICK(&draw, mutations)(input);
}

/* ---- Running ------------------------------------------------------------------------------------------- */

static int last_file = -1;

static void try(const input *input)
{
    /* The copy is of exactly its size, so that the sanitizer sees what is read behind it. */
    uint8_t *copy = malloc(input->size > 0 ? input->size : 1);
    if (!copy || pwrite(last_file, input->bytes, input->size, 0) != (ssize_t)input->size ||
        ftruncate(last_file, (off_t)input->size) != 0)
        abort();
    memcpy(copy, input->bytes, input->size);
    alarm(HANG_SECONDS);
    LLVMFuzzerTestOneInput(copy, input->size);
    free(copy);
}

static void keep(const input *input)
{
    if (pool_count == POOL_MOST)
        return;
    pool[pool_count] = (struct input){input->size, malloc(SIZE_MOST)};
    if (!pool[pool_count].bytes)
        abort();
    memcpy(pool[pool_count++].bytes, input->bytes, input->size);
}

static void read_input(const char *path)
{
    uint8_t bytes[SIZE_MOST];
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = read(file, bytes, sizeof bytes);
    close(file);
    if (size >= 0)
        keep(&(input){(size_t)size, bytes});
}

/* Files are read in the order of their names, which is the same everywhere. */
static void read_corpus(const char *path)
{
    struct dirent **entries;
    const int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char file[PATH_MAX];
        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            read_input(file);
        free(entries[i]);
    }
    if (count < 0)
        read_input(path);
    else
        free(entries);
}

static long run_mutations(time_t end)
{
    uint8_t bytes[SIZE_MOST];
    long runs = 0;
    for (; time(NULL) < end; runs++) {
        const input *parent = &pool[below((size_t)pool_count)];
        input child = {parent->size, bytes};
        memcpy(bytes, parent->bytes, parent->size);
        mutate(&child);
        const int before = seen_count;
        try(&child);
        if (seen_count > before)
            keep(&child);
    }
    return runs;
}

int main(int argc, char **argv)
{
    char last[PATH_MAX];
    if (argc < 2)
        return EXIT_FAILURE;
    draw.state = check_seed();
    const char *name = strrchr(argv[0], '/');
    snprintf(last, sizeof last, "%s.input", name ? name + 1 : argv[0]);
    printf("the input under test is in %s\n", last);
    fflush(stdout);
    last_file = open(last, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    LLVMFuzzerInitialize(&argc, &argv);
    read_corpus(argv[1]);
    const int given = pool_count;
    for (int i = 0; i < given; i++)
        try(&pool[i]);
    const long runs = argc > 2 && given > 0 ? run_mutations(time(NULL) + strtol(argv[2], NULL, 10)) : 0;
    alarm(0);
    unlink(last);
    dprintf(STDERR_FILENO, "%d inputs, %ld mutations, of which %d came to something new; %d blocks\n", given,
            runs, pool_count - given, seen_count);
    for (int i = 0; i < pool_count; i++)
        free(pool[i].bytes);
    return given > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
