/* A name whose function its object chooses when the dynamic linker asks (STT_GNU_IFUNC). Compiled together with a fixture_blas.c,
 * which has the function under another name.
 */
void chosen_sgemm_(void);

static void (*choose_sgemm(void))(void)
{
    return chosen_sgemm_;
}

void sgemm_(void) __attribute__((ifunc("choose_sgemm")));
