/* program LIBRARY: loads a library by the name that it is given, leaves the folder, and has it read its code. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    union {
        void *address;
        int (*call)(void);
    } read_code;
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!library || !(read_code.address = dlsym(library, "read_code")) || chdir("/") != 0) {
        fprintf(stderr, "%s\n", library ? "read_code" : dlerror());
        return 4;
    }
    return read_code.call();
}
