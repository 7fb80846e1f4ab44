// Two cooks share an oven, a scale, a sink and a towel. The fixed twin of two_deadlocks.c: both take
// them in the same order.
#include <pthread.h>

static pthread_mutex_t oven = PTHREAD_MUTEX_INITIALIZER, scale = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t sink = PTHREAD_MUTEX_INITIALIZER, towel = PTHREAD_MUTEX_INITIALIZER;
static int meals, plates;

static void *careful(void *unused) {
    pthread_mutex_lock(&oven);
    pthread_mutex_lock(&scale);
    meals++;
    pthread_mutex_unlock(&scale);
    pthread_mutex_unlock(&oven);
    pthread_mutex_lock(&sink);
    pthread_mutex_lock(&towel);
    plates++;
    pthread_mutex_unlock(&towel);
    pthread_mutex_unlock(&sink);
    return unused;
}

static void *hasty(void *unused) {
    pthread_mutex_lock(&oven);
    pthread_mutex_lock(&scale);
    meals++;
    pthread_mutex_unlock(&scale);
    pthread_mutex_unlock(&oven);
    pthread_mutex_lock(&sink);
    pthread_mutex_lock(&towel);
    plates++;
    pthread_mutex_unlock(&towel);
    pthread_mutex_unlock(&sink);
    return unused;
}

int main(void) {
    pthread_t cooks[2];
    if (pthread_create(&cooks[0], NULL, careful, NULL) != 0) return 2;
    if (pthread_create(&cooks[1], NULL, hasty, NULL) != 0) return 2;
    for (int i = 0; i < 2; i++) pthread_join(cooks[i], NULL);
    return 0;
}
