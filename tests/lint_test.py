#!/usr/bin/env python3
"""Tests of the linter: each check must find what was planted, and nothing in clean code."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lint  # noqa: E402
import lint_rules as rules  # noqa: E402
import lint_text as text_of  # noqa: E402


def findings(check, files, **options):
    """What `check` says of a tree of these files, as (path, line)."""
    return [(finding.path, finding.line) for finding in check(lint.Tree(files), **options)]


class Handlers(unittest.TestCase):
    FILES = {
        "node/wire/messages.h": "enum class PullKind : int {\n  kHead = 0,  // x\n  kProofs = 1,\n};\n",
        "node/wire/names.cpp": "bool IsService(MessageType type) {\n  return type == MessageType::kPull ||\n"
                                  "         type == MessageType::kBlock;\n}\n",
        "docs/threat-model.md": "| PULL `kHead` | a | b | c |\n| PULL `kProofs` | a | b | c |\n| BLOCK | a | b | c |\n",
        "node/protocol/member/answers.cpp": "// wire::Open( in words\n",
    }

    def planted(self, path, old, new):
        return findings(lint.check_handlers, {**self.FILES, path: self.FILES[path].replace(old, new)})

    def test_accepts_the_table(self):
        self.assertEqual(findings(lint.check_handlers, self.FILES), [])

    def test_finds_what_is_missing(self):
        page = "docs/threat-model.md"
        self.assertEqual(self.planted(page, "`kProofs`", "proofs"), [(page, 1)])
        self.assertEqual(self.planted(page, "| BLOCK", "| of BLOCK"), [(page, 1)])

    def test_finds_an_answer_that_decodes(self):
        path = "node/protocol/member/answers.cpp"
        self.assertEqual(self.planted(path, "// wire::Open( in words", "x = wire::Open(frame);"), [(path, 1)])


class Attacks(unittest.TestCase):
    FILES = {
        "docs/protocol/attacks.md": "`Suite.Test` is a test\n| `lie`: it lies | a rule | `LieTest.IsFound`, `Lies.Fail` |\n| hides | a rule | none |\n",
        "tests/unit/lie_test.cpp": "TEST_F(LieTest, IsFound) {\n}\n",
        "tests/property/lies_test.cpp": "RC_GTEST_PROP(Lies, Fail, ()) {\n}\n",
    }

    def test_accepts_tests_that_are_there(self):
        self.assertEqual(findings(lint.check_attacks, self.FILES), [])

    def test_finds_a_test_that_is_gone(self):
        for path in ("tests/unit/lie_test.cpp", "tests/property/lies_test.cpp"):
            self.assertEqual(findings(lint.check_attacks, {**self.FILES, path: ""}), [("docs/protocol/attacks.md", 2)])


class Layers(unittest.TestCase):
    FILES = {
        "node/base/status.h": "#pragma once\n",
        "crypto/hash.h": '#pragma once\n#include "node/base/status.h"\n',
        "node/wire/codec.h": '#pragma once\n#include "crypto/hash.h"\n',
        "aggregation/shared/rule.h": "#pragma once\n",
        "node/protocol/member/peer.h": '#pragma once\n#include "node/wire/codec.h"\n',
        "node/train/trainer.h": "#pragma once\n",
        "node/train/loader.h": '#pragma once\n#include "node/train/trainer.h"\n',
        "node/os/timer.h": "#pragma once\n",
        "node/cli/terminal/exit_code.h": "#pragma once\n",
        "sim/engine/simulator.h": '#pragma once\n#include "node/protocol/member/peer.h"\n',
        "tests/support/world.h": '#pragma once\n#include "sim/engine/simulator.h"\n',
    }

    def planted(self, path, include):
        return findings(lint.check_layers, {**self.FILES, path: f'\n#include "{include}"\n'})

    def test_accepts_the_layers_as_they_are(self):
        self.assertEqual(findings(lint.check_layers, self.FILES), [])

    def test_refuses_a_higher_layer(self):
        self.assertEqual(self.planted("crypto/x.cpp", "node/wire/codec.h"), [("crypto/x.cpp", 2)])
        self.assertEqual(self.planted("node/base/x.h", "crypto/hash.h"), [("node/base/x.h", 2)])

    def test_refuses_a_neighbour_in_the_row(self):
        for path, include in [("aggregation/kernels/x.cpp", "node/wire/codec.h"),
                              ("node/protocol/member/x.cpp", "node/train/trainer.h"),
                              ("node/train/toy_trainer.cpp", "node/protocol/member/peer.h"),
                              ("sim/engine/x.cpp", "node/train/loader.h"),
                              ("node/os/x.cpp", "sim/engine/simulator.h")]:
            self.assertEqual(self.planted(path, include), [(path, 2)])

    def test_refuses_a_stranger_in_a_lower_layer(self):
        for path, include in [("node/host/x.cpp", "sim/engine/simulator.h"),
                              ("node/store/x.cpp", "node/train/loader.h"),
                              ("node/host/driver/x.cpp", "node/train/loader.h"),
                              ("node/host/report/x.cpp", "node/protocol/member/peer.h"),
                              ("sim/run/x.cpp", "node/os/timer.h"),
                              ("sim/run/x.cpp", "node/train/loader.h"),
                              ("python/x.cpp", "node/cli/terminal/exit_code.h"),
                              ("node/net/mesh/x.cpp", "node/protocol/member/peer.h")]:
            self.assertEqual(self.planted(path, include), [(path, 2)])

    def test_lets_the_composition_root_make_a_trainer(self):
        self.assertEqual(self.planted("node/host/x.cpp", "node/train/loader.h"), [])

    def test_lets_a_driver_use_the_trainer_interface(self):
        self.assertEqual(self.planted("sim/engine/x.cpp", "node/train/trainer.h"), [])

    def test_refuses_tests_in_the_product_and_unknown_files(self):
        self.assertEqual(self.planted("sim/engine/x.cpp", "tests/support/world.h"), [("sim/engine/x.cpp", 2)])
        self.assertEqual(self.planted("sim/engine/x.cpp", "simulator.h"), [("sim/engine/x.cpp", 2)])

    def test_knows_every_folder_of_sources(self):
        for path in lint.Tree.from_git(lint.ROOT).cpp():
            if not path.startswith(("tests/", "packaging/")):  # what is linked beside the product is in no layer
                self.assertIsNotNone(lint.layer_of(path), f"{path} is in no row of LAYERS")


class ThirdParty(unittest.TestCase):
    PLACES = {
        "sodium.h": "crypto/x.cpp",
        "capnp/message.h": "node/wire/x.cpp",
        "kj/exception.h": "node/wire/x.cpp",
        "torch/torch.h": "node/train/torch/torch_models.cpp",
        "boost/asio.hpp": "node/net/link/x.cpp",
        "openssl/ssl.h": "node/net/link/x.cpp",
        "sqlite3.h": "node/store/x.cpp",
        "CLI/CLI.hpp": "node/cli/x.cpp",
        "toml++/toml.h": "node/config/x.cpp",
        "nlohmann/json.hpp": "node/cli/x.cpp",
        "spdlog/spdlog.h": "node/cli/x.cpp",
        "absl/status/status.h": "node/base/x.cpp",
        "immintrin.h": "aggregation/kernels/x.cpp",
        "unistd.h": "node/host/x.cpp",
    }
    DRIVERS = ("node/cli/x.cpp", "node/host/x.cpp", "node/net/link/x.cpp", "node/store/x.cpp")
    ALSO = {
        "boost/asio.hpp": ("node/host/x.cpp",),
        "nlohmann/json.hpp": ("node/store/x.cpp",),
        "unistd.h": DRIVERS,
    }

    def test_accepts_each_library_in_its_place_and_nowhere_else(self):
        places = sorted({*self.PLACES.values(), "node/protocol/member/x.cpp", "sim/x.cpp"})
        for header, place in self.PLACES.items():
            for path in places:
                found = findings(lint.check_third_party, {path: f"#include <{header}>\n"})
                allowed = path == place or path in self.ALSO.get(header, ())
                self.assertEqual(found, [] if allowed else [(path, 1)], f"{header} in {path}")

    def test_refuses_a_library_that_a_header_of_ours_shows(self):
        files = {"node/wire/inner.h": "#include <capnp/message.h>\n",
                 "node/wire/codec.h": '#include "node/wire/inner.h"\n',
                 "node/wire/codec.cpp": '#include "node/wire/codec.h"\n'}
        self.assertEqual(findings(lint.check_third_party, files), [])
        files["sim/x.cpp"] = '\n#include "node/wire/codec.h"\n'
        self.assertEqual(findings(lint.check_third_party, files), [("sim/x.cpp", 2)])

    def test_lets_everybody_see_abseil_through_base(self):
        files = {"node/base/status.h": '#include "absl/status/status.h"\n',
                 "sim/x.cpp": '#include "node/base/status.h"\n'}
        self.assertEqual(findings(lint.check_third_party, files), [])

    def test_refuses_generated_code_outside_wire(self):
        files = {"sim/x.cpp": '#include "ostraka.capnp.h"\n',
                 "node/wire/x.cpp": '#include "ostraka.capnp.h"\n'}
        self.assertEqual(findings(lint.check_third_party, files), [("sim/x.cpp", 1)])

    def test_refuses_a_library_nobody_listed(self):
        self.assertEqual(findings(lint.check_third_party, {"sim/x.cpp": "#include <curl/curl.h>\n"}),
                         [("sim/x.cpp", 1)])

    def test_accepts_the_standard_library(self):
        self.assertEqual(findings(lint.check_third_party, {"sim/x.cpp": "#include <vector>\n"}), [])


class Banned(unittest.TestCase):
    PLANTED = [
        "auto t = std::chrono::steady_clock::now();", "clock_gettime(CLOCK_REALTIME, &t);",
        "auto t = time(nullptr);", "#include <chrono>",
        "std::random_device device;", "int x = rand();", "std::mt19937 generator(1);",
        "std::uniform_int_distribution<int> d;", "std::normal_distribution<> d;",
        "std::shuffle(a.begin(), a.end(), g);",
        "#include <thread>", "#include <mutex>", "std::mutex m;", "std::jthread t;",
        "thread_local int x;", "std::unordered_map<int, int> m;", "std::unordered_multiset<int> m;",
        "absl::flat_hash_map<int, int> m;", "std::hash<int> h;", "std::map<const Peer*, int> m;",
        "std::set<Peer *> s;", "std::cout << 1;", 'printf("x");', "#include <iostream>",
        'std::fopen("x", "r");', "#include <fstream>", 'getenv("HOME");',
        "#include <sstream>", "std::setprecision(3);", "double y = std::exp(x);",
        "double y = std::pow(x, 2);", "std::reduce(a.begin(), a.end());", "#pragma omp parallel",
        "throw 1;", 'std::snprintf(b, 9, "%.3f", x);', 'snprintf(b, 9, "%d %g", n, x);',
    ]
    HARMLESS = [
        "// std::random_device is not used here: rand() neither.",
        'const char* text = "std::cout << rand()";',
        "int operand(int);", "int brand = operand(3);", "runtime(0);", "double y = std::sqrt(x);",
        "std::map<PeerId, int> m;", "static_assert(sizeof(int) == 4);", "x.sorted(y);",
        'std::snprintf(b, 9, "%02x", x);', "crypto::Stream shuffle;",
        "std::uint64_t n = 1'000'000; char c = 'x'; std::uint64_t m = 1'000;",
    ]

    def test_refuses_each_in_a_pure_layer(self):
        for line in self.PLANTED:
            found = findings(lint.check_banned, {"node/protocol/member/x.cpp": f"\n{line}\n"})
            self.assertEqual(found[:1], [("node/protocol/member/x.cpp", 2)], line)

    def test_leaves_drivers_free(self):
        for line in self.PLANTED:
            self.assertEqual(findings(lint.check_banned, {"node/host/x.cpp": line}), [], line)

    def test_accepts_what_only_looks_alike(self):
        for line in self.HARMLESS:
            self.assertEqual(findings(lint.check_banned, {"node/protocol/member/x.cpp": line}), [], line)

    def test_refuses_everywhere(self):
        for line in ["using namespace std;", "assert(x);", "#include <cassert>",
                     "std::this_thread::sleep_for(1s);", "usleep(5);", "TEST(A, DISABLED_B) {"]:
            for path in ["node/cli/x.cpp", "tests/unit/base/x_test.cpp"]:
                self.assertEqual(findings(lint.check_banned, {path: line}), [(path, 1)], line)
        self.assertEqual(findings(lint.check_banned, {
            "sim/x.cpp": "using namespace std::string_view_literals;\nusing namespace std::literals;"
        }), [])

    def test_excepts_only_the_listed_files(self):
        line = "randombytes_buf(out.data(), out.size());"
        self.assertNotIn(("crypto/sign.cpp", 1), findings(lint.check_banned, {"crypto/sign.cpp": line}))
        self.assertIn(("dht/x.cpp", 1), findings(lint.check_banned, {"dht/x.cpp": line}))

    def test_reports_an_exception_that_is_not_in_use(self):
        self.assertIn(("tests/lint_rules.py", 1), findings(lint.check_banned, {"crypto/sign.cpp": ""}))

    def test_gives_a_reason_for_every_exception(self):
        for _, _, reason in rules.EXCEPTIONS:
            self.assertGreater(len(reason), 20)


class Marks(unittest.TestCase):
    def test_refuses_marks_for_nobody(self):
        for comment in ["// TODO: later", "// TODO later", "/* TODO() x */", "// FIXME(me): x",
                        "// XXX", "// HACK around it"]:
            self.assertEqual(findings(lint.check_marks, {"sim/x.h": f"\n{comment}\n"}),
                             [("sim/x.h", 2)], comment)

    def test_accepts_an_owner_and_words_that_contain_the_mark(self):
        for text in ["// TODO(network): close idle links", "// hackney", 'auto x = "TODO";']:
            self.assertEqual(findings(lint.check_marks, {"sim/x.h": text}), [], text)


class PlantedRows(unittest.TestCase):
    def test_refuses_a_row_that_quotes_what_is_gone_or_stands_twice(self):
        for text, broken in [("a = 1;", False), ("a = 2;", True), ("a = 1; a = 1;", True)]:
            found = findings(lint.check_planted_rows, {"node/base/x.cpp": text},
                             bugs=[("bug", "node/base/x.cpp", "a = 1;", "", "base_test", "*")])
            self.assertEqual(found, [("tests/planted.py", 1)] if broken else [], text)


class Headers(unittest.TestCase):
    def test_refuses_a_header_without_pragma_once_first(self):
        for text in ["int x;\n#pragma once\n", "#ifndef X\n#define X\n#endif\n", "",
                     "// #pragma once\nint x;\n"]:
            self.assertEqual(findings(lint.check_pragma_once, {"sim/x.h": text}), [("sim/x.h", 1)])
        self.assertEqual(findings(lint.check_pragma_once, {"sim/x.h": "// What.\n#pragma once\n"}), [])

    def test_a_bug_planted_in_a_header_is_found(self):
        text = '#pragma once\n#include "node/base/planted.h"\n'
        self.assertEqual(findings(lint.check_planted, {"sim/x.h": text}), [("sim/x.h", 2)])
        self.assertEqual(findings(lint.check_planted, {"sim/x.cpp": text, "tests/x.h": text}), [])

    def test_wants_its_own_header_first(self):
        files = {"sim/x.h": "", "sim/x.cpp": '#include <vector>\n#include "sim/x.h"\n'}
        self.assertEqual(findings(lint.check_own_header_first, files), [("sim/x.cpp", 1)])
        files["sim/x.cpp"] = '// What.\n#include "sim/x.h"\n#include <vector>\n'
        self.assertEqual(findings(lint.check_own_header_first, files), [])
        self.assertEqual(findings(lint.check_own_header_first, {"sim/main.cpp": "#include <vector>\n"}), [])

    def compile(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            cache = root / "cache"
            first = findings(lint.check_headers_alone, files, root=root, cache=cache)
            marks = len(list(cache.iterdir()))
            self.assertEqual(findings(lint.check_headers_alone, files, root=root, cache=cache), first)
            return first, marks

    def test_compiles_headers_alone_and_remembers_the_good_ones(self):
        good = {"sim/a.h": "#pragma once\n#include <vector>\ninline std::vector<int> A() { return {}; }\n",
                "sim/b.h": '#pragma once\n#include "sim/a.h"\ninline auto B() { return A(); }\n'}
        self.assertEqual(self.compile(good), ([], 2))
        bad = {**good, "sim/c.h": "#pragma once\ninline std::list<int> C() { return {}; }\n",
               "sim/d.h": "inline int D() { return 1; }\n"}
        self.assertEqual(self.compile(bad), ([("sim/c.h", 1), ("sim/d.h", 1)], 2))

    def test_leaves_to_the_build_what_a_source_opens_with_that_no_batch_has(self):
        files = {"exact/kernels/c.h": "#pragma once\nstd::list<int> C();\n",
                 "exact/kernels/c.cpp": '#include "exact/kernels/c.h"\n'}
        self.assertEqual(self.compile(files), ([], 0))
        in_a_batch = {path.replace("exact/kernels", "sim"): text.replace("exact/kernels", "sim")
                      for path, text in files.items()}
        self.assertEqual(self.compile(in_a_batch), ([("sim/c.h", 1)], 0))

    def test_wants_the_standard_header_of_each_name_in_a_header(self):
        files = {"sim/a.h": "#include <vector>\n", "sim/b.h": '#include "sim/a.h"\nstd::vector<int> B();\n',
                 "sim/c.h": "// std::map\n\nstd::map<int, int> C();\n", "sim/c.cpp": "std::map<int, int> d;\n"}
        self.assertEqual(findings(lint.check_standard_includes, files), [("sim/c.h", 3)])

    def test_compiles_headers_behind_what_many_of_them_include(self):
        hub = "#pragma once\nstruct Hub {};\n" + "// What.\n" * 50
        user = '#pragma once\n{}#include "sim/hub.h"\ninline {} U{}() {{ return {{}}; }}\n'
        files = {"sim/hub.h": hub, **{f"sim/u{i}.h": user.format("", "Hub", i) for i in range(12)}}
        tree = lint.Tree(files)
        self.assertEqual(lint.contexts_of(tree, list(files)), {f"sim/u{i}.h": "sim/hub.h" for i in range(12)})
        self.assertEqual(lint.contexts_of(tree, ["sim/hub.h", "sim/u1.h"]), {})  # it would not pay
        # What another one declares is not there, and code before the includes is read without them.
        files["sim/u2.h"] = user.format("", "decltype(U1())", 2)
        files["sim/u3.h"] = user.format("inline Hub Early() { return {}; }\n", "Hub", 3)
        self.assertNotIn("sim/u3.h", lint.contexts_of(lint.Tree(files), list(files)))
        self.assertEqual(self.compile(files), ([("sim/u2.h", 1), ("sim/u3.h", 1)], 11))
        files["sim/hub.h"] = hub.replace("Hub", "Other")
        self.assertEqual(self.compile(files)[1], 1)

    def test_judges_anew_when_an_included_header_changes(self):
        base = {"sim/a.h": "#pragma once\nstruct A {};\n"}
        user = {"sim/b.h": '#pragma once\n#include "sim/a.h"\ninline A B() { return {}; }\n'}
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "sim").mkdir()
            for text, expected in [("#pragma once\nstruct A {};\n", []),
                                   ("#pragma once\nstruct Z {};\n", [("sim/b.h", 1)])]:
                files = {**base, **user, "sim/a.h": text}
                for path, content in files.items():
                    (root / path).write_text(content)
                self.assertEqual(findings(lint.check_headers_alone, files, root=root,
                                          cache=root / "cache"), expected)


class Houses(unittest.TestCase):
    def test_wants_a_readme_in_source_and_top_level_folders(self):
        page = "What does not belong here: y (z).\n"
        files = {"sim/README.md": page, "sim/faults/x.h": "", "docs/a.md": "", ".ci/run": "",
                 "cmake/a.cmake": "", "tests/README.md": page, "tests/unit/base/x_test.cpp": ""}
        self.assertEqual(findings(lint.check_readmes, files), [("docs", 1), ("sim/faults", 1)])

    def test_wants_a_readme_to_say_what_does_not_belong_there(self):
        def of(text):
            return findings(lint.check_readmes, {"sim/x.h": "", "sim/README.md": text, "sim/list/README.md": ""})
        self.assertEqual(of("# sim\n\nWhat does not belong here: y (z).\nMay include: z.\n"), [])
        for text in ["", "# sim\n", "What does not belong here:\n", "See: What does not belong here: y (z).\n"]:
            self.assertEqual(of(text), [("sim/README.md", 1)], text)

    def test_wants_a_test_for_each_unit(self):
        files = {"crypto/hash.h": "", "crypto/hash.cpp": "", "crypto/hash_simd.cpp": "",
                 "crypto/sign.h": "", "crypto/sign.cpp": "",
                 "tests/unit/crypto/hash_test.cpp": ""}
        self.assertEqual(findings(lint.check_test_mirror, files), [("crypto/sign.cpp", 1)])
        files["tests/unit/crypto/sign_test.cpp"] = ""
        self.assertEqual(findings(lint.check_test_mirror, files), [])

    def test_wants_every_source_built(self):
        files = {"sim/a.cpp": "", "sim/b.cpp": "", "sim/faults/c.cpp": "", "tests/unit/sim/a_test.cpp": "",
                 "tests/fuzz/d.cpp": "",
                 "sim/CMakeLists.txt": "ostraka_library(sim\n  SOURCES a.cpp faults/c.cpp xb.cpp)\n",
                 "dht/CMakeLists.txt": "ostraka_fuzz(d ${CMAKE_SOURCE_DIR}/tests/fuzz/d.cpp)"}
        self.assertEqual(findings(lint.check_built, files),
                         [("sim/b.cpp", 1), ("tests/unit/sim/a_test.cpp", 1)])

    def test_refuses_large_files_and_warns_of_long_ones(self):
        large = {"docs/picture.txt": "x" * (rules.MAX_FILE_BYTES + 1)}
        self.assertEqual(findings(lint.check_sizes, large), [("docs/picture.txt", 1)])
        allowed = {next(iter(rules.LARGE_FILES)): "x" * (rules.MAX_FILE_BYTES + 1)}
        self.assertEqual(findings(lint.check_sizes, allowed), [])
        long_file = lint.Tree({"sim/x.h": "int x;\n" * (rules.MAX_FILE_LINES + 1)})
        self.assertEqual([f.fatal for f in lint.check_sizes(long_file)], [False])

    def test_warns_of_long_functions(self):
        body = "  Call();\n" * rules.MAX_FUNCTION_LINES
        self.assertEqual(findings(lint.check_sizes, {"sim/x.cpp": f"void F() {{\n{body}}}\n"}),
                         [("sim/x.cpp", 1)])
        self.assertEqual(findings(lint.check_sizes, {"sim/x.cpp": f"class C {{\n{body}}};\n"}), [])


class Pages(unittest.TestCase):
    FILES = {
        "sim/run/seeds.h": "#pragma once\n",
        "sim/run/README.md": "# sim/run (layer 16)\n`seeds.h` many runs\n",
        "sim/README.md": "# sim (layers 16 to 17)\n| 16 | [run](run/README.md) | `seeds.h` |\n",
        "sim/report/report.h": "#pragma once\n",
        "docs/hacking.md": "In sim/run/seeds.h, `sim/*/seeds.*` and [sim](../sim/README.md#a).\n```\nsim/gone.h\n```\n",
        "docs/other.md": "`seeds.h` is no path from the root; sim/run is.\n",
    }

    def planted(self, check, path, line):
        return findings(check, {**self.FILES, path: line + "\n"})

    def test_accepts_what_is_there(self):
        self.assertEqual(findings(lint.check_named_paths, self.FILES), [])
        self.assertEqual(findings(lint.check_room_layers, self.FILES), [])

    def test_refuses_names_of_what_is_gone(self):
        for line in ["see sim/run/gone.h", "`sim/run/gone.h`", "`gone.h`", "`run/gone/`", "`sim/*/gone.*`",
                     "[run](../sim/gone.md)", "(sim/gone)"]:
            self.assertEqual(self.planted(lint.check_named_paths, "docs/hacking.md", line),
                             [("docs/hacking.md", 1)], line)

    def test_finds_a_rooted_path_in_any_page_but_decisions(self):
        for page, found in [("docs/other.md", 1), ("docs/decisions/README.md", 1), ("docs/decisions/0001-a.md", 0)]:
            self.assertEqual(self.planted(lint.check_named_paths, page, "sim/gone.h"), [(page, 1)] * found)

    def test_leaves_alone_what_only_looks_like_a_path(self):
        for line in ["and/or", "`build/sim/x.h`", "`DIR/status.sock`", "https://a.b/sim/gone.h", "sim/<room>/x.h"]:
            self.assertEqual(self.planted(lint.check_named_paths, "docs/other.md", line), [], line)

    def test_wants_the_layers_of_the_table(self):
        for path, line in [("sim/run/README.md", "# sim/run (layer 15)"), ("sim/README.md", "# sim (layers 15 to 17)"),
                           ("sim/README.md", "| 15 | [run](run/README.md) | x |")]:
            self.assertEqual(self.planted(lint.check_room_layers, path, line), [(path, 1)], line)


class Format(unittest.TestCase):
    def test_finds_and_mends_what_clang_format_would_change(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / ".clang-format").write_text((lint.ROOT / ".clang-format").read_text())
            files = {"good.cpp": "int main() { return 0; }\n", "bad.cpp": "int  main(){return 0;}\n"}
            for path, text in files.items():
                (root / path).write_text(text)
            self.assertEqual(findings(lint.check_format, files, root=root), [("bad.cpp", 1)])
            self.assertEqual(findings(lint.check_format, files, root=root, fix=True), [])
            self.assertEqual((root / "bad.cpp").read_text(), files["good.cpp"])


class Commits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.git("init", "--quiet", "--initial-branch=main")
        self.first = self.commit("x" * 100)

    def git(self, *arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *who, *arguments], cwd=self.root, check=True, capture_output=True,
                              text=True).stdout.strip()

    def commit(self, subject):
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        return self.git("rev-parse", "HEAD")

    def found(self, root=None, after=None):
        return [(finding.fatal, finding.message.split(";")[0].replace(self.git("rev-parse", "--short", "HEAD"), "HEAD"))
                for finding in lint.check_commits(lint.Tree({}), root=root or self.root, after=after or self.first)]

    def test_accepts_72_characters_and_what_came_before(self):
        self.commit("y" * 72 + "\n\n" + "The body is free. " * 10)
        self.assertEqual(self.found(), [])

    def test_finds_a_longer_subject(self):
        self.commit("y" * 73)
        self.assertEqual(self.found(), [(True, "the subject of HEAD has 73 characters")])

    def test_skips_merges(self):
        self.git("checkout", "--quiet", "-b", "other")
        self.commit("short")
        self.git("checkout", "--quiet", "main")
        self.git("merge", "--quiet", "--no-ff", "--message", "m" * 90, "other")
        self.assertEqual(self.found(), [])

    def test_says_that_it_cannot_check(self):
        self.commit("y" * 73)
        with tempfile.TemporaryDirectory() as clone:
            self.git("clone", "--quiet", "--depth=1", f"file://{self.root}", clone)
            for root, after in [(pathlib.Path(clone), self.first), (self.root, "0" * 40)]:
                (fatal, message), = self.found(root, after)
                self.assertFalse(fatal)
                self.assertIn("not checked", message)

    def test_says_so_outside_of_a_repository(self):
        with tempfile.TemporaryDirectory() as folder:
            (fatal, message), = self.found(pathlib.Path(folder))
            self.assertFalse(fatal)
            self.assertIn("not checked", message)


class Text(unittest.TestCase):
    def test_keeps_lines_where_they_were(self):
        source = 'int a; // one\n/* two\nthree */ char b = \'"\'; const char* c = "// no";\nR"x(\n)"\n)x";\n'
        stripped = text_of.strip(source)
        self.assertEqual([len(l) for l in stripped.split("\n")], [len(l) for l in source.split("\n")])
        self.assertNotRegex(stripped, r"one|two|three|no")
        self.assertIn("char b", stripped)

    def test_sees_digit_separators_as_digits(self):
        self.assertIn("rand()", text_of.strip("int a = 1'000; rand(); int b = 2'000;"))

    def test_reads_includes_but_not_commented_ones(self):
        source = '// #include "a.h"\n#include "b.h"  // why\n# include <c>\n'
        self.assertEqual(list(text_of.includes(source)), [(2, "b.h", True), (3, "c", False)])

    def test_cuts_functions(self):
        source = "\n".join([
            "#define M(x) do { x; } while (0)",
            "namespace a {",
            "struct S {",
            "  S() : x_{1}, y_(2) {",
            "    x_ = 2;",
            "  }",
            "  int Get() const { return x_; }",
            "  int x_ = 0;",
            "};",
            "enum class E { kOne };",
            "constexpr int kTable[] = {1, 2};",
            "template <typename T>",
            "T Twice(T value) {",
            "  auto f = [&] { return value; };",
            "  return f() + f();",
            "}",
            "}  // namespace a",
        ])
        self.assertEqual(list(text_of.functions(source)),
                         [(4, 6, "S"), (7, 7, "Get"), (12, 16, "Twice")])


class Command(unittest.TestCase):
    def test_documents_every_check(self):
        names = [name for name in dir(lint) if name.startswith("check_")]
        listed = {check.__name__ for check in lint.FAST_CHECKS + lint.SLOW_CHECKS}
        self.assertEqual(set(names), listed)
        for check in lint.FAST_CHECKS + lint.SLOW_CHECKS:
            self.assertRegex(check.__doc__ or "", re.compile(r"\w"))


if __name__ == "__main__":
    unittest.main()
