// A pointer that no memory can have: text was written over it.
#include <pthread.h>
#include <string.h>

static struct {
    char *name;
    int length;
} account;

static void *look(void *argument) {
    return (void *)(long)(account.name && account.name[0] == 'a');
}

int main(void) {
    pthread_t reader;
    memcpy(&account.name, "who wrote this?", sizeof account.name);
    pthread_create(&reader, NULL, look, NULL);
    pthread_join(reader, NULL);
    return 0;
}
