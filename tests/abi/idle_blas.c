/* A library that has the names of a BLAS and computes nothing, as a forwarder does for names that its own library lacks.
 */
void cblas_sgemm(void);
void sgemm_(void);
int isamax_(const int *n);

void cblas_sgemm(void)
{
}

void sgemm_(void)
{
}

int isamax_(const int *n)
{
    return *n > 0;
}
