// A thread of libc calls a function when an asynchronous write is complete, which posts a semaphore. Meanwhile a
// worker and the first thread add to a total.
// Bug: they add without the lock.
// Finds: race on total; assertion
// The twin is asynchronous_write_fixed.c.
#undef NDEBUG
#include <aio.h>
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t complete;

static void add(void) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int seen = total;
    total = seen + 1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *work(void *argument) {
    add();
    return argument;
}

static void finish(union sigval value) {
    pthread_mutex_lock(&lock);
    sem_post(value.sival_ptr);
    pthread_mutex_unlock(&lock);
}

int main(void) {
    pthread_t worker;
    static struct aiocb write;
    write.aio_fildes = fileno(tmpfile());
    write.aio_buf = "text";
    write.aio_nbytes = 4;
    write.aio_sigevent.sigev_notify = SIGEV_THREAD;
    write.aio_sigevent.sigev_notify_function = finish;
    write.aio_sigevent.sigev_value.sival_ptr = &complete;
    sem_init(&complete, 0, 0);
    assert(aio_write(&write) == 0);
    pthread_create(&worker, NULL, work, NULL);
    add();
    pthread_join(worker, NULL);
    assert(sem_wait(&complete) == 0);
    assert(total == 2);
    return 0;
}
