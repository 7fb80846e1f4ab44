// A thread writes to a page and goes on without an event; the other, told by a pipe that Norn does
// not watch, unmaps the page. The first must not touch it again.
// Events: a map and an unmap of 4096 bytes, the write of 1 in between.
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int there[2], back[2];
static volatile int after;

__attribute__((no_sanitize("thread"))) static void write_then_wait(int *page) {
    char byte = 0;
    *(volatile int *)page = 1;
    if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) _exit(9);
}

static void *writer(void *page) {
    *(int *)page = 1;
    write_then_wait(page);
    after = 2;
    return NULL;
}

int main(void) {
    pthread_t thread;
    char byte;
    if (pipe(there) != 0 || pipe(back) != 0) return 1;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&thread, NULL, writer, page);
    if (read(there[0], &byte, 1) != 1) return 2;
    munmap(page, 4096);
    if (write(back[1], &byte, 1) != 1) return 3;
    pthread_join(thread, NULL);
    printf("%d\n", after);
    return 0;
}
