// Threads that create threads, all at once.
// Events: whatever the schedule, T0.1 writes who[1], T0.2 who[2], T0.1.1 who[3], T0.1.2 who[4],
// T0.1.1.1 who[5], T0.2.1 who[6]; each is joined by its creator.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static int who[7];
static const int children[7][2] = { { 1, 2 }, { 3, 4 }, { 6 }, { 5 } };

static void *run(void *argument) {
    int number = (int)(intptr_t)argument;
    pthread_t thread[2];
    int count = 0;
    for (; count < 2 && children[number][count] != 0; count++)
        pthread_create(&thread[count], NULL, run, (void *)(intptr_t)children[number][count]);
    who[number] = number;
    for (int i = 0; i < count; i++) pthread_join(thread[i], NULL);
    return NULL;
}

int main(void) {
    run(NULL);
    for (int i = 0; i < 7; i++) printf("%d", who[i]);
    puts("");
    return 0;
}
