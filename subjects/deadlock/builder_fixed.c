// The twin of builder.c: a plan and a building site are locked in both orders.
// Main does so before the builder begins and after it has ended, and the builder alone in between.
// Finds: nothing harmful
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t plan = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t site = PTHREAD_MUTEX_INITIALIZER;
static int walls;

static void plan_first(void) {
    pthread_mutex_lock(&plan);
    pthread_mutex_lock(&site);
    walls++;
    pthread_mutex_unlock(&site);
    pthread_mutex_unlock(&plan);
}

static void site_first(void) {
    pthread_mutex_lock(&site);
    pthread_mutex_lock(&plan);
    walls++;
    pthread_mutex_unlock(&plan);
    pthread_mutex_unlock(&site);
}

/* The same thread may do it both ways. */
static void *build(void *unused) {
    plan_first();
    site_first();
    return unused;
}

int main(void) {
    pthread_t builder;
    plan_first();
    site_first();
    if (pthread_create(&builder, NULL, build, NULL) != 0) return 2;
    pthread_join(builder, NULL);
    plan_first();
    site_first();
    printf("walls: %d\n", walls);
    return 0;
}
