// The processes that train one model together, and the few collective operations that a step needs, made of messages
// between two of them, so that no sum of floats is left to a library with an order of its own.
//   Processes* all = start_processes();                  // launch.h; null: this process is alone
//   const std::vector<double> losses = all->gather_all(own);
// All processes call collective operations in the same order. What must be the same everywhere and follows from a clock
// or a signal, is decided by one of them and told to the others.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace inkling::distributed {

class Processes {
  public:
    virtual ~Processes() = default;

    std::size_t rank = 0, count = 1;  // of this process, and how many there are
    std::size_t on_host = 1;          // of them on this computer
    std::vector<std::string> hosts;   // of each
    bool first() const { return rank == 0; }

    // Messages of less than 2 GB. Memory stays as it is until `done` is called, by progress(). Those with one tag
    // between two processes arrive in their order.
    using Done = std::function<void()>;
    virtual void send(std::size_t to, int tag, const void* data, std::size_t bytes, Done done) = 0;
    virtual void receive(std::size_t from, int tag, void* data, std::size_t bytes, Done done) = 0;
    virtual bool progress() = 0;  // calls what is done; true: something was
    // Until condition() holds. It ends the program when another process is gone.
    void wait(const std::function<bool()>& condition);

    // Says of this process that it cannot go on, and why; the first process tells the user, and all end with this code.
    [[noreturn]] virtual void fail(const std::string& why, int code) = 0;
    virtual void finish() = 0;  // all have come to the end

    // Collective: the same number of bytes from each, one after the other by rank.
    std::vector<std::byte> gather_bytes(std::span<const std::byte> own);
    template <class T>
    std::vector<T> gather_all(const T& own) {
        const std::vector<std::byte> bytes = gather_bytes(std::as_bytes(std::span(&own, 1)));
        const T* const values = reinterpret_cast<const T*>(bytes.data());
        return std::vector<T>(values, values + count);
    }
    // Blocks of any size, `sizes` by rank, in place in `all`.
    void gather_blocks(std::span<double> all, const std::vector<std::size_t>& sizes);
    std::vector<std::string> gather_texts(const std::string& own);
    void broadcast(std::string& text);  // of the first
    template <class T>
    T of_first(const T& own) {
        return gather_all(own).front();
    }
    void barrier() { static_cast<void>(gather_all('.')); }

    static constexpr int kFirstFreeTag = 16;

  private:
    void gather(std::byte* all, const std::vector<std::size_t>& begins);
};

// Of a process that is alone, which has no Processes: null.
inline std::size_t count_of(const Processes* all) { return all ? all->count : 1; }
inline std::size_t rank_of(const Processes* all) { return all ? all->rank : 0; }

// What the first one has, or `own` of a process that is alone.
template <class T>
T of_first(Processes* all, const T& own) {
    return all ? all->of_first(own) : own;
}

}  // namespace inkling::distributed
