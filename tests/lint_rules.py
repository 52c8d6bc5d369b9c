"""What tests/lint.py enforces, as tables. An exception without a reason is not an exception."""

import re

# --- layers (docs/architecture.md) ---------------------------------------------------------------
# (prefix, layer, name of the row's member). The first prefix that fits a path wins. A file may
# include files of its own member and of lower layers; members of one row may not see each other.
LAYERS = [
    ("node/base/", 0, "base"),
    ("crypto/", 1, "crypto"),
    ("node/machine/", 2, "machine"),
    ("node/wire/", 2, "wire"),
    ("aggregation/kernels/", 2, "kernels"),
    ("aggregation/optim/", 3, "optim"),
    ("aggregation/shared/", 3, "shared"),
    ("aggregation/rules/", 4, "agg_rules"),
    ("aggregation/attacks/", 5, "attacks"),
    ("exact/kernels/", 3, "exact_kernels"),
    ("exact/graph/", 3, "exact_graph"),
    ("exact/models/", 4, "exact_models"),
    ("exact/program/", 4, "exact_program"),
    ("exact/run/", 5, "exact_run"),
    ("exact/device/", 6, "exact_device"),
    ("proofs/evidence/", 3, "evidence"),
    ("dht/wire/", 3, "dht_wire"),
    ("dht/table/", 4, "dht_table"),
    ("dht/store/", 4, "dht_store"),
    ("dht/lookup/", 5, "dht_lookup"),
    ("dht/", 6, "dht"),
    ("node/protocol/ground/", 5, "ground"),
    ("node/protocol/seal/inside/", 6, "seal_inside"),
    ("node/protocol/seal/", 5, "seal"),
    ("node/protocol/rules/", 6, "rules"),
    ("node/protocol/sync/", 6, "sync"),
    ("node/protocol/watch/", 6, "watch"),
    ("node/protocol/mail/", 6, "mail"),
    ("node/protocol/lasting/", 7, "lasting"),
    ("node/protocol/step/", 8, "step"),
    ("node/protocol/member/", 9, "member"),
    ("node/protocol/recording/", 10, "recording"),
    ("node/train/trainer.h", 7, "trainer"),
    ("node/train/batch.", 7, "trainer"),
    ("node/train/local_steps.", 7, "trainer"),
    ("node/train/toy_trainer.", 7, "trainer"),
    ("node/train/", 10, "train"),
    ("sim/engine/", 10, "engine"),
    ("sim/dht/", 11, "sim_dht"),
    ("sim/script/", 10, "script"),
    ("sim/page/", 10, "page"),
    ("sim/adversary/", 11, "adversary"),
    ("sim/attacks/results/", 12, "lies"),
    ("sim/attacks/messages/", 12, "messages"),
    ("sim/check/", 12, "check"),
    ("sim/attacks/", 13, "sim_attacks"),
    ("sim/setup/", 14, "setup"),
    ("sim/premises/", 15, "premises"),
    ("sim/trainers/", 15, "sim_trainers"),
    ("sim/run/", 16, "run"),
    ("sim/report/", 17, "report"),
    ("sim/search/", 17, "search"),
    ("sim/compare/cells/", 17, "cells"),
    ("sim/compare/plan/", 18, "plan"),
    ("sim/compare/engine/", 19, "cell_engine"),
    ("sim/compare/report/", 20, "paper"),
    ("node/device/", 11, "device"),
    ("node/os/", 10, "os"),
    ("node/net/records/", 10, "records"),
    ("node/net/link/", 11, "link"),
    ("node/net/mesh/", 12, "mesh"),
    ("node/net/udp/", 11, "udp"),
    ("node/net/fetch/", 11, "fetch"),
    ("node/net/portmap/", 12, "portmap"),
    ("node/net/reach/", 13, "reach"),
    ("node/net/lend/", 11, "lend"),
    ("node/store/", 11, "store"),
    ("node/http/", 11, "http"),
    ("node/config/", 12, "config"),
    ("node/host/threads/", 13, "host_threads"),
    ("node/host/report/", 14, "host_report"),
    ("node/host/driver/", 15, "host_driver"),
    ("node/host/", 16, "host"),
    ("node/cli/terminal/", 21, "terminal"),
    ("node/cli/options/", 22, "options"),
    ("node/cli/views/", 22, "views"),
    ("node/cli/page/", 23, "cli_page"),
    ("node/cli/node/", 24, "cli_node"),
    ("node/cli/doctor/", 24, "doctor"),
    ("node/cli/arrays/", 24, "arrays"),
    ("node/cli/model/", 24, "cli_model"),
    ("node/cli/data/", 24, "cli_data"),
    ("node/cli/sim/", 24, "cli_sim"),
    ("node/cli/dht/", 24, "cli_dht"),
    ("node/cli/portmap/", 24, "cli_portmap"),
    ("node/cli/manual/", 24, "cli_manual"),
    ("node/cli/join/", 25, "cli_join"),
    ("node/cli/swarm/", 25, "swarm"),
    ("node/cli/", 26, "cli"),
    ("python/", 26, "python"),
]


