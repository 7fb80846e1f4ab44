// The twin of mixed.c: T0.1 loads the table and says so in one critical section. No request is ever
// answered from an empty table: it never fails.
#undef NDEBUG
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int mixed_note(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static int requests[2];
static int loaded, table, answer;

static void *load(void *unused) {
    printf("load: note %d\n", mixed_note());
    pthread_mutex_lock(&lock);
    loaded = 1; /* A1 */
    table = 42; /* A2 */
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *request(void *unused) {
    struct timespec moment = { 0, 5000000 };
    nanosleep(&moment, NULL);                     /* B1 */
    if (write(requests[1], "?", 1) != 1) exit(2); /* B2 */
    printf("request: note %d\n", mixed_note());
    return unused;
}

static void *reply(void *unused) {
    struct pollfd pipe_end = { .fd = requests[0], .events = POLLIN, .revents = 0 };
    while (poll(&pipe_end, 1, 10) == 0) continue; /* C1 */
    char byte;
    if (read(requests[0], &byte, 1) != 1) exit(2);
    printf("reply: note %d\n", mixed_note());
    pthread_mutex_lock(&lock);
    int found = -1;
    if (loaded) {
        found = table; /* C2 */
    }
    answer = found;
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&lock);
    assert(found != 0);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    if (pipe(requests) != 0) return 2;
    if (pthread_create(&threads[0], NULL, load, NULL) != 0) return 2;
    if (pthread_create(&threads[1], NULL, request, NULL) != 0) return 2;
    if (pthread_create(&threads[2], NULL, reply, NULL) != 0) return 2;
    pthread_mutex_lock(&lock);
    while (answer == 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 10000000;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&answered, &lock, &until); /* D1 */
    }
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("main: note %d, answer %d\n", mixed_note(), answer);
    return 0;
}
