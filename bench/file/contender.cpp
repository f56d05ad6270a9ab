// Contenders that call MPI, in the calling thread or in one of their own.
#include "bench/file/contender.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

namespace sluice::bench {
namespace {

int ignore_query(void*, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
int ignore_free(void*) { return MPI_SUCCESS; }
int ignore_cancel(void*, int) { return MPI_SUCCESS; }

class MpiContender : public Contender {
public:
    MpiContender(std::string called, std::string file_path, std::vector<std::string> file_hints) {
        name = std::move(called), path = std::move(file_path), hints = std::move(file_hints);
    }

    void open(Run const& run, Pattern const& pattern) override {
        Hints const info(run.options.hints, hints);
        file_ = open_file(path, MPI_MODE_CREATE | MPI_MODE_RDWR, info.info);
        set_view(file_, 0, pattern, info.info);
    }
    void rewind() override { check(MPI_File_seek(file_, 0, MPI_SEEK_SET), "MPI_File_seek"); }
    void access(Pattern const& pattern, std::span<double> memory, bool writes) override {
        run_access(file_, pattern, memory, writes);
    }
    /// It flushes nothing, unlike MPI_File_sync.
    void settle() override {
        MPI_Offset size = 0;
        check(MPI_File_get_size(file_, &size), "MPI_File_get_size");
    }
    void close() override {
        if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
    }
    std::uint64_t wrong_in_file(Run const& run, Pattern const& pattern,
                                std::uint64_t seed) override {
        if (file_ != MPI_FILE_NULL) check(MPI_File_sync(file_), "MPI_File_sync");
        return pattern.wrong_in_file(run, path, seed);
    }
    void provide_file(Run const& run, Pattern const& pattern, std::span<double>,
                      std::uint64_t seed) override {
        write_file(run, pattern, path, seed);
    }

private:
    MPI_File file_ = MPI_FILE_NULL;
};

class ThreadContender : public MpiContender {
public:
    using MpiContender::MpiContender;

    void access(Pattern const& pattern, std::span<double> memory, bool writes) override {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Grequest_start(ignore_query, ignore_free, ignore_cancel, nullptr, &request),
              "MPI_Grequest_start");
        auto const handle = request;  // the thread's own: MPI_Wait sets the other one to null
        std::thread worker([&, handle] {
            MpiContender::access(pattern, memory, writes);
            check(MPI_Grequest_complete(handle), "MPI_Grequest_complete");
        });
        check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
        worker.join();
    }
};

class Limit : public Contender {
public:
    Limit(std::string called, std::string file_path) : staging_(chunk_words) {
        name = std::move(called), path = std::move(file_path);
    }
    ~Limit() override { Limit::close(); }

    void prepare(Pattern const& pattern) override {
        std::uint64_t const bytes = words_of(pattern) * word_bytes;
        begin_ = 0;  // MPI_Exscan leaves it alone on rank 0
        check(MPI_Exscan(&bytes, &begin_, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD), "MPI_Exscan");
    }
    void open(Run const&, Pattern const&) override {
        file_ = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
        check(file_ >= 0 ? MPI_SUCCESS : MPI_ERR_IO, "opening the file of the limit");
    }
    void rewind() override {}
    void access(Pattern const& pattern, std::span<double> memory, bool writes) override {
        at_ = begin_, left_ = words_of(pattern), held_ = used_ = 0;
        for (int row = 0; row < pattern.rows(); ++row) {
            double* const words = memory.data() + std::size_t(row) * pattern.memory_words();
            if (writes)
                pattern.for_each_copy(
                    [&](std::uint64_t place, std::uint64_t count) { put(words + place, count); });
            else
                pattern.for_each_copy(
                    [&](std::uint64_t place, std::uint64_t count) { get(words + place, count); });
        }
        if (writes) flush();
    }
    void close() override {
        if (file_ >= 0) ::close(std::exchange(file_, -1));
    }
    /// Its bytes are in an order of its own; they are checked when they are read.
    std::uint64_t wrong_in_file(Run const&, Pattern const&, std::uint64_t) override { return 0; }
    void provide_file(Run const& run, Pattern const& pattern, std::span<double> host,
                      std::uint64_t seed) override {
        pattern.fill_access(host, seed);
        prepare(pattern), open(run, pattern);
        access(pattern, host, true);
        close();
    }

private:
    static constexpr std::uint64_t chunk_words = (std::uint64_t{1} << 20) / word_bytes;

