/* A library to be loaded. */
int loaded(void);

int loaded(void)
{
    return 0;
}
