// 300 threads at once: each waits at a barrier that opens when all are there.
// Events: 300 threads, each with one enter and one leave of the barrier and a write to its cell.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define COUNT 300

static pthread_barrier_t barrier;
static int cell[COUNT];

static void *meet(void *number) {
    pthread_barrier_wait(&barrier);
    cell[(intptr_t)number] = 1;
    return NULL;
}

int main(void) {
    pthread_t thread[COUNT];
    int sum = 0;
    pthread_barrier_init(&barrier, NULL, COUNT);
    for (intptr_t i = 0; i < COUNT; i++) pthread_create(&thread[i], NULL, meet, (void *)i);
    for (int i = 0; i < COUNT; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < COUNT; i++) sum += cell[i];
    printf("%d\n", sum);
    return 0;
}