def members_under(folder):
    return {member for prefix, _, member in LAYERS if prefix.startswith(folder)}


COMPARE = members_under("sim/compare/")
HOST = members_under("node/host/")
SIMULATOR = members_under("sim/") - COMPARE
# (who, whom, why): no include between them, though the layers would allow it.
STRANGERS = [
    ({"records", "link", "mesh", "udp", "fetch", "portmap", "reach", "lend", "store", "http", "config"} | HOST, SIMULATOR | COMPARE,
     "the node and the simulator are two drivers of one machine, and neither knows the other"),
    (({"records", "link", "mesh", "udp", "fetch", "portmap", "reach", "lend", "store", "http"} | HOST) - {"host"}, {"train", "config"},
     "models, data and manifests become a run in node/host/prepared_run.cpp alone"),
    (({"store"} | HOST) - {"host"}, {"member"}, "a driver knows a machine by its seam"),
    (SIMULATOR, {"os"}, "it runs in virtual time"),
    (SIMULATOR - {"sim_trainers"}, {"train"}, "it trains through node/train/trainer.h; sim/trainers makes the trainers"),
    (members_under("") - {"seal_inside"}, {"seal_inside"},
     "the parts of a Seal are its own: seal.h is the contract"),
    ({"step", "member"}, {"trainer"}, "a machine asks for a gradient by a job, and knows no trainer"),
    ({"python"}, members_under("node/cli/"), "the module and the command are two front ends of one library"),
    ({"os", "records", "link", "mesh", "udp", "fetch", "portmap", "reach", "http"},
     {"ground", "seal", "rules", "sync", "watch", "mail", "lasting", "step", "member", "trainer"},
     "it carries bytes and knows no protocol"),
]
# Below this layer everything is a function of its inputs: what the banned constructs protect.
FIRST_IMPURE_LAYER = 10

