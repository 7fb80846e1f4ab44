// Prints which signals the program finds ignored, handled or blocked when it starts.
// Events: none that matter. The output must be the same with and without a recorder.
#include <signal.h>
#include <stdio.h>

int main(void) {
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int signal = 1; signal < 65; signal++) {
        struct sigaction action;
        if (sigaction(signal, NULL, &action) != 0) continue;
        if (action.sa_handler == SIG_IGN) printf("%d ignored\n", signal);
        else if (action.sa_handler != SIG_DFL) printf("%d handled\n", signal);
        if (sigismember(&blocked, signal)) printf("%d blocked\n", signal);
    }
    return 0;
}
