/* A driver that has two functions (older_driver.c). */
__attribute__((visibility("default"))) const int tb_older_libcuda = 1;

__attribute__((visibility("default"))) int cuInit(unsigned flags)
{
    return (int)flags;
}

__attribute__((visibility("default"))) int cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}