# --- who may include what is not ours ------------------------------------------------------------
# (include, files that may, library). Files are regular expressions on the whole path; tests/ may
# include anything. A library is also confined: no file outside may reach it through a header of
# ours, so a private header of its folder may show it and a public one may not.
# An include in angle brackets that fits no row and is not the standard library's is refused: a new
# library starts here and in docs/decisions/0001.
THIRD_PARTY = [
    (r"sodium.*", r"crypto/.*", "libsodium"),
    (r"(capnp|kj)/.*|.*\.capnp\.h", r"(node|dht)/wire/.*", "Cap'n Proto"),
    (r"(torch|ATen|c10)/.*", r"node/train/torch/[^/]*", "libtorch"),
    (r"boost/.*", r"node/(os|net/link|net/mesh|net/portmap|net/reach|net/udp|http|host|cli/dht|cli/swarm)/.*", "Boost"),
    (r"natpmp\.h", r"node/net/portmap/nat_pmp\.cpp", "libnatpmp"),
    (r"openssl/.*", r"node/net/link/.*", "OpenSSL"),
    (r"sqlite3\.h", r"node/store/.*", "SQLite"),
    (r"zlib\.h", r"node/train/gzip\.cpp", "zlib"),
    (r"CLI/.*", r"(node/cli|sim/compare)/.*", "CLI11"),
    (r"toml\+\+/.*", r"(node/config|sim/compare)/.*", "toml++"),
    # tokenizer_json.cpp: a format that is JSON, which commands of two rooms and a fuzzer read.
    (r"nlohmann/.*", r"(node/cli|node/store|sim/compare)/.*|node/train/tokens/tokenizer_json\.cpp", "nlohmann-json"),
    (r"(spdlog|fmt)/.*", r"node/cli/.*", "spdlog"),
    (r"(gtest|gmock|rapidcheck)(/.*|\.h)", r"tests/.*", "test libraries"),
    (r"pybind11/.*", r"python/.*", "pybind11"),
    # Abseil is everybody's, but only as our own names show it.
    (r"absl/.*", r"node/base/.*|packaging/abseil_for_modules\.cpp", "Abseil"),
]
# Libraries that headers of ours are meant to show.
SHOWN_THROUGH_HEADERS = {"Abseil"}
# The operating system: only in drivers and tools, and where a table row says why.
SYSTEM_HEADER = re.compile(
    r"(sys|netinet|arpa|net|linux)/.*|(unistd|malloc|fcntl|signal|dlfcn|poll|pthread|sched|termios|pwd|netdb|"
    r"spawn|getopt|cpuid|ifaddrs)\.h"
)
SYSTEM_HEADER_FILES = [
    (r"node/(device|os|net|store|http|host|cli)/.*", "drivers and tools"),
    (r"sim/compare/engine/(cell_store|worker_pool)\.cpp", "a store that survives kill -9; processes"),
    (r"packaging/abseil_for_modules\.cpp", "takes the place of a file of Abseil"),
    (r"crypto/key_file_disk\.cpp", "key files: owner, mode and atomic replacement"),
    (r"node/train/(trainer_loader|torch/torch_runtime)\.cpp", "loads the libtorch module with dlopen, and finds its BLAS"),
]
INTRINSICS_HEADER = re.compile(r"(immintrin|x86intrin|cpuid|arm_neon)\.h")
INTRINSICS_FILES = re.compile(r"(aggregation|exact)/kernels/.*\.(cpp|h)")

STANDARD_HEADERS = set(
    """algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono
    cinttypes climits clocale cmath compare complex concepts condition_variable coroutine csignal
    cstdarg cstddef cstdint cstdio cstdlib cstring ctime deque exception execution filesystem format
    forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream
    iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional
    ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location
    span sstream stack stdexcept stop_token streambuf string string_view syncstream system_error
    thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant
    vector version errno.h stdint.h stddef.h stdlib.h string.h""".split()
)

# --- headers that stand alone ------------------------------------------------------------------------
# Sources that are never compiled in a batch: the header with which one opens is proven by the build.
NEVER_IN_A_BATCH = r"(aggregation/kernels|exact/kernels|node/train/torch|python)/.*"

# Headers are compiled behind these, which most of them include and which are half of the time.
PRECOMPILED = ("""algorithm array cmath cstddef cstdint cstring deque functional limits map memory numeric optional set
    span string string_view tuple utility variant vector absl/status/status.h absl/status/statusor.h""").split()

# So the names of the standard headers among them are looked for in the text: name -> headers that have it.
_CONTAINERS = ["array", "deque", "map", "set", "string", "vector"]
PROVIDERS = {
    name: headers
    for names, headers in [
        ("size_t ptrdiff_t byte", ["cstddef", "cstdint", "span", "string_view", "memory", *_CONTAINERS]),
        ("uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t", ["cstdint"]),
        ("move forward exchange swap pair", ["utility", "functional", "memory", "optional", "variant", *_CONTAINERS]),
        ("memcpy memcmp memset memmove strlen", ["cstring"]),
        ("isfinite isnan isinf signbit sqrt ldexp frexp nextafter", ["cmath"]),
        ("numeric_limits", ["limits"]),
        ("accumulate iota inner_product", ["numeric"]),
        ("sort stable_sort find_if any_of all_of none_of lower_bound upper_bound transform max_element", ["algorithm"]),
        ("unique_ptr shared_ptr weak_ptr make_unique make_shared", ["memory"]),
        ("optional nullopt make_optional", ["optional"]),
        ("variant visit get_if holds_alternative monostate", ["variant"]),
        ("tuple tie make_tuple ignore", ["tuple"]),
        ("string to_string", ["string"]),
        ("map", ["map"]), ("set", ["set"]), ("multimap", ["map"]), ("multiset", ["set"]),
        ("vector", ["vector"]), ("deque", ["deque"]), ("array", ["array"]), ("span", ["span"]),
        ("function reference_wrapper", ["functional"]),
        ("string_view", ["string_view", "string"]),
    ]
    for name in names.split()
}

