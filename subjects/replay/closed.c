// The first thread closes the ends of a pipe, and another thread writes, reads or closes, as the first
// letter of the argument says.
#include <pthread.h>
#include <unistd.h>

static int ends[2];
static char action;

static void *work(void *unused) {
    char byte = 'x';
    if (action == 'w' && write(ends[1], &byte, 1) < 0) return unused;
    if (action == 'r' && read(ends[0], &byte, 1) < 0) return unused;
    if (action == 'c') close(ends[1]);
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    if (argc < 2 || pipe(ends) != 0) return 2;
    action = argv[1][0];
    pthread_create(&thread, NULL, work, NULL);
    usleep(1000);
    close(ends[0]);
    close(ends[1]);
    pthread_join(thread, NULL);
    return 0;
}
