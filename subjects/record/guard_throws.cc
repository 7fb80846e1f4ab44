// A static variable whose initialiser throws the first time.
// Events of T0 on the guard: begin, end (not done), begin, end (done).
#include <cstdio>

static int attempts;

struct Thing {
    Thing() {
        if (attempts++ == 0) throw 5;
    }
};

static void reach() {
    static Thing thing;
    (void)thing;
}

int main() {
    try {
        reach();
    } catch (int number) {
        std::printf("caught %d\n", number);
    }
    reach();
    reach();
    std::printf("%d\n", attempts);
}
