// A thread uses what another one has not made yet.
#include <pthread.h>

struct account {
    long id;
    int balance;
};

static struct account only = { 1, 100 };
static struct account *account;

static int look(void) {
    return account->balance; // look
}

static void *show(void *arg) {
    return look() > 0 ? arg : NULL; // show
}

int main(void) {
    pthread_t thread;
    account = NULL; // clear
    pthread_create(&thread, NULL, show, NULL);
    account = &only; // set
    pthread_join(thread, NULL);
    return 0;
}
