// Prints which descriptors are open, and the limits of the process.
// Events: none that matter. The output must be the same with and without a recorder.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

int main(void) {
    for (int file = 0; file < 1024; file++) {
        int flags = fcntl(file, F_GETFD);
        if (flags >= 0) printf("%d: %d\n", file, flags);
    }
    for (int which = 0; which < RLIM_NLIMITS; which++) {
        struct rlimit limit;
        getrlimit(which, &limit);
        printf("limit %d: %lu %lu\n", which, (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
    }
    return 0;
}
