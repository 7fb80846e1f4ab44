// Two threads read for long and write seldom: each adds up the rows of a table, again and again.
// That they look for long is no reason to let the other go first.
#include <pthread.h>
#include <stdio.h>

enum { ROWS = 100, COLUMNS = 600 };

static long table[ROWS][COLUMNS], sums[2][ROWS];

static void *add(void *part) {
    for (int row = 0; row < ROWS; row++) {
        long sum = 0;
        for (int column = 0; column < COLUMNS; column++) sum += table[row][column];
        sums[(long)part][row] = sum;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%ld\n", sums[0][0] + sums[1][ROWS - 1]);
    return 0;
}
