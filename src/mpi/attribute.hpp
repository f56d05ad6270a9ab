// An Attribute keeps a shared object of the library with a communicator, and lets it go when the
// communicator is freed. Duplicates have none, unless a function says what they have.
#pragma once
#include <atomic>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <optional>

namespace sluice {

/// Safe for several threads. One of these for each kind of object, for the whole process.
template <class T> class Attribute {
public:
    /// `freed` is told of objects whose communicator was freed, but not at the end of MPI.
    using Freed = void (*)(std::shared_ptr<T> object);
    /// What a duplicate gets, while the MPI makes it; null: nothing.
    using Copied = std::shared_ptr<T> (*)(T const& of_original);
    explicit constexpr Attribute(Freed freed, Copied copied = nullptr) noexcept
        : freed_(freed),
          copied_(copied) {}

    /// Nothing: never set. Null: set to null.
    std::optional<std::shared_ptr<T>> get(MPI_Comm communicator) {
        void* held = nullptr;
        int found = 0;
        PMPI_Comm_get_attr(communicator, key(), &held, &found);
        if (!found) return std::nullopt;
        return static_cast<Held*>(held)->object;
    }
    void set(MPI_Comm communicator, std::shared_ptr<T> object) {
        PMPI_Comm_set_attr(communicator, key(), new Held{std::move(object), this});
    }
    /// Before MPI goes away: what is set later has another key.
    void forget() {
        int key = key_.exchange(MPI_KEYVAL_INVALID);
        if (key != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&key);
    }

private:
    struct Held {
        std::shared_ptr<T> object;
        Attribute* attribute;
    };
    static int copy(MPI_Comm, int, void*, void* value, void* copied, int* is_copied) {
        auto const& held = *static_cast<Held*>(value);
        auto const copy = held.attribute->copied_;
        auto object = held.object && copy ? copy(*held.object) : nullptr;
        *is_copied = object ? 1 : 0;
        if (object) *static_cast<void**>(copied) = new Held{std::move(object), held.attribute};
        return MPI_SUCCESS;
    }
    static int free(MPI_Comm, int, void* value, void*) {
        std::unique_ptr<Held> const held(static_cast<Held*>(value));
        bool const finalizing = held->attribute->key_ == MPI_KEYVAL_INVALID;
        if (held->object && !finalizing) held->attribute->freed_(std::move(held->object));
        return MPI_SUCCESS;
    }
    int key() {
        if (int const known = key_.load(std::memory_order_acquire); known != MPI_KEYVAL_INVALID) {
            return known;
        }
        std::lock_guard const lock(mutex_);
        int key = key_;
        if (key == MPI_KEYVAL_INVALID) {
            PMPI_Comm_create_keyval(copy, free, &key, nullptr);
            key_ = key;
        }
        return key;
    }

    Freed freed_;
    Copied copied_;
    std::mutex mutex_;  ///< One thread makes the key.
    std::atomic<int> key_{MPI_KEYVAL_INVALID};
};

}  // namespace sluice
