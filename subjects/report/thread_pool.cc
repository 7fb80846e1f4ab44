// A thread pool whose shutdown discards what is still queued.
// Bug: `shutdown` gives the queue back before the workers have ended, while one of them may still look at it
// Finds: race on queue; memory
// First: data race on `pool.queue_` in release
// The twin is thread_pool_fixed.cc.
#undef NDEBUG
#include <cassert>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pool {

struct Task {
    int number;
    std::function<int(int)> work;
};

// A queue of a fixed size, whose memory the pool gives back as early as it can.
class Queue {
public:
    explicit Queue(int capacity) : tasks_(new Task[capacity]), capacity_(capacity) {}
    ~Queue() { delete[] tasks_; }

    bool is_empty() const { return first_ == last_; }
    bool is_full() const { return last_ - first_ == capacity_; }

    void push(Task task) {
        assert(!is_full());
        tasks_[last_ % capacity_] = std::move(task);
        last_++;
    }

    Task pop() {
        assert(!is_empty());
        Task task = std::move(tasks_[first_ % capacity_]);
        first_++;
        return task;
    }

private:
    Task *tasks_;
    int capacity_;
    int first_ = 0;
    int last_ = 0;
};

class ThreadPool {
public:
    explicit ThreadPool(int workers) : queue_(new Queue(8)) {
        for (int number = 0; number < workers; number++)
            workers_.emplace_back([this] { serve(); });
    }

    ~ThreadPool() { shutdown(); }

    void submit(int number, std::function<int(int)> work) {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            assert(!stopping_);
            queue_->push(Task{number, std::move(work)});
        }
        wake_.notify_one();
    }

    void shutdown() {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            if (stopping_)
                return;
            stopping_ = true;
        }
        wake_.notify_all();
#ifndef FIXED
        release();
#endif
        for (std::thread &worker : workers_)
            worker.join();
#ifdef FIXED
        release();
#endif
    }

    int total() {
        std::lock_guard<std::mutex> guard(mutex_);
        return total_;
    }

private:
    // The queue is not needed any more when the workers have stopped.
    void release() {
        delete queue_;
        queue_ = nullptr;
    }

    bool next(Task *task) {
        std::unique_lock<std::mutex> guard(mutex_);
        wake_.wait(guard, [this] { return stopping_ || !queue_->is_empty(); });
        if (stopping_)
            return false;
        *task = queue_->pop();
        return true;
    }

    void serve() {
        Task task;
        while (next(&task)) {
            int result = task.work(task.number);
            std::lock_guard<std::mutex> guard(mutex_);
            total_ += result;
            if (!queue_->is_empty())
                wake_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    Queue *queue_;
    bool stopping_ = false;
    int total_ = 0;
    std::vector<std::thread> workers_;
};

}  // namespace pool

static int square(int number) {
    return number * number;
}

int main() {
    pool::ThreadPool pool(2);
    pool.submit(2, square);
    pool.submit(3, square);
    pool.shutdown();
    assert(pool.total() <= 13);
    return 0;
}
