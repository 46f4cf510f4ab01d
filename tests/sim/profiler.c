/* A profiler of the smallest kind, which NVTX loads as it loads Nsight Systems: it keeps the names of the ranges that
 * the domain TileBLAS opens, and how many are open. ranges.c asks for both.
 */
#include <nvtx3/nvToolsExt.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANGES_MOST = 64, NAME_SIZE = 128 };
static char names[RANGES_MOST][NAME_SIZE];
static atomic_int opened;
static _Thread_local int open_now; /* of the thread's */

int profiler_opened(void)
{
    return atomic_load(&opened);
}

const char *profiler_name(int number)
{
    return names[number % RANGES_MOST];
}

int profiler_open_now(void)
{
    return open_now;
}

static nvtxDomainHandle_t NVTX_API create_domain(const char *name)
{
    static char domain;
    return strcmp(name, "TileBLAS") == 0 ? (nvtxDomainHandle_t)(void *)&domain : NULL;
}

static int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    (void)domain;
    const int number = atomic_fetch_add(&opened, 1);
    snprintf(names[number % RANGES_MOST], NAME_SIZE, "%s", attributes->message.ascii);
    return open_now++;
}

static int NVTX_API pop(nvtxDomainHandle_t domain)
{
    (void)domain;
    return --open_now;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
    const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table;
    unsigned int size = 0;
    if (getenv("PROFILER_SAYS"))
        fputs("a profiler was loaded\n", stderr);
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) ||
        size <= NVTX_CBID_CORE2_DomainCreateA)
        return 0;
    *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create_domain;
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
    return 1;
}
