/* Evidence: the program's file, for programs that no library can be preloaded into; and what each process reported
 * at its end, the objects it had loaded and what their references to matrix products were bound to.
 */
#include "tools/diagnosis.h"

#include "lib/reports/bindings.h"
#include "lib/reports/summary.h"
#include "tools/program_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void say(diagnosis *diagnosis, const char *format, ...)
{
    if (diagnosis->count == DIAGNOSIS_MOST)
        return;
    char *sentence = diagnosis->sentences[diagnosis->count];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof diagnosis->sentences[0], format, arguments);
    va_end(arguments);
    for (int i = 0; i < diagnosis->count; i++)
        if (strcmp(diagnosis->sentences[i], sentence) == 0)
            return;
    diagnosis->count++;
}

/* ---- The library was not loaded ----------------------------------------------------------------------- */

static void why_not_loaded(const char *program, diagnosis *diagnosis)
{
    program_file file;
    if (!program_inspect(program, &file)) {
        say(diagnosis, "the library was not loaded into %s, whose file cannot be read", program);
        return;
    }
    if (file.has_raised_rights)
        say(diagnosis,
            "%s runs with more rights than its caller (set-uid, set-gid or capabilities): "
            "the dynamic linker preloads nothing into it",
            file.path);
    if (file.is_foreign)
        say(diagnosis, "%s is built for another architecture than TileBLAS", file.path);
    else if (file.is_elf && file.is_static)
        say(diagnosis, "%s is linked statically: no library can be preloaded into it%s", file.path,
            file.holds_gemm ? "; it holds its own GEMM, of a static BLAS" : "");
    if (diagnosis->count == 0)
        say(diagnosis, "the library was not loaded into %s", program);
}

/* ---- It was, and nothing arrived ---------------------------------------------------------------------- */

/* An object is inspected once, however many processes had it. */
typedef struct object {
    struct object *next;
    bool is_inspected, is_tileblas;
    program_file file;
    char path[];
} object;

/* A file of a stranger may name any number of them. */
enum { OBJECTS_MOST = 4096 };

typedef struct findings {
    object *objects;
    int count;
    bool refers_to_ours, holds_own, has_blas;
} findings;

/* NULL when there are too many already, or memory is out. */
static object *find_object(findings *findings, const char *path)
{
    for (object *object = findings->objects; object; object = object->next)
        if (strcmp(object->path, path) == 0)
            return object;
    object *object = findings->count < OBJECTS_MOST ? calloc(1, sizeof *object + strlen(path) + 1) : NULL;
    if (!object)
        return NULL;
    strcpy(object->path, path);
    object->next = findings->objects;
    findings->objects = object;
    findings->count++;
    return object;
}

static const program_file *inspect(findings *findings, const char *path)
{
    object *object = find_object(findings, path);
    if (object && !object->is_inspected && !program_inspect(path, &object->file))
        object->file = (program_file){.is_elf = false};
    if (object)
        object->is_inspected = true;
    return object ? &object->file : NULL;
}

static bool is_blas(findings *findings, const char *path)
{
    const program_file *file = inspect(findings, path);
    return file && file->exports_gemm;
}

/* Whether a TileBLAS that reported lies in the file. */
static bool is_tileblas(findings *findings, const char *path)
{
    const object *object = find_object(findings, path);
    return object && object->is_tileblas;
}

static void note_tileblas(const report *report, findings *findings)
{
    for (size_t i = 0; i < report->event_count; i++) {
        const char *path = json_text_of(report->events[i].value, "library");
        object *object = *path ? find_object(findings, path) : NULL;
        if (object)
            object->is_tileblas = true;
    }
}

/* References bound to somebody else's GEMM: what was opened RTLD_DEEPBIND finds its own dependencies first. A BLAS
 * that calls itself is no news. */
static void look_at_references(const json_value *event, findings *findings, diagnosis *diagnosis)
{
    const json_value *gemm = json_member(event, "gemm");
    for (const json_value *reference = gemm ? gemm->first : NULL; reference; reference = reference->next) {
        const char *object = json_text_of(reference, "object"), *bound = json_text_of(reference, "bound"),
                   *name = json_text_of(reference, "name");
        if (is_tileblas(findings, object) || is_blas(findings, object))
            continue;
        findings->refers_to_ours = true;
        if (*bound && !is_tileblas(findings, bound))
            say(diagnosis,
                "%s is bound to %s in %s, past what is preloaded: it was opened with RTLD_DEEPBIND, "
                "or another preloaded library comes first",
                object, name, bound);
    }
}

static void look_at_objects(const json_value *event, findings *findings, diagnosis *diagnosis)
{
    const json_value *objects = json_member(event, "objects");
    bool is_program = true;
    for (const json_value *object = objects ? objects->first : NULL; object; object = object->next) {
        const program_file *file = object->text ? inspect(findings, object->text) : NULL;
        if (file && file->holds_gemm && !is_tileblas(findings, object->text)) {
            if (file->exports_gemm && !is_program)
                findings->has_blas = true;
            else
                findings->holds_own = true;
            if (is_program || !file->exports_gemm)
                say(diagnosis, "%s holds its own GEMM: a BLAS is linked into it statically", object->text);
        }
        is_program = false;
    }
}

static void conclude(const findings *findings, diagnosis *diagnosis)
{
    if (findings->refers_to_ours)
        say(diagnosis, "a product that TileBLAS takes over is referred to, but was not called");
    else if (findings->has_blas)
        say(diagnosis,
            "a BLAS was loaded, but nothing refers to its GEMM by name: calls through pointers from "
            "dlsym cannot be taken over");
    else if (!findings->holds_own)
        say(diagnosis, "no BLAS was loaded");
}

void diagnose(const char *program, const report *report, diagnosis *diagnosis)
{
    diagnosis->count = 0;
    if (!report->was_loaded) {
        why_not_loaded(program, diagnosis);
        return;
    }
    /* Where some calls arrived, only what passed them by is worth a word. */
    bool none_arrived = tb_count_of_calls(&report->counts) == 0;
    findings findings = {0};
    note_tileblas(report, &findings);
    for (size_t i = 0; i < report->event_count; i++) {
        look_at_references(report->events[i].value, &findings, diagnosis);
        if (none_arrived)
            look_at_objects(report->events[i].value, &findings, diagnosis);
    }
    if (none_arrived && diagnosis->count == 0 && report->processes > 0)
        conclude(&findings, diagnosis);
    while (findings.objects) {
        object *next = findings.objects->next;
        free(findings.objects);
        findings.objects = next;
    }
}
