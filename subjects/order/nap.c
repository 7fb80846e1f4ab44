// One thread fills a table, and another one looks something up.
// Bug: the second one sleeps for a second, in the hope that the table is filled by then.
// Finds: order on table; signal
// The twin is nap_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int entries[3];
static int *table;

static void *look_up(void *unused) {
    sleep(1);
    printf("%d\n", table[1]);
    return unused;
}

static void *fill(void *unused) {
    for (int i = 0; i < 3; i++) entries[i] = i * i;
    table = entries;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, look_up, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, fill, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
