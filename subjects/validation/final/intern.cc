// Strings are interned in a list without locks: new strings are put in front.
// Bug (atomicity violation): `intern` stores the new front instead of exchanging it, so that a string
// that another thread has added in between is lost.
// Consequence: assertion
// The twin is intern_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <string>
#include <thread>

struct Symbol {
    std::string text;
    Symbol *next;
};

static std::atomic<Symbol *> symbols{nullptr};

static Symbol *find(Symbol *from, const std::string &text) {
    for (Symbol *it = from; it != nullptr; it = it->next)
        if (it->text == text) return it;
    return nullptr;
}

static Symbol *intern(const std::string &text) {
    Symbol *front = symbols.load();
    if (Symbol *known = find(front, text)) return known;
    Symbol *added = new Symbol{text, front};
#ifdef FIXED
    while (!symbols.compare_exchange_strong(added->next, added)) {
        if (Symbol *known = find(added->next, text)) {
            delete added;
            return known;
        }
    }
#else
    symbols.store(added);
#endif
    return added;
}

static void parse(const char *const *words) {
    for (; *words != nullptr; words++) intern(*words);
}

static int count() {
    int number = 0;
    for (Symbol *it = symbols.load(); it != nullptr; it = it->next) number++;
    return number;
}

int main() {
    static const char *const header[] = {"int", "char", nullptr};
    static const char *const source[] = {"main", "return", nullptr};
    std::thread one(parse, header);
    std::thread two(parse, source);
    one.join();
    two.join();
    std::printf("%d symbols\n", count());
    assert(count() == 4);
    for (Symbol *it = symbols.load(); it != nullptr;) {
        Symbol *next = it->next;
        delete it;
        it = next;
    }
}
