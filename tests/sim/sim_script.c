/* Settings of the simulated device, and the script of failures: which operation ends how. */
#include "tests/sim/sim.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SCRIPT_LINES 128

static const char *const operation_names[SIM_OPERATION_COUNT] = {
    [SIM_OPEN] = "open",     [SIM_MEMORY] = "memory", [SIM_ALLOCATE] = "allocate", [SIM_PINNED] = "pinned",
    [SIM_STREAM] = "stream", [SIM_EVENT] = "event",   [SIM_ORDER] = "order",       [SIM_WAIT] = "wait",
    [SIM_TELL] = "tell",     [SIM_COPY] = "copy",     [SIM_LAUNCH] = "launch",     [SIM_ANY] = "any",
};

typedef enum failure {
    FAIL_MEMORY,
    FAIL_UNSUPPORTED,
    FAIL_LOST,
    FAIL_FAULT,
    FAIL_HALF,
    FAILURE_COUNT
} failure;

static const char *const failure_names[FAILURE_COUNT] = {
    [FAIL_MEMORY] = "memory", [FAIL_UNSUPPORTED] = "unsupported",
    [FAIL_LOST] = "lost",     [FAIL_FAULT] = "fault",
    [FAIL_HALF] = "half",
};

typedef struct script_line {
    sim_operation operation;
    long number; /* counted from 1 */
    failure failure;
} script_line;

static sim_settings settings = {
    .devices = 1,
    .architecture = 90,
    .multiprocessors = 132,
    .memory_bytes = (size_t)1 << 30,
    .seed = 1,
    .speeds = {1, 1, 1, 1, 1, 1, 1, 1},
    .reach = true,
    .pageable = {true, true, true, true, true, true, true, true},
};
static script_line script[MAX_SCRIPT_LINES];
static atomic_int script_length; /* is set when the lines are there */

static atomic_long operations[SIM_OPERATION_COUNT];
static atomic_long failures[SIM_OPERATION_COUNT];
static atomic_bool lost[SIM_MAX_DEVICES];
static _Atomic(pid_t) owner; /* who used the driver first: a child of who has not may use it */

void sim_abort(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("simulated device: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    sim_abort("no operation or failure is called \"%s\"", name);
}

/* value is "copy:7=lost,allocate:3=memory", or empty for no failures. */
static void read_script(const char *value)
{
    int count = 0;
    script_length = 0;
    while (*value != '\0') {
        char operation[16], failure[16];
        long number;
        int length = 0;
        if (count == MAX_SCRIPT_LINES ||
            sscanf(value, "%15[a-z]:%ld=%15[a-z]%n", operation, &number, failure, &length) != 3)
            sim_abort("cannot read the script \"%s\"", value);
        script[count++] = (script_line){
            .operation = (sim_operation)find_name(operation_names, SIM_OPERATION_COUNT, operation),
            .number = number,
            .failure = (enum failure)find_name(failure_names, FAILURE_COUNT, failure),
        };
        value += length;
        value += *value == ',';
    }
    for (int operation = 0; operation < SIM_OPERATION_COUNT; operation++) {
        atomic_store(&operations[operation], 0);
        atomic_store(&failures[operation], 0);
    }
    script_length = count;
}

static void read_speeds(const char *value)
{
    for (int device = 0; device < SIM_MAX_DEVICES && *value != '\0'; device++) {
        char *end;
        settings.speeds[device] = strtod(value, &end);
        if (end == value || settings.speeds[device] <= 0 || settings.speeds[device] > 1)
            sim_abort("cannot read the speeds \"%s\"", value);
        value = end + (*end == ',');
    }
}

/* The last one holds for all devices that follow. */
static void read_pageable(const char *value)
{
    for (int device = 0; device < SIM_MAX_DEVICES; device++) {
        if ((value[0] != '0' && value[0] != '1') || (value[1] != ',' && value[1] != '\0'))
            sim_abort("cannot read what is pageable from \"%s\"", value);
        settings.pageable[device] = value[0] == '1';
        value += value[1] == ',' ? 2 : 0;
    }
}