# --- banned in the pure layers ------------------------------------------------------------------------
# (what to look for in code without comments and strings, why)
BANNED_IN_PURE_LAYERS = [
    (r"\b(system|steady|high_resolution|utc|file)_clock\b|\bclock_gettime\b|\bgettimeofday\b"
     r"|\btime\s*\(\s*(NULL|nullptr|0|&)|<(chrono|ctime)>",
     "reads a clock: take base::Time as an argument"),
    (r"\brandom_device\b|\b[sd]?rand(48)?\s*\(|\bgetrandom\b|\bgetentropy\b|\barc4random\w*"
     r"|\brandombytes\w*|<random>",
     "draws the system's randomness or an unspecified generator's: take a seed (node/base/rng.h)"),
    (r"\bmt19937\w*|\b\w+_distribution\b|\bstd::(random_)?shuffle\b|\bstd::sample\b",
     "its values differ between standard libraries: use node/base/rng.h or crypto/stream.h"),
    (r"<(thread|mutex|shared_mutex|condition_variable|future|semaphore|barrier|latch|stop_token"
     r"|execution)>|\bstd::(j?thread|async|mutex|lock_guard|unique_lock|scoped_lock|execution)\b"
     r"|\bthread_local\b|\bpthread_\w+",
     "starts or waits for a thread: a driver's business (node/host)"),
    (r"<unordered_(map|set)>|\bunordered_(multi)?(map|set)\b|\b(flat|node)_hash_(map|set)\b"
     r"|\bstd::hash\b",
     "its order differs between processes: use a sorted container"),
    (r"\bstd::(multi)?(map|set)<\s*(const\s+)?[\w:]+\s*\*",
     "sorts by address, which differs between processes: sort by a value"),
    (r"\bstd::(cout|cerr|clog|cin)\b|<iostream>|\b(std::)?(printf|puts|putchar|perror)\s*\(",
     "does I/O: return a value or a Status"),
    (r"\b(std::)?(fopen|freopen|tmpfile)\s*\(|<(fstream|filesystem)>|\bgetenv\s*\(",
     "reads or writes files or the environment: a driver's business"),
    (r"<(sstream|iomanip|format)>|\bstd::(set)?(precision|fixed|scientific)\b|\bstd::format\b",
     "formats by locale or rounds numbers: build text with std::to_string of integers"),
    (r"\bstd::(exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh"
     r"|cbrt|hypot|erf|erfc|tgamma|lgamma)f?\b",
     "libm differs between machines in the last bit; only sqrt is correctly rounded"),
    (r"\bstd::(transform_)?reduce\b", "sums in an unspecified order: write the loop"),
    (r"#\s*pragma\s+omp\b|\b__attribute__\s*\(\(\s*optimize", "changes the order of operations"),
    (r"\bthrow\b", "throws: return a Status, or CHECK for our own bugs"),
    (r"\b(sleep|usleep|nanosleep)\s*\(|\bsleep_(for|until)\b", "blocks"),
]
# Float formatting hides in format strings, which the patterns above do not see.
FLOAT_FORMAT = re.compile(r"%[-+ #0-9.*]*(l|L)?[aAeEfFgG]")
FORMATTERS = re.compile(r"\b(std::)?(v?s?n?printf|fprintf|StrFormat)\s*\(")

# --- banned everywhere ---------------------------------------------------------------------------
BANNED_EVERYWHERE = [
    (r"\busing\s+namespace\s+(?!std::(chrono_|string_|string_view_)?literals\b)",
     "pulls in names nobody listed"),
    (r"(?<!static_)\bassert\s*\(|<cassert>", "vanishes in release builds: OSTRAKA_CHECK stays on"),
    (r"\b(sleep|usleep|nanosleep)\s*\(|\bsleep_(for|until)\b",
     "waits for time to pass instead of for what it needs"),
    (r"\b(TEST\w*)\s*\([^)]*\bDISABLED_", "a test that does not run proves nothing"),
    (r"\b(FIXME|XXX|HACK)\b", "is not how we mark work: open an issue, or TODO(owner): what"),
]

