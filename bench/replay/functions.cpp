// The table of functions. See functions.hpp.
#include "bench/replay/functions.hpp"

#include <algorithm>
#include <climits>
#include <iterator>

namespace sluice::replay {
namespace {

using Place = Function::Place;

#ifdef SLUICE_HAVE_LARGE_COUNT
#define COUNTED(NAME) MPI_File_##NAME##_c
MPI_Count counted(MPI_Count count) noexcept { return count; }
#else
#define COUNTED(NAME) MPI_File_##NAME
int counted(MPI_Count count) noexcept { return static_cast<int>(count); }
#endif

// One line a function: the families differ only in their arguments.
#define BLOCKING(NAME, WRITES, PLACE)                                                              \
    Function {                                                                                     \
        #NAME,                                                                                     \
            [](AccessCall& a) {                                                                    \
                return COUNTED(NAME)(a.file, a.buffer, counted(a.count), a.type, &a.status);       \
            },                                                                                     \
            WRITES, PLACE, false, nullptr                                                          \
    }
#define BLOCKING_AT(NAME, WRITES)                                                                  \
    Function {                                                                                     \
        #NAME,                                                                                     \
            [](AccessCall& a) {                                                                    \
                return COUNTED(NAME)(a.file, a.at, a.buffer, counted(a.count), a.type, &a.status); \
            },                                                                                     \
            WRITES, Place::offset, false, nullptr                                                  \
    }
#define STARTING(NAME, WRITES, PLACE)                                                              \
    Function {                                                                                     \
        #NAME,                                                                                     \
            [](AccessCall& a) {                                                                    \
                return COUNTED(NAME)(a.file, a.buffer, counted(a.count), a.type, &a.request);      \
            },                                                                                     \
            WRITES, PLACE, true, nullptr                                                           \
    }
#define STARTING_AT(NAME, WRITES)                                                                  \
    Function {                                                                                     \
        #NAME,                                                                                     \
            [](AccessCall& a) {                                                                    \
                return COUNTED(NAME)(a.file, a.at, a.buffer, counted(a.count), a.type,             \
                                     &a.request);                                                  \
            },                                                                                     \
            WRITES, Place::offset, true, nullptr                                                   \
    }
#define SPLIT(NAME, WRITES, PLACE)                                                                 \
    Function {                                                                                     \
        #NAME "_begin",                                                                            \
            [](AccessCall& a) {                                                                    \
                return COUNTED(NAME##_begin)(a.file, a.buffer, counted(a.count), a.type);          \
            },                                                                                     \
            WRITES, PLACE, false,                                                                  \
            [](AccessCall& a) { return MPI_File_##NAME##_end(a.file, a.buffer, &a.status); }       \
    }
#define SPLIT_AT(NAME, WRITES)                                                                     \
    Function {                                                                                     \
        #NAME "_begin",                                                                            \
            [](AccessCall& a) {                                                                    \
                return COUNTED(NAME##_begin)(a.file, a.at, a.buffer, counted(a.count), a.type);    \
            },                                                                                     \
            WRITES, Place::offset, false,                                                          \
            [](AccessCall& a) { return MPI_File_##NAME##_end(a.file, a.buffer, &a.status); }       \
    }
#define BOTH_WAYS(WAY, WRITES)                                                                     \
    BLOCKING(WAY, WRITES, Place::pointer), BLOCKING(WAY##_all, WRITES, Place::pointer),            \
        BLOCKING(WAY##_shared, WRITES, Place::shared),                                             \
        BLOCKING(WAY##_ordered, WRITES, Place::shared), BLOCKING_AT(WAY##_at, WRITES),             \
        BLOCKING_AT(WAY##_at_all, WRITES), STARTING(i##WAY, WRITES, Place::pointer),               \
        STARTING(i##WAY##_all, WRITES, Place::pointer),                                            \
        STARTING(i##WAY##_shared, WRITES, Place::shared), STARTING_AT(i##WAY##_at, WRITES),        \
        STARTING_AT(i##WAY##_at_all, WRITES), SPLIT(WAY##_all, WRITES, Place::pointer),            \
        SPLIT(WAY##_ordered, WRITES, Place::shared), SPLIT_AT(WAY##_at_all, WRITES)

constexpr Function functions[] = {BOTH_WAYS(write, true), BOTH_WAYS(read, false)};

}  // namespace

Function const* function_named(std::string_view name) noexcept {
    auto const found = std::ranges::find(functions, name, &Function::name);
    return found == std::end(functions) ? nullptr : found;
}

}  // namespace sluice::replay
