// Five philosophers sit around a table, with a fork between each two of them.
// Bug: each takes the left fork first. If all have taken it, nobody ever gets a right one.
// Finds: deadlock on forks; deadlock
// The twin is philosophers_fixed.c.
#include <pthread.h>
#include <stdio.h>

enum { SEATS = 5 };

static pthread_mutex_t forks[SEATS];
static int meals[SEATS];

static void *dine(void *seat) {
    int left = (int)(long)seat, right = (left + 1) % SEATS;
    pthread_mutex_lock(&forks[left]);
    pthread_mutex_lock(&forks[right]);
    meals[left]++;
    pthread_mutex_unlock(&forks[right]);
    pthread_mutex_unlock(&forks[left]);
    return NULL;
}

int main(void) {
    pthread_t philosophers[SEATS];
    for (int i = 0; i < SEATS; i++) pthread_mutex_init(&forks[i], NULL);
    for (long i = 0; i < SEATS; i++)
        if (pthread_create(&philosophers[i], NULL, dine, (void *)i) != 0) return 2;
    int eaten = 0;
    for (int i = 0; i < SEATS; i++) {
        pthread_join(philosophers[i], NULL);
        eaten += meals[i];
    }
    printf("meals: %d\n", eaten);
    return 0;
}
