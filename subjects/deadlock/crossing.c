// Trains go down from north to south and up from south to north, over one crossing.
// Bug: only those that go down lock the crossing as a whole before they lock its halves.
// Finds: deadlock on north, south; deadlock
// The twin is crossing_fixed.c.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t crossing = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t north = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t south = PTHREAD_MUTEX_INITIALIZER;
static int trains;

static void *down(void *unused) {
    pthread_mutex_lock(&crossing);
    pthread_mutex_lock(&north);
    pthread_mutex_lock(&south);
    trains++;
    pthread_mutex_unlock(&south);
    pthread_mutex_unlock(&north);
    pthread_mutex_unlock(&crossing);
    return unused;
}

static void *up(void *unused) {
    pthread_mutex_lock(&south);
    pthread_mutex_lock(&north);
    trains++;
    pthread_mutex_unlock(&north);
    pthread_mutex_unlock(&south);
    return unused;
}

int main(void) {
    pthread_t downs, ups;
    if (pthread_create(&downs, NULL, down, NULL) != 0) return 2;
    if (pthread_create(&ups, NULL, up, NULL) != 0) return 2;
    pthread_join(downs, NULL);
    pthread_join(ups, NULL);
    printf("trains: %d\n", trains);
    return 0;
}
