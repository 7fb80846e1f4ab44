// Two threads that only write memory, each its own: what a switch between them costs.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int rounds;
static int cell[2][1024];

static void *work(void *own) {
    int *mine = own;
    for (int i = 0; i < rounds; i++) mine[i & 1023] = i;
    return NULL;
}

int main(int count, char **argument) {
    pthread_t thread[2];
    rounds = count > 1 ? atoi(argument[1]) : 1000;
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, work, cell[i]);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    printf("%d\n", cell[0][(rounds - 1) & 1023]);
    return 0;
}
