/* A library whose constructor waits for a thread of the program's, having the dynamic linker's lock. */
void multiply_beside(void);

__attribute__((constructor)) static void wait_for_program(void)
{
    multiply_beside();
}
