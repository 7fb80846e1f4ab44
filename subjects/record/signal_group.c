// Sends signals to its own group of processes, of which the recorder may be one.
// Events: each of the three signals is handled once.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int came;

static void handle(int signal) {
    (void)signal;
    came++;
}

int main(void) {
    int signals[] = {SIGUSR1, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) signal(signals[i], handle);
    for (int i = 0; i < 3; i++) kill(0, signals[i]);
    // Time enough for one to come a second time.
    usleep(200000);
    printf("%d\n", came);
    return 0;
}
