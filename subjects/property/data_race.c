// A counter of requests, counted by one thread and read by another, without a lock.
//
// Property: data-race
// Breaks: DataRace
#include <pthread.h>
#include <stdio.h>

static int requests;

static void *serve(void *unused)
{
    requests = requests + 1;
    return unused;
}

static void *report(void *unused)
{
    printf("some requests: %s\n", requests > 0 ? "yes" : "no");
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
