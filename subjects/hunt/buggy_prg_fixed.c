// The twin of buggy_prg.c: users draw numbers and enter them in a history that a janitor throws
// away. Whether there is a history is looked up under the lock under which it is used.
// Finds: nothing harmful
#include <pthread.h>
#include <stdio.h>

enum { ROOM = 8, USERS = 2 };

struct history {
    int count;
    unsigned entries[ROOM];
};

static struct history first;
static struct history *history = &first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned draw(unsigned seed) {
    return seed * 1103515245u + 12345u;
}

static void enter(unsigned number) {
    pthread_mutex_lock(&lock);
    if (history != NULL) {
        history->entries[history->count] = number;
        history->count++;
    }
    pthread_mutex_unlock(&lock);
}

static void *user(void *seed) {
    enter(draw(*(unsigned *)seed));
    return NULL;
}

static void *janitor(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    history = NULL;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[USERS + 1];
    unsigned seeds[USERS] = { 7, 11 };
    for (int i = 0; i < USERS; i++) {
        if (pthread_create(&threads[i], NULL, user, &seeds[i]) != 0) return 2;
    }
    if (pthread_create(&threads[USERS], NULL, janitor, NULL) != 0) return 2;
    for (int i = 0; i <= USERS; i++) pthread_join(threads[i], NULL);
    printf("entries: %d\n", first.count);
    return 0;
}
