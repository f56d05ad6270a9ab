// The lines of calls: their names, and what each says. See calls.hpp.
#include "mpi/record/calls.hpp"

#include <array>

namespace sluice::record {
namespace {

template <class Write>
void append(Recorder& recorder, std::int64_t now, Write&& write) noexcept try {
    recorder.append(now, write);
} catch (std::exception const&) {
    recorder.give_up();
}

/// The MPI's name of an access without MPI_File_, such as iwrite_at_all.
class AccessName {
public:
    AccessName(AccessArguments const& a, Who who, bool has_request, bool begins) {
        if (has_request) add("i");
        add(a.direction == Direction::write ? "write" : "read");
        if (a.from == From::offset) add("_at");
        if (a.from == From::shared_pointer) add("_shared");
        if (a.from == From::shared_in_order)
            add("_ordered");
        else if (who == Who::all)
            add("_all");
        if (begins) add("_begin");
    }
    [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), length_}; }

private:
    void add(std::string_view word) {
        std::copy(word.begin(), word.end(), text_.begin() + length_);
        length_ += word.size();
    }

    std::array<char, 32> text_;
    std::size_t length_ = 0;
};

void add_mode(LineWriter& line, int amode) {
    constexpr std::pair<int, std::string_view> words[] = {
        {MPI_MODE_CREATE, "create"},
        {MPI_MODE_RDONLY, "rdonly"},
        {MPI_MODE_WRONLY, "wronly"},
        {MPI_MODE_RDWR, "rdwr"},
        {MPI_MODE_DELETE_ON_CLOSE, "delete_on_close"},
        {MPI_MODE_UNIQUE_OPEN, "unique_open"},
        {MPI_MODE_EXCL, "excl"},
        {MPI_MODE_APPEND, "append"},
        {MPI_MODE_SEQUENTIAL, "sequential"}};
    std::string all;
    for (auto const& [bit, word] : words)
        if (amode & bit) all += (all.empty() ? "" : "+") + std::string(word);
    line.field("mode", all);
}

void add_hints(LineWriter& line, MPI_Info info) {
    int count = 0;
    if (info != MPI_INFO_NULL) PMPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; ++i) {
        std::array<char, MPI_MAX_INFO_KEY + 1> key{};
        std::array<char, MPI_MAX_INFO_VAL + 1> value{};
        int found = 0;
        PMPI_Info_get_nthkey(info, i, key.data());
        PMPI_Info_get(info, key.data(), MPI_MAX_INFO_VAL, value.data(), &found);
        if (found) line.field("hint." + encoded(key.data()), value.data());
    }
}

char const* word_of_whence(int whence) noexcept {
    return whence == MPI_SEEK_SET ? "set" : whence == MPI_SEEK_CUR ? "cur" : "end";
}

}  // namespace

void AccessCall::write() noexcept {
    std::int64_t const now = clock_now();
    append(*recorder_, now, [&](LineWriter& line) {
        AccessArguments const& a = arguments_;
        std::int64_t const type = recorder_->type_number(a.type);
        AccessName const name(a, who_, request_ != nullptr, begins_);
        line.name(name.text()).number(recorder_->file_of(a.handle));
        line.number(recorder_->since_start(began_)).number(now - began_);
        line.field("n", a.count).field("t", type);
        if (a.from == From::offset) line.field("at", a.offset);
        if (request_ && *request_ != MPI_REQUEST_NULL)
            line.field("r", recorder_->add_request(*request_));
        line.end();
    });
}

void OpenCall::write() noexcept {
    std::int64_t const now = clock_now();
    append(*recorder_, now, [&](LineWriter& line) {
        bool const opened = *handle_ != MPI_FILE_NULL;
        bool const has_ranks = communicator_ != MPI_COMM_NULL;
        std::int64_t const group = has_ranks ? recorder_->group_number(communicator_) : -1;
        line.name("open").number(opened ? recorder_->add_file(*handle_) : -1);
        line.number(recorder_->since_start(began_)).number(now - began_);
        line.field("group", group).field("name", name_);
        add_mode(line, amode_);
        add_hints(line, info_);
        line.end();
    });
}

void ViewCall::write() noexcept {
    std::int64_t const now = clock_now();
    append(*recorder_, now, [&](LineWriter& line) {
        std::int64_t const etype = recorder_->type_number(view_.etype);
        std::int64_t const filetype = recorder_->type_number(view_.filetype);
        line.name("set_view").number(recorder_->file_of(handle_));
        line.number(recorder_->since_start(began_)).number(now - began_);
        line.field("at", view_.displacement).field("etype", etype).field("filetype", filetype);
        line.field("rep", view_.representation ? view_.representation : "");
        add_hints(line, info_);
        line.end();
    });
}

void FileCall::write() noexcept {
    std::int64_t const now = clock_now();
    append(*recorder_, now, [&](LineWriter& line) {
        line.name(name_).number(recorder_->file_of(handle_));
        line.number(recorder_->since_start(began_)).number(now - began_);
        if (key_) line.field(key_, value_);
        if (whence_) line.field("whence", word_of_whence(*whence_));
        line.end();
        if (std::string_view(name_) == "close") recorder_->forget_file(handle_);
    });
}

void InfoCall::write() noexcept {
    std::int64_t const now = clock_now();
    append(*recorder_, now, [&](LineWriter& line) {
        line.name("set_info").number(recorder_->file_of(handle_));
        line.number(recorder_->since_start(began_)).number(now - began_);
        add_hints(line, info_);
        line.end();
    });
}

void DeleteCall::write() noexcept {
    std::int64_t const now = clock_now();
    append(*recorder_, now, [&](LineWriter& line) {
        line.name("delete").number(-1);
        line.number(recorder_->since_start(began_)).number(now - began_);
        line.field("name", name_);
        add_hints(line, info_);
        line.end();
    });
}

void CompletionCall::write() noexcept try {
    std::int64_t const now = clock_now();
    std::vector<Recorder::Live> completed;
    for (auto const& one : tried_)
        if (requests_[one.index] != one.request) completed.push_back(one);
    if (completed.empty()) return recorder_->count_tests(tried_);
    append(*recorder_, now, [&](LineWriter& line) {
        std::vector<std::int64_t> numbers;
        std::int64_t tests = 0;
        for (auto const& one : completed) {
            numbers.push_back(one.number);
            tests = std::max(tests, recorder_->forget_request(one));
        }
        line.name(name_).number(-1);
        line.number(recorder_->since_start(began_)).number(now - began_);
        line.list("r", std::span<std::int64_t const>(numbers));
        if (tests > 0) line.field("tests", tests);
        line.end();
    });
} catch (std::exception const&) {
    recorder_->give_up();
}

}  // namespace sluice::record