    static std::uint64_t words_of(Pattern const& pattern) {
        return std::uint64_t(pattern.words()) * std::uint64_t(pattern.rows());
    }
    static void copy(double* to, double const* from, std::uint64_t words) {
        if (words == 1)
            *to = *from;
        else
            std::memcpy(to, from, words * word_bytes);
    }
    void put(double const* from, std::uint64_t words) {
        while (words > 0) {
            auto const part = std::min(words, chunk_words - used_);
            copy(staging_.data() + used_, from, part);
            used_ += part, from += part, words -= part;
            if (used_ == chunk_words) flush();
        }
    }
    void get(double* to, std::uint64_t words) {
        while (words > 0) {
            if (used_ == held_) load();
            auto const part = std::min(words, held_ - used_);
            copy(to, staging_.data() + used_, part);
            used_ += part, to += part, words -= part;
        }
    }
    void flush() {
        transferred(::pwrite(file_, staging_.data(), used_ * word_bytes, off_t(at_)), used_);
        used_ = 0;
    }
    void load() {
        held_ = std::min(chunk_words, left_), used_ = 0, left_ -= held_;
        transferred(::pread(file_, staging_.data(), held_ * word_bytes, off_t(at_)), held_);
    }
    void transferred(ssize_t bytes, std::uint64_t words) {
        check(bytes == ssize_t(words * word_bytes) ? MPI_SUCCESS : MPI_ERR_IO,
              "a transfer of the limit");
        at_ += words * word_bytes;
    }

    int file_ = -1;
    std::uint64_t begin_ = 0, at_ = 0;  ///< Bytes in the file: of this rank, and of the transfer.
    std::uint64_t left_ = 0, held_ = 0, used_ = 0;  ///< Words: to read, in staging_, of these.
    std::vector<double> staging_;
};

}  // namespace

void write_file(Run const& run, Pattern const& pattern, std::string const& path,
                std::uint64_t seed) {
    auto const words = pattern.file_bytes() / word_bytes;
    auto word = share_begin(words, run.rank, run.ranks);
    auto const end = share_begin(words, run.rank + 1, run.ranks);
    int const file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    std::vector<double> chunk((std::size_t{1} << 20) / word_bytes);
    bool right = file >= 0;
    while (right && word < end) {
        auto const count = std::min<std::uint64_t>(chunk.size(), end - word);
        for (std::uint64_t i = 0; i < count; ++i) chunk[i] = word_at((word + i) * word_bytes, seed);
        auto const size = count * word_bytes;
        right = ::pwrite(file, chunk.data(), size, off_t(word * word_bytes)) == ssize_t(size);
        word += count;
    }
    if (file >= 0) ::close(file);
    check(right ? MPI_SUCCESS : MPI_ERR_IO, "writing the file to read");
    wait_for_all();
}

std::unique_ptr<Contender> mpi_contender(std::string name, std::string path,
                                         std::vector<std::string> hints) {
    return std::make_unique<MpiContender>(std::move(name), std::move(path), std::move(hints));
}

std::unique_ptr<Contender> thread_contender(std::string name, std::string path,
                                            std::vector<std::string> hints) {
    return std::make_unique<ThreadContender>(std::move(name), std::move(path), std::move(hints));
}

std::unique_ptr<Contender> limit_contender(std::string name, std::string path) {
    return std::make_unique<Limit>(std::move(name), std::move(path));
}

}  // namespace sluice::bench
