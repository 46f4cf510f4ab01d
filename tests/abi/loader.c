/* Opens modules RTLD_LOCAL, as Python opens its extensions, and runs the main that is in each.
 *
 *   loader MODULE ARGUMENT [MODULE ARGUMENT]...
 */
#include <dlfcn.h>
#include <stdio.h>

static int run(char *path, char *argument)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*run_main)(int, char **);
    if (!module || !(*(void **)&run_main = dlsym(module, "main"))) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    return run_main(2, (char *[]){path, argument, NULL});
}

int main(int argc, char **argv)
{
    int result = argc > 2 ? 0 : 2;
    for (int i = 1; i + 1 < argc; i += 2)
        result |= run(argv[i], argv[i + 1]);
    return result;
}
