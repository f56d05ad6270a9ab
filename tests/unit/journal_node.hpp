// A node that crashes at any moment of a rank's life with a durable journal. Of what was not
// synced, any 512-byte sectors are on the device, of the journal and of the file; the others are as
// they were. After the recovery each byte of an acknowledged write is there, and each other byte is
// one that somebody asked to write there, or the one before.
#pragma once
#include "request_places.hpp"

#include "base/layout.hpp"
#include "behind/journal.hpp"

#include <bitset>
#include <cstring>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

namespace sluice::journal_crash {

inline constexpr std::size_t sector = 512;
inline constexpr Bytes room = 8 << 10, file_bytes = 3000;
using Image = std::vector<std::byte>;
using Random = std::mt19937;

inline bool happens(Random& random, int one_in) {
    return std::uniform_int_distribution<int>(1, one_in)(random) == 1;
}
template <class Number> Number draw(Random& random, Number least, Number most) {
    return std::uniform_int_distribution<Number>(least, most)(random);
}

/// What is on a device, behind memory that the system writes to it as it likes.
class CachedDevice {
public:
    explicit CachedDevice(std::span<std::byte> cache) : cache_(cache), durable_(cache.size()) {
        sync();
    }
    void sync() { durable_.assign(cache_.begin(), cache_.end()); }
    /// The system writes some sectors.
    void write_back(Random& random, int one_in) {
        for (std::size_t at = 0; at < cache_.size(); at += sector) {
            auto const bytes = std::min(sector, cache_.size() - at);
            if (happens(random, one_in)) std::memcpy(&durable_[at], &cache_[at], bytes);
        }
    }
    [[nodiscard]] Image after_crash(Random& random) const {
        CachedDevice copy = *this;
        copy.write_back(random, draw(random, 1, 4));
        return copy.durable_;
    }

private:
    std::span<std::byte> cache_;
    Image durable_;
};

/// The values that each byte of the file may have after a crash now.
class Allowed {
public:
    Allowed() : values_(file_bytes, Values(1)) {}
    void begin(std::vector<Offset> const& places, std::byte value) {
        for (Offset const at : places) values_[static_cast<std::size_t>(at)].set(number(value));
    }
    void acknowledge(std::vector<Offset> const& places, std::byte value) {
        Values only;
        only.set(number(value));
        for (Offset const at : places) values_[static_cast<std::size_t>(at)] = only;
    }
    /// The first byte that has a value which it may not have; -1: there is none.
    [[nodiscard]] Offset first_wrong(Image const& file) const {
        for (std::size_t at = 0; at < file.size(); ++at)
            if (!values_[at].test(number(file[at]))) return static_cast<Offset>(at);
        return -1;
    }

private:
    using Values = std::bitset<256>;
    static std::size_t number(std::byte value) { return std::to_integer<std::size_t>(value); }
    std::vector<Values> values_;
};

inline Request drawn_request(Random& random) {
    Request r;
    r.bytes = draw<Bytes>(random, 1, 1300);
    r.view.displacement = draw<Offset>(random, 0, file_bytes - 1 - r.bytes);
    if (happens(random, 3)) {  // Two pieces of each 300 bytes.
        std::vector<sluice::Run> const runs{{0, 100, 0, 1}, {200, 50, 0, 1}};
        r.view.filetype = std::make_shared<Layout const>(runs, 300);
        r.bytes = draw<Bytes>(random, 1, 450);
        r.view.displacement = draw<Offset>(random, 0, file_bytes - 1000);
    }
    return r;
}

/// One rank, and the system that it runs on.
class CrashingNode {
public:
    CrashingNode(unsigned seed, int crash_at)
        : random_(seed),
          crash_at_(crash_at),
          fd_(memfd_create("journal_crash_test", 0)),
          file_cache_(file_bytes),
          file_(file_cache_) {
        Bytes const bytes = journal_bytes_for(room);
        if (ftruncate(fd_.get(), bytes) != 0) throw std::bad_alloc();
        seen_ = Mapping::of(fd_.get(), {0, bytes});
        if (!seen_->open({0, bytes})) throw std::bad_alloc();
        std::span<std::byte> const all(seen_->data(), static_cast<std::size_t>(bytes));
        format_journal(all, {}, true);
        journal_device_.emplace(all);
        journal_ = Journal::create(
            fd_.get(), bytes,
            {[this] { return sync(*journal_device_); }, [this] { return ++clock_; }});
    }

    void live(int steps) {
        for (int i = 0; i < steps && !has_crashed(); ++i) step();
        happened();
    }
    [[nodiscard]] bool has_crashed() const { return !journal_image_.empty(); }
    [[nodiscard]] int events() const { return events_; }

