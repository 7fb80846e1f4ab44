// A guard sleeps for a moment until the gate is open.
// Bug: it looks at the gate without the lock.
// Finds: race on is_open; none
// The twin is spin_nap_fixed.c.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_open;

static int look(void) {
    int seen = is_open;
    return seen;
}

static void *guard(void *argument) {
    while (!look()) usleep(50);
    return argument;
}

static void *open_gate(void *argument) {
    for (int i = 0; i < 3; i++) usleep(200);
    pthread_mutex_lock(&lock);
    is_open = 1;
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, guard, NULL);
    pthread_create(&threads[1], NULL, open_gate, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
