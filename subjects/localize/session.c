// A request uses the session while another thread closes it. Native runs hardly ever fail.
// Bug: the session can be closed between the check and the use.
// True: R1-W2-R1 at check, close, use
// The twin is session_fixed.c.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef FIXED
static pthread_mutex_t region = PTHREAD_MUTEX_INITIALIZER;
#define BEGIN pthread_mutex_lock(&region)
#define END pthread_mutex_unlock(&region)
#else
#define BEGIN (void)0
#define END (void)0
#endif

static long content = 7;
static long *session = &content;

// Takes time without any access to memory.
static void work(unsigned long steps) {
    while (steps-- > 0) {
        __asm__ volatile("" ::: "memory");
    }
}

static void *request(void *unused) {
    usleep(200);
    BEGIN;
    if (session != NULL) { // @check
        work(5000);
        long *used = session; // @use
        if (used == NULL) {
            fprintf(stderr, "the session was closed\n");
            exit(1);
        }
    }
    END;
    return unused;
}

static void *closing(void *unused) {
    usleep(200);
    BEGIN;
    session = NULL; // @close
    END;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, request, NULL);
    pthread_create(&threads[1], NULL, closing, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
