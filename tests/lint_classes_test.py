#!/usr/bin/env python3
"""Tests of the checks of how classes are built (lint_classes.py): what is planted is found, and no more."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lint  # noqa: E402
import lint_classes  # noqa: E402
import lint_rules as rules  # noqa: E402
import lint_text as text_of  # noqa: E402

TABLES = ("tests/lint_rules.py", 1)


def findings(check, files):
    """What `check` says of a tree of these files, as (path, line)."""
    return [(finding.path, finding.line) for finding in check(lint.Tree(files))]


class WithTables(unittest.TestCase):
    """Tests that write into the tables of lint_rules.py and leave them as they were."""

    NAMES = ("NULLABLE", "NOTHING_TO_CHECK", "NOT_HASHED")

    def setUp(self):
        self.tables = {name: getattr(rules, name) for name in self.NAMES}
        for name in self.NAMES:
            setattr(rules, name, {})

    def tearDown(self):
        for name, table in self.tables.items():
            setattr(rules, name, table)


class Classes(unittest.TestCase):
    def of(self, *lines):
        return [(found.name, [field for _, field, _ in found.fields], [name for _, name in found.functions])
                for found in text_of.classes("\n".join(lines))]

    def test_counts_overloads_operators_and_what_a_body_defines(self):
        self.assertEqual(self.of(
            "class A final : public B<int> {",
            " public:",
            "  A() = default;",
            "  explicit A(int a) : a_{a}, b_(1) { Set(a); }",
            "  ~A() override;",
            "  void Set(int a) { a_ = a; }",
            "  void Set(std::function<void(int)> b);",
            "  A& operator=(const A&) = delete;",
            "  bool operator()(int) const;",
            "  friend void swap(A& a, A& b);",
            "  using Done = std::function<void(int)>;",
            "  static_assert(sizeof(int) == 4);",
            "  enum class Kind : int { kOne, kTwo };",
            "  template <typename T> T Get() const;",
            " private:",
            "  int a_ = 0, b_ = 1 << 3;",
            "};"),
            [("A", ["a_", "b_"], ["A", "A", "~A", "Set", "Set", "operator", "operator", "Get"])])

    def test_tells_data_from_functions(self):
        self.assertEqual(self.of(
            "struct A {",
            "  static constexpr int kMost = 3;",
            "  double (*norm)(const float*, std::size_t);",
            "  std::unique_ptr<B> (*make)(int) = nullptr;",
            "  alignas(64) std::uint8_t state[64];",
            "  std::function<void(int)> done = [](int) {};",
            "  std::map<int, std::vector<int>> by_id{};",
            "};"),
            [("A", ["norm", "make", "state", "done", "by_id"], [])])

    def test_counts_a_nested_class_by_itself(self):
        self.assertEqual(self.of("class A {", "  struct B {", "    int c = 0;", "    void D();", "  };",
                                 "  B b_;", "};"),
                         [("A", ["b_"], []), ("B", ["c"], ["D"])])


class Collaborators(WithTables):
    PATH = "node/protocol/lasting/x.h"

    def found(self, code, path=PATH):
        return findings(lint_classes.check_collaborators, {path: code})

    def test_accepts_references_and_plain_data(self):
        self.assertEqual(self.found("class C {\n  C(Core& core, const Chain& chain);\n"
                                    "  void F(std::uint64_t n, const char* name);\n  Step* step();\n};"), [])

    def test_refuses_a_pointer_to_a_class(self):
        for parameter in ["Step* step", "const Chain* chain", "wire::Opener* opener", "Step* step = nullptr"]:
            self.assertEqual(self.found(f"class C {{\n  void F(int n, {parameter});\n}};"), [(self.PATH, 2)],
                             parameter)

    def test_looks_at_the_protocol_alone(self):
        self.assertEqual(self.found("void F(Step* step);", "sim/x.h"), [])

    def test_lets_a_reason_stand_and_wants_it_used(self):
        rules.NULLABLE = {f"{self.PATH} step": "null: there is none yet", f"{self.PATH} gone": "null"}
        self.assertEqual(self.found("void F(Step* step);"), [TABLES])


class Sentences(unittest.TestCase):
    def test_refuses_text_in_a_hashed_record(self):
        record = "struct Removal {\n  std::string reason;\n  std::string old_text;\n};"
        self.assertEqual(findings(lint_classes.check_sentences, {"node/wire/block.h": record}),
                         [("node/wire/block.h", 2)])
        self.assertEqual(findings(lint_classes.check_sentences, {"node/wire/names.h": record}), [])


class MutualCalls(unittest.TestCase):
    ROOM = "node/protocol/lasting"

    def room(self, folder=ROOM, **includes):
        files = {f"{folder}/{name}.{suffix}": "#pragma once\n"
                 for name in "abcd" for suffix in ("h", "cpp")}
        for file, target in includes.items():
            name, suffix = file.split("_")
            files[f"{folder}/{name}.{suffix}"] += f'#include "{folder}/{target}.h"\n'
        return [(finding.path, finding.line, finding.message.split(":")[0])
                for finding in lint_classes.check_mutual_calls(lint.Tree(files))]

    def test_accepts_one_way(self):
        self.assertEqual(self.room(a_h="b", b_cpp="c", a_cpp="c", c_cpp="c"), [])

    def test_refuses_two_sources_that_include_each_others_header(self):
        self.assertEqual(self.room(a_cpp="b", b_cpp="a"), [(f"{self.ROOM}/a.cpp", 2, "a -> b -> a")])

    def test_names_the_whole_circle_once(self):
        self.assertEqual(self.room(b_h="c", c_cpp="d", d_cpp="b", a_h="b"),
                         [(f"{self.ROOM}/b.h", 2, "b -> c -> d -> b")])

    def test_takes_a_source_for_part_of_the_header_whose_name_it_extends(self):
        folder = self.ROOM
        files = {f"{folder}/a.h": "", f"{folder}/b.h": f'#include "{folder}/a.h"\n',
                 f"{folder}/a_more.cpp": f'#include "{folder}/a.h"\n#include "{folder}/b.h"\n'}
        self.assertEqual(findings(lint_classes.check_mutual_calls, files), [(f"{folder}/a_more.cpp", 2)])

    def test_looks_at_rooms_of_the_protocol_one_by_one(self):
        self.assertEqual(self.room("node/net/mesh", a_cpp="b", b_cpp="a"), [])
        other = "node/protocol/mail"
        files = {f"{self.ROOM}/a.h": f'#include "{other}/a.h"\n',
                 f"{other}/a.h": f'#include "{self.ROOM}/a.h"\n'}
        self.assertEqual(findings(lint_classes.check_mutual_calls, files), [])


class Contract(WithTables):
    PATH = "node/protocol/lasting/desk.h"
    COMMENT = ["// What it is.", "//", "// Promises [C: CHECKed]:", "//   D1  Each number once. [C]"]
    CLASS = ["#pragma once", "class Desk {", " public:", "  void Take();", " private:",
             "  int next_ = 1;", "};"]
    SOURCE = {"node/protocol/lasting/desk.cpp": "void Desk::Take() { OSTRAKA_CHECK(next_ > 0); }\n"}

    def of(self, comment, body, source=SOURCE, path=PATH):
        return findings(lint_classes.check_contract, {path: "\n".join([*comment, *body]), **source})

    def test_accepts_numbered_promises_that_are_checked(self):
        self.assertEqual(self.of(self.COMMENT, self.CLASS), [])
        self.assertEqual(self.of(["// Promises:", "//   D10  Each."], self.CLASS), [])

    def test_refuses_a_stateful_class_without_numbered_promises(self):
        for comment in [["// What it is."], ["// Promises that each is taken once.", "//   D1  Each."],
                        ["// Promises:", "//   Each number once."],
                        ["// Promises:", "// D1  Each number once."]]:
            self.assertEqual(self.of(comment, self.CLASS), [(self.PATH, len(comment) + 2)], comment)

    def test_refuses_promises_that_nothing_checks(self):
        for source in [{}, {"node/protocol/lasting/desk.cpp": "// OSTRAKA_CHECK(true);\n"},
                       {"node/protocol/lasting/other.cpp": "OSTRAKA_CHECK(true);\n"},
                       {"tests/unit/x_test.cpp": "class Desk::Impl { void CheckInvariants(); };\n"}]:
            self.assertEqual(self.of(self.COMMENT, self.CLASS, source), [(self.PATH, 6)], source)

    def test_accepts_checks_of_an_implementation_elsewhere(self):
        body = ["#pragma once", "class Desk {", "  class Impl;", "  std::unique_ptr<Impl> impl_;", "};"]
        self.assertEqual(self.of(self.COMMENT, body, {}), [(self.PATH, 6)])
        inside = {"node/protocol/lasting/inside/impl.h": "class Desk::Impl {\n  void CheckInvariants() const;\n"
                                                       "  int next_ = 1;\n};\n"}
        self.assertEqual(self.of(self.COMMENT, body, inside), [])
        in_tests = {f"tests/{path}": text for path, text in inside.items()}
        self.assertEqual(self.of(self.COMMENT, body, in_tests), [(self.PATH, 6)])

    def test_leaves_alone_what_has_no_state_of_its_own(self):
        for field in ["const Turn* turn_;", "const int most_ = 3;", "Desk& desk_;",
                      "int open = 0;"]:
            body = [line.replace("int next_ = 1;", field) for line in self.CLASS]
            self.assertEqual(self.of([], body, {}), [], field)
        self.assertEqual(self.of([], self.CLASS, {}, "crypto/desk.h"), [])

    def test_lets_a_reason_stand_for_checks_and_wants_each_reason_used(self):
        rules.NOTHING_TO_CHECK = {self.PATH: "a number, each value of which is right"}
        self.assertEqual(self.of(self.COMMENT, self.CLASS, {}), [])
        self.assertEqual(self.of([], self.CLASS, {}), [(self.PATH, 2)])
        self.assertEqual(self.of(self.COMMENT, self.CLASS), [TABLES])


class Promises(unittest.TestCase):
    PATH = "node/protocol/lasting/desk.h"

    def of(self, *lines, path=PATH):
        return findings(lint_classes.check_promises, {path: "\n".join(["// Promises [C: CHECKed]:", *lines])})

    def test_accepts_promises_that_begin_their_lines(self):
        self.assertEqual(self.of("//   D1  Each once (D2), and in", "//       order. [C]", "//   D2  Each. After D1 Begin ends.",
                                 "//", "//   over. D3 Only keys have", "// Memory: none."), [])
        self.assertEqual(self.of("//   D1 Each.", "// May not know: what", "//   over. D3 Only keys have"), [])

    def test_finds_promises_that_were_folded_into_one_another(self):
        self.assertEqual(self.of("//   D1  Each is not heard until it is", "//   over. D3  Only keys have"), [(self.PATH, 3)])
        self.assertEqual(self.of("//   D1  Each is once. [C] D2  Of each one"), [(self.PATH, 2)])
        self.assertEqual(self.of("//   D1  Nothing that it owes can still", "//   come", "//       in time."), [(self.PATH, 3)])
        self.assertEqual(self.of("//   D1  Each can", "//   come", path="crypto/desk.h"), [])


class OnePlace(unittest.TestCase):
    def planted(self, check, line, path="node/protocol/step/x.cpp"):
        return findings(check, {path: f"\n{line}\n"}) == [(path, 2)]

    def test_refuses_a_store_made_outside_of_the_journal(self):
        for line in ["turn_->Do(Store{1, {}});", "out.Add(protocol::Store{1, {}});", "Store store;",
                     "protocol::Store store = Made();", "out.Add(machine::Store<Record>{1, {}});"]:
            self.assertTrue(self.planted(lint.check_one_journal, line), line)
            self.assertTrue(self.planted(lint.check_one_journal, line, "sim/adversary/x.cpp"), line)
            for path in ("node/protocol/mail/journal.cpp", "tests/unit/x_test.cpp"):
                self.assertEqual(findings(lint.check_one_journal, {path: line}), [], line)

    def test_lets_a_store_be_passed_on(self):
        for line in ["void On(protocol::Store& action);", "Append(protocol::Store store);", "// Store{1}",
                     "struct Store {", "if (std::get_if<Store>(&action)) {", "CellStore store;",
                     "using Store = machine::Store<Record>;"]:
            self.assertFalse(self.planted(lint.check_one_journal, line), line)

    def test_refuses_a_removal_that_no_rule_decided(self):
        for line in ["Docket docket(members, {});", "NoteFault(faults, peer, kind, reason);",
                     "block.removals = {};", "next->removals.push_back(removal);", "block.removals.clear();"]:
            self.assertTrue(self.planted(lint.check_removals, line), line)
            self.assertEqual(findings(lint.check_removals, {"node/protocol/rules/x.cpp": line}), [], line)
        self.assertTrue(self.planted(lint.check_removals, "NoteFault(f, p, k, r);", "sim/adversary/x.cpp"))

    def test_lets_removals_be_read_and_reported(self):
        for line in ["for (const auto& removal : block.removals) Tell(removal);",
                     "if (block.removals == mine) return;", "OnRemoval(removal.peer);", "// the Docket decides"]:
            self.assertFalse(self.planted(lint.check_removals, line), line)
        self.assertFalse(self.planted(lint.check_removals, "report_.removals.push_back(r);",
                                      "node/host/x.cpp"))


class OneTransition(unittest.TestCase):
    PATH = "node/protocol/lasting/stage.cpp"
    HEADER = {"node/protocol/lasting/stage.h": "class StageNow {\n  void Enter(Stage stage);\n"
                                             "  Stage stage_ = Stage::kUnstarted;\n};\n"}
    ENTER = ["void StageNow::Enter(Stage stage) {", "  OSTRAKA_CHECK(MayFollow(stage_, stage));",
             "  stage_ = stage;", "}"]

    def of(self, *lines, path=PATH):
        return findings(lint.check_one_transition, {**self.HEADER, path: "\n".join(lines)})

    def test_accepts_one_function_that_checks(self):
        self.assertEqual(self.of(*self.ENTER), [])
        self.assertEqual(self.of(*self.ENTER, "bool StageNow::Is(Stage a) { return stage_ == a; }"), [])

    def test_refuses_a_change_without_a_check_before_it(self):
        self.assertEqual(self.of(self.ENTER[0], self.ENTER[2], self.ENTER[3]), [(self.PATH, 2)])
        self.assertEqual(self.of(self.ENTER[0], self.ENTER[2], self.ENTER[1], self.ENTER[3]),
                         [(self.PATH, 2)])

    def test_refuses_a_second_function_whatever_it_checks(self):
        for change in ["stage_ = Stage::kHalted;", "std::exchange(stage_, next);",
                       "std::swap(stage_, other);", "++stage_;", "Set(&stage_);"]:
            self.assertEqual(self.of(*self.ENTER, "void StageNow::Halt() {", "  OSTRAKA_CHECK(true);",
                                     f"  {change}", "}"), [(self.PATH, 7)], change)

    def test_holds_for_a_phase_in_a_header_of_any_folder_of_the_product(self):
        text = "class Life {\n  void End() { phase_ = Phase::kGone; }\n  Phase phase_ = Phase::kLink;\n};\n"
        self.assertEqual(findings(lint.check_one_transition, {"node/net/link/life.h": text}),
                         [("node/net/link/life.h", 2)])
        self.assertEqual(findings(lint.check_one_transition, {"tests/support/life.h": text}), [])

    def test_leaves_alone_plain_fields_and_other_classes(self):
        text = ("struct Slot {\n  Phase phase = Phase::kA;\n};\n"
                "void F(Slot& slot) { slot.phase = Phase::kB; }\n")
        self.assertEqual(findings(lint.check_one_transition, {"node/wire/x.h": text}), [])
        self.assertEqual(self.of("void F() { stage_ = 1; }", path="node/protocol/lasting/other.cpp"), [])


class Reasons(unittest.TestCase):
    def test_stand_beside_each_exception(self):
        for reason in [*rules.NULLABLE.values(), *rules.SENTENCES.values(), *rules.NOTHING_TO_CHECK.values()]:
            self.assertGreater(len(reason), 20)


class Fingerprint(WithTables):
    PATH = "node/protocol/mail/desk.h"
    CLEAN = [
        "class Desk {",
        " public:",
        "  struct Job {",
        "    int about = 0, asked_in = 0;",
        "    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, about, asked_in); }",
        "  };",
        "  explicit Desk(const Turn* turn) : turn_(turn), open_{} { next_ = 1; }",
        "  void HashInto(crypto::Hasher& hasher) const {",
        "    crypto::Feed(hasher, open_, next_);",
        "  }",
        "  int next() const { return next_; }",
        " private:",
        "  const Turn* turn_;",
        "  const SealSetup& setup_;",
        "  const std::size_t quorum_;",
        "  static constexpr int kMost = 3;",
        "  std::map<int, std::function<void(int)>> open_{};",
        "  int next_ = 1 << 3;  // int forgotten_;",
        "};",
    ]

    def planted(self, before, after="", **more):
        lines = "\n".join(self.CLEAN).replace(before, after) if before else "\n".join(self.CLEAN)
        return findings(lint.check_fingerprint, {self.PATH: lines, **more})

    def test_accepts_a_body_that_names_every_field(self):
        self.assertEqual(self.planted(""), [])

    def test_refuses_a_field_that_the_body_leaves_out(self):
        for body, less, line in [("open_, next_)", "open_)", 18), ("open_, next_)", "next_)", 17),
                                 ("about, asked_in);", "about);", 4)]:
            self.assertEqual(self.planted(body, less), [(self.PATH, line)])

    def test_refuses_a_new_field_of_any_shape(self):
        for field in ["bool new_ = false;", "std::map<A, std::set<B>> new_;", "A a_, new_;", "Old new_{1, 2};",
                      "std::optional<Digest> new_; ", "std::array<int, 2> new_ = {1, 2};", "int new_[2];"]:
            found = self.planted("  const Turn* turn_;", "  const Turn* turn_; " + field)
            self.assertIn((self.PATH, 13), found, field)

    def test_reads_a_body_in_another_file(self):
        declared = {"HashInto(crypto::Hasher& hasher) const {\n    crypto::Feed(hasher, open_, next_);\n  }":
                    "HashInto(crypto::Hasher& hasher) const;"}
        (before, after), = declared.items()
        body = "void Desk::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, %s); }\n"
        cpp = "node/protocol/mail/desk.cpp"
        self.assertEqual(self.planted(before, after, **{cpp: body % "open_, next_"}), [])
        self.assertEqual(self.planted(before, after, **{cpp: body % "open_"}), [(self.PATH, 16)])
        self.assertEqual(len(self.planted(before, after)), 2)

    def test_wants_hash_into_behind_every_fingerprint(self):
        text = "class M {\n  Digest Fingerprint() const override { return {}; }\n  int step_ = 0;\n};\n"
        self.assertEqual(findings(lint.check_fingerprint, {self.PATH: text}), [(self.PATH, 1)])

    def test_lets_a_reason_stand_for_a_field_and_wants_each_reason_used(self):
        rules.NOT_HASHED = {"Desk::next_": "a cache"}
        self.assertEqual(self.planted("open_, next_)", "open_)"), [])
        rules.NOT_HASHED = {"Desk::gone_": "a cache"}
        self.assertEqual(self.planted(""), [("tests/lint_rules.py", 1)])


if __name__ == "__main__":
    unittest.main()
