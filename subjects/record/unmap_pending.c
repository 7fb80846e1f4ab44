// The last write before its page goes away: the value is read back in time, or given up, but the
// page is never touched afterwards. A thread writes to a page and waits; the other unmaps it,
// or frees a large block.
// Events: nothing special. The program must not crash.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static sem_t written, gone;
static int *volatile page;

static void *write_and_wait(void *unused) {
    for (int i = 0; i < 2; i++) {
        sem_wait(&gone);
        int *mine = page;
        *mine = i;
        // Not an event of ours: the write above is still the last one when the page goes.
        __asm__ volatile("" ::: "memory");
        sem_post(&written);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&written, 0, 0);
    sem_init(&gone, 0, 0);
    pthread_create(&thread, NULL, write_and_wait, NULL);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sem_post(&gone);
    sem_wait(&written);
    munmap(page, 4096);
    page = malloc(1 << 20);
    sem_post(&gone);
    sem_wait(&written);
    free(page);
    pthread_join(thread, NULL);
    puts("alive");
    return 0;
}
