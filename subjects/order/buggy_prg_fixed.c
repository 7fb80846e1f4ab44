// The twin of buggy_prg.c: users enter numbers in a history that a janitor throws away in the end. The
// janitor begins when all users have ended.
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

static void *user(void *argument) {
    unsigned seed = *(unsigned *)argument;
    pthread_mutex_lock(&lock);
    struct history *mine = history;
    mine->entries[mine->count] = seed * 1103515245u + 12345u;
    mine->count++;
    pthread_mutex_unlock(&lock);
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
    pthread_t users[USERS], last;
    unsigned seeds[USERS] = { 7, 11 };
    for (int i = 0; i < USERS; i++) {
        if (pthread_create(&users[i], NULL, user, &seeds[i]) != 0) return 2;
    }
    for (int i = 0; i < USERS; i++) pthread_join(users[i], NULL);
    if (pthread_create(&last, NULL, janitor, NULL) != 0) return 2;
    pthread_join(last, NULL);
    printf("entries: %d\n", first.count);
    return 0;
}