static void apply(const char *name, const char *value)
{
    char *end = (char *)"";
    if (strcmp(name, "FAIL") == 0)
        read_script(value);
    else if (strcmp(name, "SPEEDS") == 0)
        read_speeds(value);
    else if (strcmp(name, "PAGEABLE") == 0)
        read_pageable(value);
    else if (strcmp(name, "DEVICES") == 0)
        settings.devices = (int)strtol(value, &end, 0);
    else if (strcmp(name, "HOST") == 0)
        settings.host = strtoull(value, &end, 0);
    else if (strcmp(name, "ARCHITECTURE") == 0)
        settings.architecture = (int)strtol(value, &end, 0);
    else if (strcmp(name, "MULTIPROCESSORS") == 0)
        settings.multiprocessors = (int)strtol(value, &end, 0);
    else if (strcmp(name, "MEMORY") == 0)
        settings.memory_bytes = strtoull(value, &end, 0);
    else if (strcmp(name, "LINK") == 0)
        settings.link = strtod(value, &end);
    else if (strcmp(name, "START") == 0)
        settings.start_seconds = 1e-6 * strtod(value, &end);
    else if (strcmp(name, "DELAY") == 0)
        settings.delay_seconds = 1e-6 * strtod(value, &end);
    else if (strcmp(name, "SEED") == 0)
        settings.seed = strtoull(value, &end, 0);
    else if (strcmp(name, "REACH") == 0)
        settings.reach = strtol(value, &end, 0) != 0;
    else if (strcmp(name, "REFUSE") == 0)
        settings.refuse = strtol(value, &end, 0) != 0;
    else if (strcmp(name, "STALE") == 0)
        settings.stale = strtol(value, &end, 0) != 0;
    else
        sim_abort("no setting is called %s", name);
    if (*end != '\0' || settings.devices < 0 || settings.devices > SIM_MAX_DEVICES)
        sim_abort("%s cannot be \"%s\"", name, value);
}

static void read_environment(void)
{
    static const char *const names[] = {
        "DEVICES", "HOST",   "ARCHITECTURE", "MULTIPROCESSORS", "MEMORY", "LINK",     "START", "DELAY",
        "SEED",    "SPEEDS", "REACH",        "REFUSE",          "STALE",  "PAGEABLE", "FAIL"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char variable[32];
        snprintf(variable, sizeof variable, "TILEBLAS_SIM_%s", names[i]);
        const char *value = getenv(variable);
        if (value != NULL)
            apply(names[i], value);
    }
}

const sim_settings *sim_get_settings(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_environment);
    return &settings;
}

void sim_set(const char *name, const char *value)
{
    sim_get_settings();
    apply(name, value);
}

bool sim_lost(int device)
{
    if (device != SIM_NO_DEVICE)
        return atomic_load(&lost[device]);
    for (int i = 0; i < settings.devices; i++)
        if (!atomic_load(&lost[i]))
            return false;
    return settings.devices > 0;
}

void sim_lose(int device)
{
    for (int i = 0; i < SIM_MAX_DEVICES; i++)
        if (i == device || device == SIM_NO_DEVICE)
            atomic_store(&lost[i], true);
}

/* The script's line for this operation, which is the number-th of its class and the any-th of all. */
static const script_line *find_line(sim_operation operation, long number, long any)
{
    for (int i = 0; i < script_length; i++) {
        const script_line *line = &script[i];
        if ((line->operation == operation && line->number == number) ||
            (line->operation == SIM_ANY && line->number == any))
            return line;
    }
    return NULL;
}

tb_status sim_attempt(int device, sim_operation operation, bool *fault)
{
    sim_get_settings();
    pid_t nobody = 0;
    if (!atomic_compare_exchange_strong(&owner, &nobody, getpid()) && nobody != getpid())
        sim_abort("operation \"%s\" in a forked child", operation_names[operation]);
    if (device != SIM_NO_DEVICE && (device < 0 || device >= settings.devices))
        sim_abort("there is no device %d", device);
    if (device != SIM_NO_DEVICE && operation != SIM_OPEN && !sim_is_open(device))
        sim_abort("device %d is used and was not opened", device);

    long number = 1 + atomic_fetch_add(&operations[operation], 1);
    long any = 1 + atomic_fetch_add(&operations[SIM_ANY], 1);
    if (sim_lost(device))
        return TB_DEVICE_LOST;

    const script_line *line = find_line(operation, number, any);
    if (line == NULL)
        return TB_OK;
    atomic_fetch_add(&failures[operation], 1);
    atomic_fetch_add(&failures[SIM_ANY], 1);
    if (line->failure == FAIL_MEMORY && operation != SIM_WAIT)
        return TB_OUT_OF_MEMORY;
    if (line->failure == FAIL_UNSUPPORTED && operation != SIM_WAIT)
        return TB_UNSUPPORTED;
    if (line->failure == FAIL_FAULT && fault != NULL) {
        *fault = true;
        return TB_OK;
    }
    if (line->failure == FAIL_HALF && fault != NULL) {
        *fault = true;
        return TB_OUT_OF_MEMORY;
    }
    sim_lose(device);
    return TB_DEVICE_LOST;
}

long sim_operations(const char *operation)
{
    return atomic_load(&operations[find_name(operation_names, SIM_OPERATION_COUNT, operation)]);
}

long sim_failures(const char *operation)
{
    return atomic_load(&failures[find_name(operation_names, SIM_OPERATION_COUNT, operation)]);
}
