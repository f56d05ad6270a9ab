// Whether the pretended driver behaves as CUDA's: the tests of others lean on it.
// `driver_test [NAME]`, with PRETENDED_CUDA.
#include "driver_test.hpp"

#include <csignal>
#include <cstring>
#include <sys/wait.h>

namespace {

bool passes(Test const& test) {
    std::fflush(nullptr);
    pid_t const child = fork();
    if (child == 0) {
        alarm(20);
        setenv("PRETENDED_GPU", test.orders, 1);
        test.run();
        std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return test.signal ? WIFSIGNALED(status) && WTERMSIG(status) == test.signal : status == 0;
}

}  // namespace

int main(int argc, char** argv) {
    int wrong = 0, tried = 0;
    for (auto const& tests : {memory_tests(), stream_tests()})
        for (Test const& test : tests) {
            if (argc > 1 && !std::strstr(test.name, argv[1])) continue;
            bool const passed = passes(test);
            std::printf("%s %s\n", passed ? "ok" : "wrong", test.name);
            wrong += passed ? 0 : 1, ++tried;
        }
    return wrong > 0 || tried == 0;
}
