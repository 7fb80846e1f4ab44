// A thread that reads wants to write while another one reads.
#include <pthread.h>

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

static void *upgrade(void *arg) {
    pthread_rwlock_rdlock(&table); // read
    pthread_rwlock_wrlock(&table); // write
    pthread_rwlock_unlock(&table);
    return arg;
}

int main(void) {
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, upgrade, NULL);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    return 0;
}
