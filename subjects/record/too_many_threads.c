// More threads at once than there is room for: all wait at a barrier that opens when they are there.
// Then the first thread handles a signal, jumps out of the handler, and writes to `after`.
// Events: of the threads that found room a write to their cells, and a fork and a join for each of
// them; of the others none. No handler.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#define COUNT 4200

static pthread_barrier_t barrier, all_wrote;
static int cell[COUNT], handled, after;
static sigjmp_buf back;

static void *meet(void *number) {
    pthread_barrier_wait(&barrier);
    cell[(intptr_t)number] = 1;
    pthread_barrier_wait(&all_wrote);
    return NULL;
}

static void handle(int signal) {
    handled = signal;
    siglongjmp(back, 1);
}

int main(void) {
    static pthread_t thread[COUNT];
    pthread_attr_t small;
    int sum = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    pthread_barrier_init(&barrier, NULL, COUNT + 1);
    pthread_barrier_init(&all_wrote, NULL, COUNT + 1);
    for (intptr_t i = 0; i < COUNT; i++)
        if (pthread_create(&thread[i], &small, meet, (void *)i)) return 2;
    signal(SIGUSR1, handle);
    if (!sigsetjmp(back, 1)) raise(SIGUSR1);
    after = 1;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&all_wrote);
    for (int i = 0; i < COUNT; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < COUNT; i++) sum += cell[i];
    printf("%d %d\n", sum, handled);
    return 0;
}
