/* A folder of the test's own for claims of devices, in place of the user's; where the test runs, which is the build's folder. */
#ifndef TEST_RUNTIME_FOLDER_H
#define TEST_RUNTIME_FOLDER_H

#include "tests/check.h"

#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct runtime_folder {
    char path[PATH_MAX];
} runtime_folder;

static inline runtime_folder make_runtime_folder(void)
{
    static const char name[] = "/runtime-XXXXXX";
    runtime_folder folder;
    if (!getcwd(folder.path, sizeof folder.path - sizeof name) || !mkdtemp(strcat(folder.path, name)))
        SKIP("no folder can be made here");
    setenv("XDG_RUNTIME_DIR", folder.path, 1);
    return folder;
}

static inline int remove_one(const char *path, const struct stat *found, int kind, struct FTW *where)
{
    (void)found, (void)kind, (void)where;
    return remove(path);
}

static inline void remove_runtime_folder(const runtime_folder *folder)
{
    CHECK(nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0, "%s stays", folder->path);
}

#endif
