// Three threads sit in a circle and each takes the lock on its left, then the one on its right.
#include <pthread.h>

static pthread_mutex_t forks[3] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER
};
static int seats[3] = { 0, 1, 2 };

static void take(int fork) {
    pthread_mutex_lock(&forks[fork]); // take
}

static void *eat(void *seat) {
    int mine = *(int *)seat;
    take(mine);           // left
    take((mine + 1) % 3); // right
    pthread_mutex_unlock(&forks[(mine + 1) % 3]);
    pthread_mutex_unlock(&forks[mine]);
    return NULL;
}

int main(void) {
    pthread_t thread[3];
    for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, eat, &seats[i]);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    return 0;
}
