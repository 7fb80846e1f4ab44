// One thread fills a table, and another one looks something up.
// The second one waits until the table is filled.
// Finds: nothing harmful
// The twin with the bug is nap.c.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static int entries[3];
static int *table;
static sem_t filled;

static void *look_up(void *unused) {
    sem_wait(&filled);
    printf("%d\n", table[1]);
    return unused;
}

static void *fill(void *unused) {
    for (int i = 0; i < 3; i++) entries[i] = i * i;
    table = entries;
    sem_post(&filled);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    if (sem_init(&filled, 0, 0) != 0) return 2;
    if (pthread_create(&threads[0], NULL, look_up, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, fill, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