# --- exceptions ----------------------------------------------------------------------------------
# (path, what the line must contain, reason). Each must be in use: an idle one is reported.
EXCEPTIONS = [
    (r"crypto/[^/]+\.(cpp|h)", r"\brandombytes",
     "Generate, FillRandom, salts and nonces of key files: documented in crypto/sign.h as for "
     "drivers and tools only"),
    (r"crypto/key_file_disk\.cpp", r"<filesystem>", "reads and writes key files: what it is for"),
    (r"crypto/secret\.cpp", r"\bthrow std::bad_alloc\b",
     "memory for a secret has run out: as operator new says it"),
]

# --- files ---------------------------------------------------------------------------------------
# Words of pages that look like a path and are none.
NOT_PATHS = {"exact/1"}  # a compute_profile of manifests
MAX_FILE_BYTES = 200_000
LARGE_FILES = {
    "node/train/data/digits.csv": "the embedded data set: provenance beside it",
    "node/device/kernels.ptx": "the kernels' text, compiled: cuda_device_test.cpp compares its hash with the text's",
}
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 70

# Commits after this one have short subjects (docs/hacking.md, "Commits"); those before are as they are.
COMMITS_AFTER = "c544d79be94f90786c78c76df4ef006877720d06"
MAX_SUBJECT = 72

# Sources without a tests/unit/**/<name>_test.cpp, and where they are tested.
TESTED_ELSEWHERE = [
    (r"aggregation/attacks/attack_entries_[a-z]+\.cpp", "the table of attacks: attacks_test.cpp runs every row"),
    (r"aggregation/rules/([a-z]+_rules|pre_aggregations)\.cpp",
     "the table of rules: rule_test.cpp, golden_test.cpp and tests/property run every row"),
    (r"aggregation/shared/(history|krum_scores|majority_center)\.cpp", "as parts of those rules"),
    (r"exact/kernels/kernels_(scalar|avx2|avx512|neon)\.cpp", "one text: kernels_*_test.cpp run every level that the machine has"),
    (r"exact/graph/(graph_(parse|print)|infer|operations)\.cpp", "graph_test.cpp: texts, types and the table"),
    (r"exact/program/[a-z]+\.cpp", "program_test.cpp, and gradient_test.cpp runs every operation"),
    (r"exact/models/[a-z_]+\.cpp", "models_test.cpp, and gradient_test.cpp runs every model"),
    (r"exact/device/emulated_kernels\.cpp", "the kernels' text: device_runner_test.cpp and conformance_program_test.cpp run all of it"),
    (r"exact/device/(launches_[a-z]+|conformance_cases)\.cpp", "device_runner_test.cpp and conformance_program_test.cpp run every step and case"),
    (r"exact/run/(inputs|runner|steps_[a-z]+)\.cpp", "gradient_test.cpp and bits_test.cpp run every step"),
    (r"node/net/udp/pinger\.cpp", "tests/e2e/reach_test.py and doctor_test.py ping real nodes"),
    (r"node/net/portmap/(nat_pmp|mapper_child)\.cpp", "tests/e2e/portmap_test.py: they need a router and a program"),
    (r".*/main\.cpp", "e2e: a main only starts what others do"),
    (r"node/cli/[a-z]+/[^/]*\.cpp", "tests/e2e runs the binary"),
    (r"python/[^/]*\.cpp", "tests/python imports the module"),
    (r"node/protocol/member/peer_machine\.cpp", "MakePeer: tests/unit/protocol/member/whole/cluster.h runs whole machines"),
    (r"node/(net/(link/connection(_[a-z]+)?|mesh/(listener|mesh(_[a-z]+)?))|os/timer)\.cpp",
     "transport_*_test.cpp, through real sockets"),
    (r"node/store/(ledger_tables|sqlite)\.cpp", "ledger_*_test.cpp, through the ledger"),
    (r"node/host/report/node_events\.cpp", "names of ends: tests/e2e reads them in reports"),
    (r"node/os/tcp_probe\.cpp", "`ostraka doctor`, which tests/e2e runs"),
    (r"node/train/torch/[^/]*\.cpp", "one test of the module through its interface"),
    (r"node/wire/fields\.cpp",
     "bodies_test.cpp, block_codec_test.cpp and round_trip_test.cpp, through wire/codec.h"),
    (r"proofs/evidence/kinds\.cpp", "evidence_test.cpp goes through all kinds"),
    (r"sim/(adversary/scripted|attacks/((results|messages)/)?[a-z_]+)\.cpp",
     "one editor each: tests/scenario runs every attack by name"),
    (r"sim/compare/report/figure_[a-z]+\.cpp", "figures_test.cpp draws each of them"),
]

