// 6,000 threads, one after another, each on a stack of its own, so that no handle comes twice.
// Events: 6,000 forks and as many joins.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#define COUNT 6000
#define SIZE (64 << 10)

static int total;

static void *add(void *unused) {
    total++;
    return unused;
}

int main(void) {
    char *stacks = mmap(NULL, (size_t)COUNT * SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) return 1;
    for (size_t i = 0; i < COUNT; i++) {
        pthread_t thread;
        pthread_attr_t own;
        pthread_attr_init(&own);
        pthread_attr_setstack(&own, stacks + i * SIZE, SIZE);
        if (pthread_create(&thread, &own, add, NULL) != 0) return 2;
        pthread_join(thread, NULL);
        pthread_attr_destroy(&own);
        madvise(stacks + i * SIZE, SIZE, MADV_DONTNEED);
    }
    printf("%d\n", total);
    return 0;
}
