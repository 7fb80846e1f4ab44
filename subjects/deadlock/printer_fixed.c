// The twin of printer.c: a printer prints and scans.
// Who scans only tries to get the paper while it has the line, and does without if it cannot.
// Finds: nothing harmful
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
    if (sem_trywait(&paper) == 0) {
        pages++;
        sem_post(&paper);
    }
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
