// The twin of two_locks.c: a cook and a baker share an oven and a scale.
// Both take the oven first.
// Finds: nothing harmful
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t oven = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t scale = PTHREAD_MUTEX_INITIALIZER;
static int meals;

static void *cook(void *unused) {
    pthread_mutex_lock(&oven);
    pthread_mutex_lock(&scale);
    meals++;
    pthread_mutex_unlock(&scale);
    pthread_mutex_unlock(&oven);
    return unused;
}

static void *bake(void *unused) {
    pthread_mutex_lock(&oven);
    pthread_mutex_lock(&scale);
    meals++;
    pthread_mutex_unlock(&scale);
    pthread_mutex_unlock(&oven);
    return unused;
}

int main(void) {
    pthread_t cooks, bakes;
    if (pthread_create(&cooks, NULL, cook, NULL) != 0) return 2;
    if (pthread_create(&bakes, NULL, bake, NULL) != 0) return 2;
    pthread_join(cooks, NULL);
    pthread_join(bakes, NULL);
    printf("meals: %d\n", meals);
    return 0;
}
