// Two threads take two locks in opposite orders.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void *rightwards(void *arg) {
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return arg;
}

static void *leftwards(void *arg) {
    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left);
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, rightwards, NULL);
    pthread_create(&other, NULL, leftwards, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    puts("both are done");
    return 0;
}
