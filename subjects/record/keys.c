// Thread-specific data whose destructors touch memory, one of them in a second round.
// Events: T0 initialises the keys; T0.1 writes 1 to `first`, then, when it has returned, the
// destructor writes 2 to `first`, and in the second round 3; only then does it end.
#include <pthread.h>
#include <stdio.h>

static pthread_key_t key, again;
static int first = 0;

static void second_round(void *value) {
    *(int *)value = 3;
}

static void destroy(void *value) {
    *(int *)value = 2;
    pthread_setspecific(again, value);
}

static void *run(void *unused) {
    first = 1;
    pthread_setspecific(key, &first);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_key_create(&again, second_round);
    pthread_key_create(&key, destroy);
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    pthread_key_delete(key);
    pthread_key_delete(again);
    printf("%d\n", first);
    return 0;
}
