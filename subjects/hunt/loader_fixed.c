// The twin of loader.c: a loader makes a table; a user, who is started later and has something else
// to do first, looks numbers up in it. The user waits until the table is there.
// Finds: nothing harmful
#include <pthread.h>
#include <stdio.h>

enum { SIZE = 4, WORK = 20000000 };

static int numbers[SIZE];
static int *table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t loaded = PTHREAD_COND_INITIALIZER;

static void *load(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SIZE; i++) numbers[i] = i * i;
    table = numbers;
    pthread_cond_broadcast(&loaded);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Has no effect on anybody else. */
static unsigned prepare(void) {
    unsigned mixed = 1;
    for (unsigned i = 0; i < WORK; i++) mixed = mixed * 31 + i;
    return mixed;
}

static void *use(void *sum) {
    unsigned mixed = prepare();
    pthread_mutex_lock(&lock);
    while (table == NULL) pthread_cond_wait(&loaded, &lock);
    pthread_mutex_unlock(&lock);
    *(int *)sum = table[mixed % SIZE] + table[SIZE - 1];
    return NULL;
}

int main(void) {
    pthread_t loader, user;
    int sum = 0;
    if (pthread_create(&loader, NULL, load, NULL) != 0) return 2;
    if (pthread_create(&user, NULL, use, &sum) != 0) return 2;
    pthread_join(loader, NULL);
    pthread_join(user, NULL);
    printf("sum: %d\n", sum);
    return 0;
}
