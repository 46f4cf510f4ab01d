/* A library that calls what is not there: a name that is undefined, which the dynamic linker finds out when it is called
 * as the library is bound lazily, and one that TileBLAS exports and nobody has. For missing.c.
 */
void name_that_nobody_defines(void);
int idamin_(const int *n, const double *x, const int *increment);

void call_name_that_nobody_defines(void);
void call_name_that_nobody_answers(void);

void call_name_that_nobody_defines(void)
{
    name_that_nobody_defines();
}

void call_name_that_nobody_answers(void)
{
    const int one = 1;
    const double x = 1;
    int position = idamin_(&one, &x, &one);
    (void)position;
}
