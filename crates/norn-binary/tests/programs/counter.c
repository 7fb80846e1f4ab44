// One shared access, to be instrumented or not.
int shared;

int increment(void) {
    return ++shared;
}

int main(void) {
    return increment();
}
