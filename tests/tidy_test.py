#!/usr/bin/env python3
"""Tests of tests/tidy.py: what it must find, and what it must not take for a fault."""
import unittest

import tidy
from reach import ROOT

KINDS = """
class Kinds final : public Base<int(char)> {
    int before_public(int);
public:
    Kinds();
    void is_public() const;
private:
    Kinds(Kinds const&) = delete;
    Kinds& operator=(Kinds const&) = default;
    friend bool same(Kinds const&, Kinds const&);
    using Base::Base;
    static_assert(sizeof(int) == 4);
    explicit Kinds(int a) : a_{a}, b_(2) {}
    [[nodiscard]] bool operator()(int) const noexcept(true);
    bool operator<(Kinds const&) const;
    template <class Act> void act(Act&& act) { call(act); }
    static std::function<void(int)> returns_one(std::vector<int> const& list);
    struct Inner { void of_inner(); void another(); };
    std::function<void(int)> called_;
    void (*pointer_)(int) = nullptr;
    alignas(64) std::atomic<int> a_{0};
    int b_ = std::max(1, 2), c_{three()};
    std::array<int, (1 << 3)> d_;
};
"""


def class_of(count):
    functions = "".join(f"    void f{i}();\n" for i in range(count))
    return f"// A class.\nclass Large {{\npublic:\n    void g();\n\nprivate:\n{functions}}};\n"


class Classes(unittest.TestCase):
    def faults_of(self, text):
        tidy.faults.clear()
        tidy.check_classes(ROOT / "src" / "large.hpp", text)
        return list(tidy.faults)

    def test_too_many(self):
        self.assertEqual(self.faults_of(class_of(tidy.PRIVATE_FUNCTIONS)), [])
        found = self.faults_of(class_of(tidy.PRIVATE_FUNCTIONS + 1))
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("src/large.hpp:2: Large has 21 private"), found[0])

    def test_what_counts(self):
        body = tidy.body_after(KINDS, KINDS.index("{"))
        found = tidy.private_functions("class", body)
        self.assertEqual(len(found), 6, found)
        for name in ("before_public", "explicit Kinds", "operator_", "act", "returns_one"):
            self.assertTrue(any(name in declaration for declaration in found), name)
        self.assertEqual(len(tidy.private_functions("struct", body)), 5)


if __name__ == "__main__":
    unittest.main()
