// As open_write_close.c; the log is closed when nobody writes any more.
//
// Property: open-write-close
// Breaks: nothing
#include <assert.h>
#include <pthread.h>

struct log {
    int open;
    int lines;
};

static struct log journal;

__attribute__((noinline)) void log_open(struct log *log)
{
    log->open = 1;
}

__attribute__((noinline)) void log_write(struct log *log)
{
    assert(log->open);
    log->lines++;
}

__attribute__((noinline)) void log_close(struct log *log)
{
    log->open = 0;
}

static void *work(void *unused)
{
    log_write(&journal);
    return unused;
}

static void *stop(void *unused)
{
    log_close(&journal);
    return unused;
}

int main(void)
{
    pthread_t worker, stopper;
    log_open(&journal);
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
    pthread_create(&stopper, NULL, stop, NULL);
    pthread_join(stopper, NULL);
    return 0;
}
