// A device driver waits at a doorbell, a pipe, when there are no commands. Whoever adds a command rings
// if the doorbell is armed.
// Bug (order violation): the driver arms the doorbell after it has found no command, and does not look again.
// Deep: after the early look the sender must continue first; otherwise it finds the doorbell armed.
// Consequence: deadlock
// The twin is doorbell_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { COMMANDS = 3, MOST = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int commands[MOST];
static int first, last;
static atomic_int armed;
static int bell[2];

static void send_command(int command) {
    pthread_mutex_lock(&lock);
    commands[last++] = command;
    pthread_mutex_unlock(&lock);
    if (atomic_exchange(&armed, 0)) assert(write(bell[1], "!", 1) == 1);
}

static int next_command(void) {
    int command = 0;
    pthread_mutex_lock(&lock);
    if (first < last) command = commands[first++];
    pthread_mutex_unlock(&lock);
    return command;
}

static void *drive(void *argument) {
    int sum = 0;
    for (int done = 0; done < COMMANDS;) {
        char ring;
        int command = next_command();
#ifdef FIXED
        if (command == 0) {
            atomic_store(&armed, 1);
            command = next_command();
            if (command != 0 && !atomic_exchange(&armed, 0)) assert(read(bell[0], &ring, 1) == 1);
        }
#endif
        if (command != 0) {
            sum += command;
            done++;
            continue;
        }
#ifndef FIXED
        atomic_store(&armed, 1);
#endif
        assert(read(bell[0], &ring, 1) == 1);
    }
    *(int *)argument = sum;
    return NULL;
}

static void *command_all(void *unused) {
    for (int i = 1; i <= COMMANDS; i++) send_command(i);
    return unused;
}

int main(void) {
    pthread_t driver, sender;
    int sum = 0;
    assert(pipe(bell) == 0);
    pthread_create(&driver, NULL, drive, &sum);
    pthread_create(&sender, NULL, command_all, NULL);
    pthread_join(driver, NULL);
    pthread_join(sender, NULL);
    printf("%d\n", sum);
    assert(sum == 6);
    return 0;
}
