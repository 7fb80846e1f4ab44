// A printer prints and scans. Its paper is guarded by a semaphore, its line by a spin lock.
// Bug: who prints takes the paper first, who scans the line.
// Finds: deadlock on line, paper; deadlock
// The twin is printer_fixed.c.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static pthread_spinlock_t line;
static sem_t paper;
static int pages;

static void *print_page(void *unused) {
    sem_wait(&paper);
    pthread_spin_lock(&line);
    pages++;
    pthread_spin_unlock(&line);
    sem_post(&paper);
    return unused;
}

static void *scan_page(void *unused) {
    pthread_spin_lock(&line);
    sem_wait(&paper);
    pages++;
    sem_post(&paper);
    pthread_spin_unlock(&line);
    return unused;
}

int main(void) {
    pthread_t prints, scans;
    pthread_spin_init(&line, PTHREAD_PROCESS_PRIVATE);
    sem_init(&paper, 0, 1);
    if (pthread_create(&prints, NULL, print_page, NULL) != 0) return 2;
    if (pthread_create(&scans, NULL, scan_page, NULL) != 0) return 2;
    pthread_join(prints, NULL);
    pthread_join(scans, NULL);
    printf("pages: %d\n", pages);
    return 0;
}
