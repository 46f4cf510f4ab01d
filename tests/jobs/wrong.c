/* A BLAS of one routine, which computes nothing: a job on it has to notice. */
extern void dpotrf_(void);

void dpotrf_(void)
{
}