# Sources that a function of cmake/OstrakaBuild.cmake adds to many targets.
BUILT_BY_FUNCTIONS = {"tests/fuzz/replay_main.cpp", "tests/unit/crypto/environment.cpp"}

# --- fingerprints (crypto/hash_into.h) -----------------------------------------------------------
# Where a class that declares HashInto has to name all its fields in it. Pointers, references, const
# fields are free: they are fixed, and what they show has another owner.
FINGERPRINTED = ("node/protocol/", "crypto/hash_into.h")
# Machines whose Fingerprint is that of the machine within.
WRAPPERS = {"RecordingMachine"}
# Class::field -> why it cannot decide what the class does next, or what is fed in its place.
_FIXED = "fixed for the whole run: the key, or the manifest and the genesis block"
# Files that answer questions of peers (check_handlers).
ANSWERING = (
    "node/protocol/member/answers.cpp",
    "node/protocol/member/forks.cpp",
    "node/protocol/lasting/chain_server.cpp",
)

NOT_HASHED = {
    "Signer::key_": _FIXED,
    "SeedSecrets::self_": _FIXED,
    "SaidSecrets::said_": _FIXED,
    "Voice::self_": _FIXED,
    "Voice::run_id_": _FIXED,
    "PlainPeer::layout_": _FIXED,
    "Post::self_": _FIXED,
    "Post::run_id_": _FIXED,
    "Post::carries_": _FIXED,
    "Components::routes": _FIXED,
    "Served::state": "the leaves stand for it, and it goes once the store has it",
    "Served::copy": "what the store says changes nothing that others see",
    "Ration::carried_": "set and cleared within one call",
    "Ration::hosted_": "set and cleared within one call",
    "GuestRation::a_second_": _FIXED,
    "StateFetch::vectors_": "each piece in place was checked against its leaf",
    "StateFetch::pieces_": _FIXED,
    "Results::spoilt_": "a cache: whether the sealed root's bytes hold values",
    "Charges::self_": _FIXED,
    "Charges::manifest_": _FIXED,
    "Duties::self_": _FIXED,
    "Duties::manifest_": _FIXED,
    "GenesisSeal::self_": _FIXED,
    "GenesisSeal::echoed_prefix_": "a cache: a count of ECHOs that the inbox holds",
    "Inbox::by_digest_": "the messages of places_ once more",
    "Followers::groups_": "a cache: counted from guests_ and rejoins_",
    "Proof::type": "stands in the frame",
    "Proof::signer": "stands in the frame",
    "PastSeal::value": "the hash of the vector",
    "GenesisSeal::run_id_": _FIXED,
    "Reports::self_": _FIXED,
    "ForkTrial::self_": _FIXED,
    "RecentBlocks::capacity_": _FIXED,
    "PlainPeer::manifest_": _FIXED,
    "PlainPeer::self_": _FIXED,
    "PlainPeer::members_": _FIXED,
    "PlainPeer::parts_": _FIXED,
    "PlainPeer::my_index_": _FIXED,
    "Core::turn": "its time and its outbox are set anew in each call",
    "MemberState::server": "holds references alone",
    "Components::check": "holds pointers and the verifier alone",
    "Intake::answers_": "holds references alone",
    "Intake::door_": "holds a reference alone",
    "PeerMachine::verifier_": "a cache: it remembers signatures that it found good",
    "Chain::shown_": "a cache: the head, encoded",
    "DisputedPairs::good_": "a cache: forwarded_parts_ or LateWatch::held_ follows from it in the call that judges",
    "Entries::complete_prefix_": "a cache: a count of entries that the inbox holds or the ECHO settles",
    "LateWatch::tallies_": "derived from authors_ and held_",
    "SealedStep::roles": "a function of the head",
    "StepReading::exact": _FIXED,
    "SealedStep::commits": "decoded from the messages whose digests commit_digests holds",
    "SealedStep::proofs": "decoded from StepReading::proofs, which is fed",
    "PastStep::commit_frames": "what the block's decision names, as signed",
    "PastStep::members": "a function of the block of its step, whose digest RecentBlocks feeds",
    "PastStep::parameters": "a model: a function of the genesis block and of results that blocks name",
    "PastStep::tau": "a function of the block before its step",
    "StepReading::training": "of the manifest",
    "PastStep::batches": "a function of the block before its step",
    "PastStep::fates": "a function of the block of its step",
    "PastStep::commits": "named by the decision of the block of its step",
    "PastStep::proofs": "named by the decision of the block of its step",
    "Settling::ruled_": "what people are told of a block, and nothing else",
    "Step::clock_": "measures laps that people are told, and nothing else",
    "Step::due_": "holds pointers alone: what it finds is kept in Reports",
    "Step::asks_": "holds pointers alone",
    "PlainPeer::state_": "a model: a function of the genesis block and the messages taken in",
    "PlainPeer::times_": "measures laps that people are told, and nothing else",
    "PlainPeer::now_": "set anew in each call",
    "PlainPeer::mark_": "measures laps that people are told, and nothing else",
}

