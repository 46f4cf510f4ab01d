/* A library that has the names of a BLAS and computes nothing, as a forwarder does for names that its own library lacks.
 */
#define IDLE(name)                                                                                           \
    void name(void);                                                                                         \
    void name(void)                                                                                          \
    {                                                                                                        \
    }
IDLE(cblas_sgemm)
IDLE(sgemm_)
IDLE(cblas_dgemm)
IDLE(dgemm_)
IDLE(cblas_ssyrk)
IDLE(ssyrk_)
IDLE(cblas_sgemmt)
IDLE(sgemmt_)
IDLE(cblas_cgemm)
IDLE(cgemm_)
IDLE(cblas_ssymm)
IDLE(ssymm_)
IDLE(cblas_zhemm)
IDLE(zhemm_)
IDLE(cblas_strmm)
IDLE(strmm_)
IDLE(cblas_ztrsm)
IDLE(ztrsm_)

int isamax_(const int *n);
int isamax_(const int *n)
{
    return *n > 0;
}
