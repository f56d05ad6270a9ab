// Large without `_c` functions: more than 2 GiB of one rank in one call (--large-mib above 2048),
// and a view of a billion pieces, which costs bytes and not gigabytes.
#include "access.hpp"

#include <sys/mman.h>

#include <fstream>

namespace {

using namespace access_form;

constexpr std::int64_t mib = 1 << 20;

/// Zeros that cost no memory until they are written to, with marks at places that a 32-bit count
/// would confuse.
class Marked {
public:
    explicit Marked(std::int64_t length) : bytes(length) {
        data = static_cast<unsigned char*>(
            mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    }
    ~Marked() { munmap(data, static_cast<std::size_t>(bytes)); }
    Marked(Marked const&) = delete;
    Marked& operator=(Marked const&) = delete;

    [[nodiscard]] std::vector<std::int64_t> places() const {
        return {0, bytes / 2, 2048 * mib - 1, 2048 * mib, bytes - 1};
    }
    void mark() const {
        for (auto const place : places()) data[place] = mark_at(place);
    }
    static unsigned char mark_at(std::int64_t place) {
        return static_cast<unsigned char>(1 + model::mix(static_cast<std::uint64_t>(place)) % 255);
    }
    void check_marks(std::string_view what) const {
        for (auto const place : places()) {
            check::is_equal(int{mark_at(place)}, int{data[place]}, what);
        }
    }

    std::int64_t bytes;
    unsigned char* data;
};

/// Only rank 0 is large; the others bring a few bytes before it.
void beyond_2_gib(bool nonblocking) {
    auto const length = check::state().options.large_mib * mib;
    if (length <= 2048 * mib) return;
    auto const name = check::fresh_file("beyond.bin", 0);
    MPI_File file = open(name);
    Marked const memory(length);
    bool const large = check::rank() == 0;
    MPI_Datatype unit = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(mib, MPI_BYTE, &unit);
    MPI_Type_commit(&unit);
    int const count = large ? check::state().options.large_mib : 0;
    MPI_Status status{};
    auto const expect_all = [&] {
        MPI_Count found = -1;
        MPI_Get_elements_x(&status, MPI_BYTE, &found);
        check::is_equal(static_cast<MPI_Count>(large ? length : 0), found, "bytes in the status");
    };
    memory.mark();
    if (nonblocking) {
        MPI_Request request = MPI_REQUEST_NULL;
        check::ok(MPI_File_iwrite_at_all(file, 0, memory.data, count, unit, &request));
        check::ok(MPI_Wait(&request, &status));
    } else {
        check::ok(MPI_File_write_at_all(file, 0, memory.data, count, unit, &status));
    }
    expect_all();
    MPI_Barrier(MPI_COMM_WORLD);  // A rank that writes nothing returns before the others.
    MPI_Offset size = 0;
    MPI_File_get_size(file, &size);
    check::is_equal(static_cast<MPI_Offset>(length), size, "file size");
    Marked const back(length);
    check::ok(MPI_File_read_at_all(file, 0, back.data, count, unit, &status));
    expect_all();
    if (large) back.check_marks("read back");
    MPI_Type_free(&unit);
    close(file);
    if (check::rank() == 0) ::unlink(name.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
}

/// The most memory that this process has used so far.
std::int64_t peak_kib() {
    std::ifstream file("/proc/self/status");
    for (std::string word; file >> word;) {
        if (word == "VmHWM:") {
            std::int64_t kib = 0;
            file >> kib;
            return kib;
        }
    }
    return 0;
}

constexpr int billion = 1'000'000'000;
constexpr int some = 5000;

std::vector<int> some_ints(int first) {
    std::vector<int> values(some);
    for (int i = 0; i < some; ++i) values[static_cast<std::size_t>(i)] = first + i;
    return values;
}

void check_pointers(MPI_File file) {
    MPI_Offset place = -1;
    check::ok(MPI_File_get_byte_offset(file, 10, &place));
    check::is_equal(MPI_Offset{40} * (check::size() + 1) + 4 * check::rank(), place, "byte offset");
    MPI_Barrier(MPI_COMM_WORLD);
    check::ok(MPI_File_seek(file, -1, MPI_SEEK_END));
    check::is_equal(MPI_Offset{2 * some - 1}, position(file), "pointer from the end");
    MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
    char representation[MPI_MAX_DATAREP_STRING] = "";
    check::ok(MPI_File_get_view(file, &place, &etype, &filetype, representation));
    MPI_Count size = 0;
    MPI_Type_size_x(filetype, &size);
    check::is_equal(static_cast<MPI_Count>(billion) * 4, size, "bytes of the filetype");
    check::is_true(etype == MPI_INT && std::string(representation) == "native", "the view");
    MPI_Type_free(&filetype);
}

/// Collective and independent calls on one view.
void check_calls(MPI_File file) {
    auto const first = some_ints(1000 * check::rank()), second = some_ints(7 + check::rank());
    MPI_Status status{};
    check::ok(MPI_File_write_all(file, first.data(), some, MPI_INT, &status));
    check::is_equal(MPI_Offset{some}, position(file), "pointer");
    check::ok(MPI_File_write(file, second.data(), some, MPI_INT, &status));
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<int> back(2 * some);
    MPI_Request request = MPI_REQUEST_NULL;
    check::ok(MPI_File_iread_at(file, 0, back.data(), 2 * some, MPI_INT, &request));
    check::ok(MPI_Wait(&request, &status));
    int count = 0;
    MPI_Get_count(&status, MPI_INT, &count);
    check::is_equal(2 * some, count, "count of the independent read");
    auto expected = first;
    expected.insert(expected.end(), second.begin(), second.end());
    check::is_true(back == expected, "independent read");
    std::fill(back.begin(), back.end(), 0);
    check::ok(MPI_File_read_at_all(file, 0, back.data(), 2 * some, MPI_INT, &status));
    check::is_true(back == expected, "collective read");
    if (check::is_one_node()) return;  // Else the MPI has the shared pointer, and not the view.
    int const shared = MPI_File_write_shared(file, first.data(), 1, MPI_INT, &status);
    check::is_equal(int{MPI_ERR_UNSUPPORTED_OPERATION}, check::class_of(shared), "shared pointer");
}

/// A billion single integers, with those of the other ranks and one of nobody's between them.
void billion_pieces() {
    auto const name = check::fresh_file("billion.bin", 0);
    MPI_File file = open(name);
    MPI_Datatype vector = MPI_DATATYPE_NULL;
    MPI_Type_vector(billion, 1, check::size() + 1, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    auto const before = peak_kib();
    check::ok(MPI_File_set_view(file, MPI_Offset{4} * check::rank(), MPI_INT, vector, "native",
                                MPI_INFO_NULL));
    check_calls(file);
    check_pointers(file);
    check::is_true(peak_kib() - before < 64 * 1024, "at most 64 MiB more memory");
    MPI_Type_free(&vector);
    close(file);
    if (check::rank() == 0) ::unlink(name.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
}

/// Etypes of 4 GiB in a view that only the library keeps, as they overlap: the MPI's own view has
/// a datatype of that length in their place, and a count of it is an int.
void large_etype() {
    auto const name = check::fresh_file("etype.bin", 4096);
    MPI_File file = open(name, MPI_MODE_RDONLY);
    MPI_Datatype mebibyte = MPI_DATATYPE_NULL, etype = MPI_DATATYPE_NULL;
    MPI_Datatype overlapping = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(mib, MPI_BYTE, &mebibyte);
    MPI_Type_contiguous(4096, mebibyte, &etype);
    MPI_Aint const places[] = {0, 8};
    MPI_Type_create_hindexed_block(2, 1, places, etype, &overlapping);
    MPI_Type_commit(&etype);
    MPI_Type_commit(&overlapping);
    check::ok(MPI_File_set_view(file, 0, etype, overlapping, "native", MPI_INFO_NULL));
    MPI_Offset place = 0;
    check::ok(MPI_File_get_byte_offset(file, 1, &place));
    check::is_equal(MPI_Offset{8}, place, "byte offset of the second etype");
    MPI_Status status{};
    check::ok(MPI_File_read_all(file, nullptr, 0, etype, &status));
    check::ok(MPI_File_read(file, nullptr, 0, etype, &status));
    for (MPI_Datatype* type : {&overlapping, &etype, &mebibyte}) MPI_Type_free(type);
    close(file);
    if (check::rank() == 0) ::unlink(name.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
}

std::vector<check::Test> make_tests() {
    return {{"beyond_2_gib/all", [] { beyond_2_gib(false); }},
            {"beyond_2_gib/iat_all", [] { beyond_2_gib(true); }},
            {"billion_pieces", billion_pieces},
            {"large_etype", large_etype}};
}

}  // namespace

int main(int argc, char** argv) {
    return check::run_suite(argc, argv, "large_view_test", make_tests);
}
