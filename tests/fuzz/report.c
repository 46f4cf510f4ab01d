/* `tileblas show` and what `tileblas run` makes of its program's reports: the sums, the page, the remarks. */
#include "lib/reports/summary.h"
#include "tests/fuzz/fuzz.h"
#include "tools/diagnosis.h"
#include "tools/page.h"

#include <fcntl.h>

static int nowhere;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_silence();
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static diagnosis why;
    report report;
    if (!report_read(fuzz_file(data, size), &report))
        abort();
    diagnose("/nonexistent", &report, &why);
    char program[] = "program", *words[] = {program, NULL};
    page_write(NULL, words, &report, report_entered(&report, 1) ? "it has ended" : "", &why);
    tb_write_summary(nowhere, &report.counts);
    report_free(&report);
    return 0;
}
