// Counts interrupts for a while after the first one.
// Events: a handler runs once for each.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int came;

static void handle(int signal) {
    (void)signal;
    came++;
}

int main(void) {
    signal(SIGINT, handle);
    printf("ready\n");
    fflush(stdout);
    while (came == 0) usleep(1000);
    usleep(200000);
    printf("%d\n", came);
    return 0;
}
