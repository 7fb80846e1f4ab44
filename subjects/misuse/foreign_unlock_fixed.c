// A door is locked by a visitor, and unlocked when the visitor leaves; the host checks the door.
// The host checks the door after the visitor has left.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static int locked, visits;

static void leave(void) {
    pthread_mutex_lock(&state);
    int open = locked;
    locked = 0;
    pthread_mutex_unlock(&state);
    if (open) pthread_mutex_unlock(&door);
}

static void *visit(void *unused) {
    pthread_mutex_lock(&door);
    pthread_mutex_lock(&state);
    locked = 1;
    pthread_mutex_unlock(&state);
    visits++;
    leave();
    return unused;
}

int main(void) {
    pthread_t visitor;
    if (pthread_create(&visitor, NULL, visit, NULL) != 0) return 2;
    pthread_join(visitor, NULL);
    leave();
    printf("%d\n", visits);
    return 0;
}