# --- classes (docs/decisions/0017) ----------------------------------------------------------------
# Where a function takes a class of the protocol by reference, so that it is there: a pointer may be null.
BY_REFERENCE = ("node/protocol/",)
# "path parameter" -> why it is a pointer.
NULLABLE = {
    "node/protocol/sync/histories.h known": "null: the block before is not known here",
    "node/protocol/member/answers.h item": "null: the message is not held, which the ration counts too",
    "node/protocol/seal/inside/values.h messages": "kept, never null: a Seal is made by value options alone",
    "node/protocol/seal/inside/impl.h messages": "kept, never null: a Seal is made by value options alone",
    "node/protocol/seal/seal.h messages": "kept, never null: a Seal is made by value options alone",
}
# Records that are hashed by all members hold no sentence. Field -> why it is there.
HASHED_RECORDS = ("node/wire/block.h", "node/wire/messages.h")
SENTENCES = {
    "old_text": "of a block of version 12 or before, which is read and never made",
    "why": "Unreadable: of a body that cannot be read, for people; no frame holds it",
}
# Where files of a folder form no circle of includes.
ONE_WAY_ROOMS = ("node/protocol/",)
# Where a stateful class has numbered promises and CHECKs.
CONTRACTED = ("node/protocol/", "node/machine/", "node/net/", "node/host/")
# Header -> why no CHECK of its promises is possible.
NOTHING_TO_CHECK = {
    "node/net/mesh/guest_lines.h": "a set of keys, any of which is right, and a loop that ends at its bound",
    "node/host/driver/status_server.h": "P1 and P2 are the lifetimes of its servers; http CHECKs its own",
    "node/host/report/observation_lines.h": "a time and a number, each value of which is right",
    "node/net/records/progress_watch.h": "its state is that of two RateFloors, which CHECK theirs",
    "node/protocol/ground/transcript.h": "a hash chain, each value of which is right",
    "node/protocol/recording/said.h": "maps, each content of which is right; S2 and S3 are of one line each",
    "node/protocol/mail/pull_timer.h": "a time and a count, each value of which is right",
    "node/protocol/mail/signature_check.h": "its counts are Ration's, which CHECKs them",
    "node/protocol/lasting/slowness_notice.h": "a flag, each value of which is right",
}
# The only places that make a Store, and that note a fault.
STORE_MAKERS = ("node/protocol/mail/", "dht/node.cpp")  # a member's journal; the DHT node's one record
REMOVERS = ("node/protocol/rules/",)
# Types of a field that changes in one function, which CHECKs what may follow what.
STAGES = {"Stage", "Phase"}