    /// The first byte that is wrong after a crash and the recovery, which may be ended and run
    /// again; -1: there is none.
    [[nodiscard]] Offset first_wrong_after_recovery() {
        auto const records = records_of(journal_image_);
        if (happens(random_, 2)) {
            Image const before = file_image_;
            recover(records, draw<std::size_t>(random_, 0, records.size()));
            for (std::size_t at = 0; at < before.size(); at += sector)  // It crashes, too.
                if (happens(random_, 2))
                    std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(at),
                                std::min(sector, before.size() - at),
                                file_image_.begin() + static_cast<std::ptrdiff_t>(at));
        }
        recover(records, records.size());
        return allowed_at_crash_.first_wrong(file_image_);
    }

private:
    /// A write whose call has returned, and that is not in the file yet.
    struct Pending {
        Request request;
        std::vector<Offset> places;
        std::byte value;
        std::unique_ptr<Journal::Entry> entry;
    };

    /// A moment at which the node may crash.
    void happened() {
        if (happens(random_, 4)) journal_device_->write_back(random_, 3);
        if (happens(random_, 4)) file_.write_back(random_, 3);
        if (++events_ != crash_at_) return;
        journal_image_ = journal_device_->after_crash(random_);
        file_image_ = file_.after_crash(random_);
        allowed_at_crash_ = allowed_;
    }
    Error sync(CachedDevice& device) {
        happened();
        device.sync();
        happened();
        return {};
    }

    void step() {
        int const kind = draw(random_, 1, 10);
        if (kind <= 4)
            delay();
        else if (kind <= 7)
            complete(draw<std::size_t>(random_, 0, 3));
        else if (kind <= 9)
            (void)journal_->checkpoint();
        else
            write_directly();
    }

    void delay() {
        Pending write{drawn_request(random_), {}, ++value_, nullptr};
        write.places = places_of(write.request);
        JournaledFile const file{{"/f", {7, 9}}, [this] { return sync(file_); }};
        write.entry = journal_->take(write.request, file, span_of(write.places));
        if (!write.entry) return (void)journal_->checkpoint();
        std::memset(write.entry->data(), std::to_integer<int>(write.value),
                    static_cast<std::size_t>(write.request.bytes));
        allowed_.begin(write.places, write.value);
        happened();
        if (write.entry->commit()) return;
        allowed_.acknowledge(write.places, write.value);
        pending_.push_back(std::move(write));
        happened();
    }

    static Span span_of(std::vector<Offset> const& places) {
        return {places.front(), places.back() + 1};
    }
    static bool meet(std::vector<Offset> const& a, std::vector<Offset> const& b) {
        return !clip(span_of(a), span_of(b)).empty();
    }

    void put(std::vector<Offset> const& places, std::byte value) {
        for (std::size_t i = 0; i < places.size(); ++i) {
            file_cache_[static_cast<std::size_t>(places[i])] = value;
            if (i == places.size() / 2) happened();
        }
    }

    /// One that no earlier one overlaps, as operations keep the order of such calls.
    void complete(std::size_t skip) {
        for (std::size_t i = 0; i < pending_.size(); ++i) {
            auto const first = pending_.begin();
            auto const it = first + static_cast<std::ptrdiff_t>(i);
            bool const waits = std::any_of(
                first, it, [&](Pending const& other) { return meet(other.places, it->places); });
            if (waits || (skip > 0 && skip-- > 0 && i + 1 < pending_.size())) continue;
            put(it->places, it->value);
            happened();
            pending_.erase(it);
            return;
        }
    }

    /// As calls that the journal has no room for do it.
    void write_directly() {
        auto const places = places_of(drawn_request(random_));
        while (journal_->holds({7, 9}, span_of(places))) {
            complete(0);
            (void)journal_->checkpoint();
        }
        allowed_.begin(places, ++value_);
        put(places, value_);
        happened();
    }

    void recover(std::vector<JournalRecord> const& records, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            std::byte const* next = records[i].data;
            for (Offset const at : places_of(records[i].request))
                file_image_[static_cast<std::size_t>(at)] = *next++;
        }
    }

    struct Value {
        unsigned char value = 0;
        std::byte operator++() {
            value = static_cast<unsigned char>(value == 255 ? 1 : value + 1);
            return std::byte{value};
        }
        operator std::byte() const { return std::byte{value}; }
    };

    Random random_;
    int crash_at_, events_ = 0;
    Descriptor fd_;
    std::optional<Mapping> seen_;
    std::optional<CachedDevice> journal_device_;
    Image file_cache_;
    CachedDevice file_;
    std::shared_ptr<Journal> journal_;
    std::vector<Pending> pending_;
    Allowed allowed_, allowed_at_crash_;
    Value value_;
    std::int64_t clock_ = 0;
    Image journal_image_, file_image_;
};

}  // namespace sluice::journal_crash
