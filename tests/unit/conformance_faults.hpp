// What every storage does when the system fails it. See conformance.hpp; for storages whose
// requests can be made to fail.
#pragma once
#include "conformance_cases.hpp"

namespace sluice::conformance {

/// Whatever is ordered is over at the end.
class Ordered {
public:
    Ordered(Subject& subject, OrderedFaults::Orders const& orders) : faults_(*subject.faults) {
        faults_.set(orders);
    }
    ~Ordered() { faults_.set({}); }
    Ordered(Ordered const&) = delete;
    Ordered& operator=(Ordered const&) = delete;

private:
    OrderedFaults& faults_;
};

inline void short_counts_and_interruptions(Subject& subject) {
    for (Bytes const most : {Bytes{7}, Bytes{512}, Bytes{4096}, Bytes{5000}, endless}) {
        for (int const interruptions : {0, 2}) {
            Buffer model = pattern(50'000);
            Tester tester(subject, model);
            Ordered const ordered(subject, {.most = most, .interruptions = interruptions});
            Place memory(40'000);
            std::memcpy(memory.data(), pattern(40'000, 8).data(), 40'000);
            std::vector<Segment> const segments{{4096, memory.data(), 16'384},
                                                {20'480, memory.data() + 20'001, 10'000},
                                                {31'000, memory.data() + 17'000, 1000}};
            tester.write(segments);
            write_model(model, segments);
            tester.holds(model);
            Buffer back(60'000, std::byte{0xee});
            ListTransfer read(Direction::read, {{0, back.data(), 60'000}});
            tester.transfer(read);
            tester.equal(read.status(), Status::ok, "status of reading");
            tester.equal(read.bytes, 50'000, "bytes read");
            tester.equal(read.end_of_file, 50'000, "end of the file");
            tester.is(std::memcmp(back.data(), model.data(), model.size()) == 0,
                      "what was written is read");
            tester.is(back[50'000] == std::byte{0xee}, "memory behind is not touched");
        }
    }
}

/// How many bytes have the value. In tests an iterator is a function call or two for each byte,
/// which the thread sanitizer notes.
inline Bytes count_of(Buffer const& bytes, std::byte value) {
    std::byte const* const first = bytes.data();
    std::byte const* const last = first + bytes.size();
    Bytes count = 0;
    for (std::byte const* byte = first; byte != last; ++byte) count += *byte == value;
    return count;
}

/// The n-th request fails: the bytes of the others are there, no others, and they are counted.
/// Then the file works again.
inline void the_nth_request_fails(Subject& subject) {
    constexpr std::pair<int, Status> errors[] = {
        {EIO, Status::io},         {ENOSPC, Status::no_space},
        {EDQUOT, Status::quota},   {EROFS, Status::read_only},
        {EACCES, Status::access},  {ENOMEM, Status::no_memory},
        {EFBIG, Status::no_space}, {0, Status::io}};
    constexpr std::size_t size = 3 << 20;
    Buffer const before(size, std::byte{1});
    Place memory(size, std::byte{2});
    std::vector<Segment> const all{{0, memory.data(), size}};
    for (auto const& [error, status] : errors) {
        for (int const n : {0, 1, 5}) {
            Tester tester(subject, before);
            ListTransfer write(Direction::write, all);
            {
                // Nothing but a write of no bytes is tried again.
                Ordered const ordered(subject, {.most = 256 << 10,
                                                .fail_at = n,
                                                .result = -error,
                                                .fail_times = error == 0 ? 1'000'000 : 1});
                tester.transfer(write);
            }
            tester.equal(write.status(), status, "status");
            tester.equal(write.error.code, error == 0 ? EIO : error, "errno of the error");
            tester.is(write.error.what != nullptr, "the error names what failed");
            Span const asked{write.error.offset, write.error.offset + write.error.bytes};
            bool const lies_inside = asked.begin >= 0 && asked.end <= Bytes{size};
            tester.is(lies_inside && !asked.empty(), "the error tells where it was");
            Buffer const found = content_of(tester.path());
            tester.equal(found.size(), size, "size of the file");
            Bytes const written = count_of(found, std::byte{2});
            tester.equal(written, write.bytes, "bytes in the file");
            tester.is(written < Bytes{size}, "something is missing");
            tester.write(all);
            tester.holds(Buffer(size, std::byte{2}));
        }
    }
}

/// Requests that move nothing for a while: the transfer goes on, and nobody hears of it.
inline void nothing_is_moved_for_a_while(Subject& subject) {
    constexpr std::size_t size = 3 << 20;
    Buffer const content = pattern(size);
    for (long const result : {0L, long{-EAGAIN}}) {
        for (int const n : {0, 1, 5}) {
            Tester tester(subject, Buffer(size, std::byte{1}));
            Place memory(size);
            std::memcpy(memory.data(), content.data(), size);
            ListTransfer write(Direction::write, {{0, memory.data(), size}});
            {
                Ordered const ordered(
                    subject, {.most = 256 << 10, .fail_at = n, .result = result, .fail_times = 3});
                tester.transfer(write);
            }
            tester.equal(write.status(), Status::ok, "status");
            tester.holds(content);
        }
    }
}

inline void a_read_fails(Subject& subject) {
    Buffer const content = pattern(3 << 20);
    Tester tester(subject, content);
    Buffer back(content.size());
    std::vector<Segment> const all{{0, back.data(), static_cast<Bytes>(back.size())}};
    for (int const n : {0, 2}) {
        ListTransfer read(Direction::read, all);
        {
            Ordered const ordered(subject, {.most = 256 << 10, .fail_at = n, .result = -EIO});
            tester.transfer(read);
        }
        tester.equal(read.status(), Status::io, "status");
        tester.equal(read.end_of_file, endless, "end of the file, which nothing found");
        ListTransfer again(Direction::read, all);
        tester.transfer(again);
        tester.equal(again.status(), Status::ok, "status afterwards");
        tester.is(back == content, "the file's bytes are read");
    }
}

/// A file system that takes the flag and refuses the requests: no error, and it is asked once.
/// Buffer that no device reaches: no error either, and the next requests may be of other memory.
inline void direct_io_fails(Subject& subject) {
    constexpr OrderedFaults::Orders ways[] = {{.direct_io_error = EINVAL},
                                              {.direct_io_error = EOPNOTSUPP},
                                              {.direct_io_error = EFAULT},
                                              {.refuse_open_direct_io = true}};
    for (auto const& way : ways) {
        Buffer model = pattern(50'000);
        Ordered const ordered(subject, way);  // Before the file is opened.
        Tester tester(subject, model);
        Place memory(40'000);
        std::memcpy(memory.data(), pattern(40'000, 8).data(), 40'000);
        std::vector<Segment> const segments{{4000, memory.data(), 30'000}};
        tester.write(segments);
        int const asked = subject.faults->direct_requests();
        tester.is(asked <= 1, "each batch is asked for once");
        tester.write(segments);
        tester.equal(subject.faults->direct_requests(),
                     way.direct_io_error == EFAULT ? 2 * asked : asked,
                     "requests past the page cache");
        write_model(model, segments);
        tester.holds(model);
        Buffer back(50'000);
        ListTransfer read(Direction::read, {{0, back.data(), 50'000}});
        tester.transfer(read);
        tester.is(back == model, "what was written is read");
    }
}

inline void fallocate_is_refused(Subject& subject) {
    Ordered const ordered(subject, {.refuse_fallocate = true});
    preallocated(subject);
}

inline std::vector<Case> const& fault_cases() {
    static std::vector<Case> const all{
        {"short_counts_and_interruptions", short_counts_and_interruptions},
        {"the_nth_request_fails", the_nth_request_fails},
        {"nothing_is_moved_for_a_while", nothing_is_moved_for_a_while},
        {"a_read_fails", a_read_fails},
        {"direct_io_fails", direct_io_fails},
        {"fallocate_is_refused", fallocate_is_refused},
    };
    return all;
}

}  // namespace sluice::conformance
