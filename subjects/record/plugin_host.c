// Loads a library, built like the program, while it runs; calls it, unloads it, loads it again.
// Events: `plugin_state` is written 3 by the first call and 4 by the second (it begins anew), by
// code in plugin.c.
#include <dlfcn.h>
#include <stdio.h>

static int call(const char *path, int by) {
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL) {
        puts(dlerror());
        return -1;
    }
    int (*run)(int);
    *(void **)&run = dlsym(library, "plugin_run");
    int result = run(by);
    dlclose(library);
    return result;
}

int main(int count, char **argument) {
    if (count < 2) return 2;
    printf("%d\n", call(argument[1], 2));
    printf("%d\n", call(argument[1], 3));
    return 0;
}
