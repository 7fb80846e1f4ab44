// As data_race.c, with a lock.
//
// Property: data-race
// Breaks: nothing
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int requests;

static void *serve(void *unused)
{
    pthread_mutex_lock(&lock);
    requests = requests + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *report(void *unused)
{
    pthread_mutex_lock(&lock);
    int some = requests > 0;
    pthread_mutex_unlock(&lock);
    printf("some requests: %s\n", some ? "yes" : "no");
    return unused;
}

int main(void)
{
    pthread_t server, reporter;
    pthread_create(&server, NULL, serve, NULL);
    pthread_create(&reporter, NULL, report, NULL);
    pthread_join(server, NULL);
    pthread_join(reporter, NULL);
    return 0;
}
