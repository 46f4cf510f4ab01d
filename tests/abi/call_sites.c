/* More call sites than the library remembers, from several threads: each must find the same host. The sites
 * are made-up addresses, so this program is linked from the library's own objects.
 */
#include "compat/host_blas.h"
#include "tests/check.h"

#include <pthread.h>

enum { THREADS = 4, SITES = 20000 };

static void *find_hosts(void *target)
{
    for (uintptr_t site = 1; site <= SITES; site++)
        for (int again = 0; again < 2; again++) {
            const tb_host_blas *cblas = tb_find_host_blas(TB_SPELLING_cblas_sgemm, (void *)(site * 16));
            const tb_host_blas *fortran = tb_find_host_blas(TB_SPELLING_sgemm_, (void *)(site * 16));
            if (!CHECK(cblas->address == target && !cblas->nested, "site %ju: another host", site) ||
                !CHECK(fortran->spelling == TB_SPELLING_sgemm_, "site %ju: another spelling", site))
                return NULL;
        }
    return NULL;
}

int main(void)
{
    void *target = tb_find_host_blas(TB_SPELLING_cblas_sgemm, (void *)&find_hosts)->address;
    CHECK(target, "the program's own BLAS is not found");
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, find_hosts, target);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return check_result();
}
