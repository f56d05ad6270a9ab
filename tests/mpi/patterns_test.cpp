// Every access pattern in every collective form (blocking, nonblocking and split; explicit offset
// and individual pointer): writes it into a prefilled file, compares every byte of the file with
// the serial model, then reads it back. Reading patterns, and views that change, follow.
#include "patterns_reads.hpp"
#include "patterns_views.hpp"

#include <unistd.h>

namespace {

using namespace access_form;
using patterns::Pattern;

model::Bytes data_of(int rank, model::Request const& request) {
    return model::data_of(1, rank, 0, request.bytes());
}

/// Only rank 0 compares the file; with large files the others save the time.
model::File expected_file(Pattern const& pattern) {
    model::File expected(pattern.prefilled_bytes);
    for (int rank = 0; check::rank() == 0 && rank < check::size(); ++rank) {
        auto const request = pattern.request_of(rank, check::size());
        expected.write(request.in_file(), data_of(rank, request));
    }
    return expected;
}

void write_then_read(Pattern const& pattern, Form form) {
    auto const name = check::fresh_file("patterns.bin", pattern.prefilled_bytes);
    auto const request = pattern.request_of(check::rank(), check::size());
    auto const data = data_of(check::rank(), request);
    auto memory = memory_with(request, data);
    auto const before = memory;

    MPI_File file = open(name);
    set_view(file, request.view);
    transfer(file, form, Direction::write, request, memory, request.bytes());
    check::same_bytes(before, memory, "memory after the write");
    close(file);

    file = open(name, MPI_MODE_RDONLY);
    set_view(file, request.view);
    read_and_compare(file, form, request, data);
    close(file);
    check::compare_and_remove(name, expected_file(pattern));
}

void only_read(Pattern const& pattern, Form form) {
    auto const name = check::fresh_file("patterns.bin", pattern.prefilled_bytes);
    auto const request = pattern.request_of(check::rank(), check::size());
    model::File const content(pattern.prefilled_bytes);
    MPI_File file = open(name, MPI_MODE_RDONLY);
    set_view(file, request.view);
    read_and_compare(file, form, request, content.read(request.in_file()));
    close(file);
    check::compare_and_remove(name, content);
}

void add_all_forms(std::vector<check::Test>& tests, Pattern const& pattern,
                   void (*run)(Pattern const&, Form)) {
    for (Form const form : every_form) {
        tests.push_back({pattern.name + "/" + name_of(form), [=] { run(pattern, form); }});
    }
}

std::vector<check::Test> make_tests() {
    std::vector<check::Test> tests;
    for (auto const& pattern : patterns::all_patterns()) {
        add_all_forms(tests, pattern, write_then_read);
    }
    for (auto const& pattern : patterns::read_patterns()) {
        add_all_forms(tests, pattern, only_read);
    }
    for (auto const& test : patterns::view_tests()) tests.push_back(test);
    for (auto const& pattern : patterns::large_patterns()) {
        for (Form const form : {Form::at_all, Form::iall}) {
            tests.push_back(
                {pattern.name + "/" + name_of(form), [=] { write_then_read(pattern, form); }});
        }
    }
    return tests;
}

}  // namespace

int main(int argc, char** argv) {
    return check::run_suite(argc, argv, "patterns_test", make_tests);
}
