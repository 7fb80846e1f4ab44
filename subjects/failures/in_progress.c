// While a request is in progress, its address is known. One thread ends the request, another one looks at it.
// Bug: flag and address are each protected by the lock, but not both together: the address can be gone
// after the flag was seen. After an error in Mozilla with two variables.
// Finds: order on running_url; assertion
// The twin is in_progress_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int in_progress = 1;
static const char *running_url = "imap://inbox";

static void *finish(void *unused) {
    pthread_mutex_lock(&lock);
    running_url = NULL;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    in_progress = 0;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *look(void *unused) {
    pthread_mutex_lock(&lock);
    int busy = in_progress;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    const char *url = running_url;
    pthread_mutex_unlock(&lock);
    if (busy) assert(url != NULL);
    return unused;
}

int main(void) {
    pthread_t viewer, loader;
    pthread_create(&viewer, NULL, look, NULL);
    pthread_create(&loader, NULL, finish, NULL);
    pthread_join(viewer, NULL);
    pthread_join(loader, NULL);
    printf("done\n");
    return 0;
}
