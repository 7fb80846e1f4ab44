// A cache that keeps what was used last, for several readers.
// Bug: `find` returns a pointer to the entry and releases the mutex; another thread's `insert` may evict
// and free the entry before the reader has used it.
// Finds: lifetime on Entry Node value heap; memory
// First: use after free: `cache::Entry in evict
// The twin is lru_cache_fixed.cc.
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

namespace cache {

struct Entry {
    int key;
    int length;
    char value[24];
    Entry *newer;
    Entry *older;
};

// Entries in the order of their last use.
class List {
public:
    void push_front(Entry *entry) {
        entry->newer = nullptr;
        entry->older = front_;
        if (front_)
            front_->newer = entry;
        front_ = entry;
        if (!back_)
            back_ = entry;
    }

    void remove(Entry *entry) {
        (entry->newer ? entry->newer->older : front_) = entry->older;
        (entry->older ? entry->older->newer : back_) = entry->newer;
    }

    Entry *front() const { return front_; }
    Entry *back() const { return back_; }

private:
    Entry *front_ = nullptr;
    Entry *back_ = nullptr;
};

class LruCache {
public:
    explicit LruCache(int capacity) : capacity_(capacity) {}

    ~LruCache() {
        while (Entry *entry = list_.back()) {
            list_.remove(entry);
            delete entry;
        }
    }

    void insert(int key, const char *value) {
        std::lock_guard<std::mutex> guard(mutex_);
        if (count_ == capacity_)
            evict();
        Entry *entry = new Entry{key, int(strlen(value)), {}, nullptr, nullptr};
        snprintf(entry->value, sizeof entry->value, "%s", value);
        list_.push_front(entry);
        count_++;
    }

    // The length of a value, or -1.
    int length(int key) {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(mutex_);
        Entry *entry = look_up(key);
#else
        Entry *entry = find(key);
#endif
        if (!entry)
            return -1;
        return measure(entry);
    }

private:
    Entry *find(int key) {
        std::lock_guard<std::mutex> guard(mutex_);
        return look_up(key);
    }

    Entry *look_up(int key) {
        for (Entry *entry = list_.front(); entry; entry = entry->older) {
            if (entry->key == key) {
                list_.remove(entry);
                list_.push_front(entry);
                return entry;
            }
        }
        return nullptr;
    }

    static int measure(const Entry *entry) {
        int length = 0;
        while (length < entry->length && entry->value[length])
            length++;
        return length;
    }

    void evict() {
        Entry *oldest = list_.back();
        list_.remove(oldest);
        delete oldest;
        count_--;
    }

    std::mutex mutex_;
    List list_;
    int capacity_;
    int count_ = 0;
};

}  // namespace cache

static cache::LruCache names(2);

static void read_names() {
    int length = names.length(1);
    assert(length == -1 || length == 3);
}

static void write_names() {
    names.insert(3, "cyd");
    names.insert(4, "dan");
}

int main() {
    names.insert(1, "ann");
    names.insert(2, "bob");
    std::thread reader(read_names);
    std::thread writer(write_names);
    reader.join();
    writer.join();
    assert(names.length(4) == 3);
    return 0;
}
