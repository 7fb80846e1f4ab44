// Functions of C++: members, templates, functions that exceptions pass through.
// Events, if all of them are named: calls with the object first; a function that an exception passes
// through returns without a result, before the events of who catches it.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#define SEEN __attribute__((noinline))

static int shared;

struct Log {
    int lines = 0;
    SEEN int open(int mode) {
        shared++;
        return lines += mode;
    }
    SEEN virtual long write(const char *text, double weight, long count) {
        shared++;
        return count + long(weight) + text[0];
    }
    virtual ~Log() {}
};

template <class T> struct Box {
    T value;
    SEEN T get(T more) const { return value + more + shared * 0; }
};

template <class T> SEEN T twice(T it) { return it + it + T(shared * 0); }

struct Cleaner {
    SEEN ~Cleaner() { shared++; }
};

struct Big {
    long words[4];
};

SEEN Big big(int first) { return Big{{first, shared * 0, 0, 4}}; }

SEEN void throws(int number) {
    shared++;
    if (number)
        throw std::runtime_error("thrown");
}

SEEN int passes(int number) {
    Cleaner cleaner;
    throws(number);
    return 1;
}

SEEN int catches(int number) {
    try {
        return passes(number);
    } catch (const std::exception &error) {
        return int(std::string(error.what()).size());
    }
}

int main() {
    Log log;
    printf("%d\n", log.open(3));
    Log *volatile any = &log;
    printf("%ld\n", any->write("a", 2.5, 40));
    int (Log::*member)(int) = &Log::open;
    printf("%d\n", (log.*member)(2));
    printf("%d\n", Box<int>{1}.get(4));
    printf("%ld\n", Box<long>{2}.get(5));
    printf("%d\n", twice(21));
    printf("%ld\n", big(7).words[0]);
    printf("%d\n", catches(1));
    printf("%d\n", catches(0));
    std::thread([] { printf("%d\n", catches(1) + twice(2)); }).join();
    std::map<int, int> numbers;
    numbers.insert({1, 2});
    return 0;
}
