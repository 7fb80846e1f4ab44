// A mutex that checks errors is unlocked by a thread that does not have it.
// Events: T0 has the mutex all the time: one acquire and one release by T0, and none by T0.1.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t checked;

static void *wrong(void *unused) {
    printf("%d\n", pthread_mutex_unlock(&checked) == EPERM);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &attributes);
    pthread_mutex_lock(&checked);
    pthread_create(&thread, NULL, wrong, NULL);
    pthread_join(thread, NULL);
    pthread_mutex_unlock(&checked);
    return 0;
}
