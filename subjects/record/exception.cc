// An exception passes through three frames that have something to clean up, and through one of
// libc's (qsort) that has not.
// Events: writes of 1, 2, 3 to `cleaned` while it passes; the write of 9 to `after` has the stack
// of `note` and main alone, with nothing left of the frames that were passed; so has that of 10.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static volatile int cleaned;
static int after;

struct Cleaner {
    int number;
    ~Cleaner() { cleaned = number; }
};

// Writes where the stack of calls shows.
static void note(int value) {
    after = value;
}

static void three() {
    Cleaner cleaner{1};
    throw std::runtime_error("through");
}

static void two() {
    Cleaner cleaner{2};
    three();
}

static void one() {
    Cleaner cleaner{3};
    two();
}

static int compare(const void *, const void *) {
    throw 3;
}

int main() {
    try {
        one();
    } catch (const std::exception &error) {
        std::puts(error.what());
    }
    note(9);
    int numbers[] = {2, 1};
    try {
        std::qsort(numbers, 2, sizeof *numbers, compare);
    } catch (int number) {
        std::printf("%d\n", number);
    }
    note(10);
    std::printf("%d %d\n", cleaned, after);
}
