// Every signal that can be handled is: by sigaction with and without SA_SIGINFO, on a stack of its
// own, with a mask, once only; by signal; blocked and waited for with sigwait. What sigaction says of
// the old handler is compared to what was set.
// Events: each handler that ran has begun and ended.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int hits, infos, on_stack, wrong_mask;
static char *stack;

static void handle(int signal) {
    char here;
    (void)signal;
    hits++;
    if (&here >= stack && &here < stack + SIGSTKSZ * 4) on_stack++;
}

static void inform(int signal, siginfo_t *info, void *context) {
    sigset_t now;
    infos += info->si_signo == signal && info->si_pid == getpid() && context != NULL;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    if (!sigismember(&now, SIGTERM) || !sigismember(&now, signal)) wrong_mask++;
}

int main(void) {
    int same = 0, set = 0;
    struct sigaction old;
    stack = malloc((size_t)SIGSTKSZ * 4);
    stack_t alternate = { .ss_sp = stack, .ss_size = (size_t)SIGSTKSZ * 4 };
    sigaltstack(&alternate, NULL);
    for (int signal = 1; signal < 65; signal++) {
        struct sigaction plain = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
        if (sigaction(signal, &plain, NULL) != 0) continue;
        set++;
        sigaction(signal, NULL, &old);
        same += old.sa_handler == handle && !(old.sa_flags & SA_SIGINFO) && (old.sa_flags & SA_ONSTACK);
        raise(signal);
        struct sigaction with = { .sa_sigaction = inform, .sa_flags = SA_SIGINFO };
        sigaddset(&with.sa_mask, SIGTERM);
        sigaction(signal, &with, &old);
        same += old.sa_handler == handle;
        kill(getpid(), signal);
        sigaction(signal, NULL, &old);
        same += old.sa_sigaction == inform && (old.sa_flags & SA_SIGINFO) && sigismember(&old.sa_mask, SIGTERM);
    }
    printf("set %d hits %d infos %d on its stack %d wrong masks %d same %d\n", set, hits, infos, on_stack,
           wrong_mask, same);

    struct sigaction once = { .sa_handler = handle, .sa_flags = SA_RESETHAND };
    sigaction(SIGUSR1, &once, NULL);
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &old);
    printf("reset %d\n", old.sa_handler == SIG_DFL);

    printf("signal %d", (void *)signal(SIGUSR2, handle) == (void *)inform);
    printf(" %d", signal(SIGUSR2, SIG_IGN) == handle);
    raise(SIGUSR2);
    printf(" %d", signal(SIGUSR2, SIG_DFL) == SIG_IGN);
    errno = 0;
    printf(" %d %d\n", signal(SIGKILL, handle) == SIG_ERR, errno == EINVAL);

    sigset_t waited;
    int got;
    sigemptyset(&waited);
    sigaddset(&waited, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &waited, NULL);
    raise(SIGUSR1);
    sigwait(&waited, &got);
    printf("waited %d\n", got == SIGUSR1);
    return 0;
}
