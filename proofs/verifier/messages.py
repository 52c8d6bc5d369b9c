"""What ostraka signs, as tables for canonical.py (docs/wire.md, node/wire/ostraka.capnp)."""
from canonical import Blobs, Bytes, Field, Id, Ids, Many, One, OptionalId, Refused, Struct, Words

MAX_PEERS = 256
MAX_KEYS = 4 * MAX_PEERS
MAX_ARRIVALS = 16
MAX_CANDIDATES = MAX_PEERS + MAX_ARRIVALS
MAX_MODERATORS = 16
MAX_INVITE_USES = 256
MAX_USED_INVITES = MAX_KEYS
MAX_INVITE_USERS = MAX_KEYS  # of all invites together
MAX_FRAME = 256 * 1024
MAX_SMALL_BODY = 2 * 1024
MAX_FILE = 1024 * 1024
MAX_ITERATIONS = 1 << 20

PHASES = ["genesis", "a", "b", "c"]
TYPES = ["boot", "commit", "part", "aggregate", "result", "reveal", "proof", "echo", "status", "propose", "vote",
         "lock", "rejoin", "pull", "vector", "block", "chunk", "close", "forward"]
SERVICES = {"pull", "vector", "block", "chunk", "forward"}
SLOW_PATH = {"status", "propose", "vote", "lock"}
KINDS = ["equivocation", "false_reveal", "unreadable", "false_part", "impossible_numbers", "broken_lock",
         "sealed_ban", "false_status", "verdict", "gradient"]

PHASE_OF = {"boot": "genesis", "commit": "a", "part": "a", "aggregate": "a", "result": "a", "reveal": "b",
            "proof": "c", "rejoin": "c"}


def check_slot(slot):
    phase, type_ = PHASES[slot["phase"]], TYPES[slot["type"]]
    if phase != PHASE_OF.get(type_, phase) or (type_ in SLOW_PATH | {"close"} and phase == "genesis"):
        raise Refused("slot: no such message in this phase")
    if slot["draw"] and phase != "b":
        raise Refused("slot: draw must be 0 here")
    if type_ in SLOW_PATH:
        low, high = 1, MAX_ITERATIONS
    else:
        low, high = 0, MAX_PEERS - 1 if type_ in ("part", "result") else 0
    if not low <= slot["iteration"] <= high:
        raise Refused("slot: no such iteration")


SLOT = Struct("slot", [Field("incarnation", 0, 32), Field("step", 64, 64), Field("phase", 32, 16, len(PHASES) - 1),
                       Field("type", 48, 16, len(TYPES) - 1), Field("draw", 128, 32), Field("iteration", 160, 32)],
              [Id("run_id")], check_slot)
ENVELOPE = Struct("envelope", [], [One("slot", SLOT), Id("entry"), Id("sender"), Bytes("body", MAX_FRAME)])
EVIDENCE = Struct("evidence", [Field("version", 0, 32), Field("kind", 32, 16, len(KINDS) - 1)],
                  [Id("accused"), One("slot", SLOT), Blobs("frames", MAX_PEERS, MAX_FRAME),
                   Ids("attachments", 2 * MAX_PEERS), Bytes("block", MAX_FILE)])
HANDOVER = Struct("handover", [Field("version", 0, 32)],
                  [Bytes("block", MAX_FILE), Blobs("frames", MAX_PEERS, MAX_FRAME)])


def ascending(what, keys):
    if any(a >= b for a, b in zip(keys, keys[1:])):
        raise Refused(what + ": must be strictly ascending")


def ids_of(ids):
    return [ids[i:i + 32] for i in range(0, len(ids), 32)]


def at_least_one_coin(commit):
    if commit["coin_count"] == 0:
        raise Refused("coin count: out of range")


def zero_if_missing(column):
    if column["missing"] and any(column[name] for name in ("s0", "s1", "s2", "s3", "norm")):
        raise Refused("columns: numbers of a missing column must be zero")


def no_column_of_gradients(case):
    if case["kind"] == 0 and case["column"]:
        raise Refused("column: must be 0 in a case about a gradient")


def check_joins(proof):
    joins = ids_of(proof["joins"])
    ascending("joins", joins)
    ascending("arrivals", [arrival["peer"] for arrival in proof["arrivals"]])
    if any(arrival["peer"] in joins for arrival in proof["arrivals"]):
        raise Refused("arrivals: names a key of joins")


def at_least_one_use(voucher):
    if voucher["uses"] == 0:
        raise Refused("uses: out of range")


def of_its_own_moderator(revocation):
    invite = revocation["invite"]
    if invite is not None and invite["moderator"] != revocation["moderator"]:
        raise Refused("revoked invite: is of another moderator")


def statuses_only_without_lock(propose):
    if propose["rank"] and (propose["statuses"] or any(propose["statuses_root"])):
        raise Refused("statuses: only with rank 0")


HEADER = Struct("header", [Field("element", 0, 16, 0), Field("codec", 16, 16, 3)], [Words("shape", 8)])
COLUMN = Struct("columns", [Field("missing", 0, 1)] + [Field(f"s{k}", 64 * (k + 1), 64) for k in range(4)] +
                [Field("norm", 320, 64), Field("size", 384, 64)], [], zero_if_missing)
CASE = Struct("case", [Field("kind", 0, 16, 2), Field("column", 32, 32, MAX_PEERS - 1), Field("step", 64, 64)],
              [Id("accuser"), Id("target")], no_column_of_gradients)
VOTE = Struct("votes", [Field("verdict", 0, 16, 3)], [One("about", CASE)])
ACCUSATION = Struct("accusation", [Field("step", 0, 64)], [Id("target")])
NAMING = Struct("naming", [Field("step", 0, 64), Field("column", 64, 32, MAX_PEERS - 1)], [Id("target")])
INVITE_KINDS = ["admit", "observe"]
KIND = Field("kind", 32, 16, len(INVITE_KINDS) - 1)
VOUCHER = Struct("voucher", [Field("uses", 0, 32, MAX_INVITE_USES), KIND, Field("ends_step", 64, 64)],
                 [Id("invite"), Id("moderator")], at_least_one_use)
ARRIVAL = Struct("arrivals", [], [Id("peer"), One("voucher", VOUCHER, optional=True)])
INVITE = Struct("invite", [Field("uses", 0, 32, MAX_INVITE_USES), KIND, Field("ends_step", 64, 64)],
                [Id("moderator"), Id("holder"), OptionalId("anchor")], at_least_one_use)
REVOCATION = Struct("revokes", [], [Id("moderator"), One("invite", INVITE, optional=True),
                                    Bytes("by_moderator", 64, least=64)], of_its_own_moderator)
RANK = Field("rank", 0, 32, 1 + MAX_ITERATIONS)

# The bodies that members sign, by the type of their slot.
BODIES = {
    "commit": Struct("commit", [Field("coin_count", 0, 32, 256), Field("only_dials", 32, 1), Field("leaving", 33, 1),
                                Field("next_batches", 48, 16)],
                     [Id("coins_root"), OptionalId("gradient_root"), OptionalId("parameters_root"),
                      One("revokes", REVOCATION, optional=True)], at_least_one_coin),
    "part": Struct("part", [], [One("header", HEADER), Id("root"), Ids("path", 32)]),
    "aggregate": Struct("aggregate", [Field("part_index", 0, 32, MAX_PEERS - 1)],
                        [Id("result_root"), Bytes("included", MAX_PEERS // 8), Id("leaves_root"),
                         Id("commits_root"), OptionalId("slowest")]),
    "result": Struct("result", [], [One("header", HEADER), Id("root")]),
    "reveal": Struct("reveal", [], [Id("coin"), Id("salt"), Ids("path", 32)]),
    "proof": Struct("proof", [Field("lag_us", 0, 64)],
                    [Many("columns", COLUMN, MAX_PEERS), One("accusation", ACCUSATION, optional=True),
                     One("naming", NAMING, optional=True), Many("votes", VOTE, 2 * MAX_PEERS),
                     OptionalId("state_root"), Blobs("evidence", 8, 16 * 1024), Bytes("held", MAX_PEERS * MAX_PEERS // 16),
                     Bytes("silent", MAX_PEERS // 8), Ids("joins", MAX_PEERS), Bytes("hasty", MAX_PEERS // 8),
                     Bytes("unshown", MAX_PEERS // 8), Words("late_ms", 2 * MAX_PEERS),
                     Many("arrivals", ARRIVAL, MAX_ARRIVALS)], check_joins),
    "echo": Struct("echo", [], [Id("vector"), Bytes("present", 2 * MAX_PEERS // 8),
                                Bytes("equivocated", 2 * MAX_PEERS // 8)]),
    "status": Struct("status", [RANK], [Id("value")]),
    "propose": Struct("propose", [RANK], [Id("value"), Bytes("statuses", MAX_PEERS // 8), Id("statuses_root")],
                      statuses_only_without_lock),
    "vote": Struct("vote", [RANK], [Id("value")]),
    "lock": Struct("lock", [], [Id("value")]),
    "close": Struct("close"),
}

# The judges of a sealed_ban signed the hash of a block. Only its removals matter here. The rest is parsed because bytes
# that are no block prove nothing.
REMOVAL_KINDS = ["verdict", "evidence", "drop", "eliminate"]
BANS = {"verdict", "evidence"}
COLUMN_FATES, VERDICTS, CAUSES, MESSAGE_TYPES = 9, 4, 29, 19
CLOSING_STEPS = 8
VOTES, CASES = ["abstain", "guilty", "innocent", "twice"], ["gradient", "numbers", "cover"]


def one_line(removal):
    """Text ends in a zero byte, and one without content is a null pointer."""
    text = removal["reason"]
    if text and removal["cause"]:
        raise Refused("reason: is a text")
    if text and (len(text) == 1 or text[-1] or any(byte < 0x20 or byte == 0x7F for byte in text[:-1])):
        raise Refused("reason: not one line")


def ascending_columns(one):
    ascending("covering", [covering["column"] for covering in one["covering"]])


def a_verdict_a_voter(case):
    if len(case["verdicts"]) != len(case["voters"]) // 32 or any(verdict >= VERDICTS for verdict in case["verdicts"]):
        raise Refused("verdicts: one byte a voter")
    ascending_columns(case)


def check_aggregated(block):
    """`included` has a bit for each of `senders`, and each of these is in some column."""
    senders = len(block["senders"]) // 32
    union = 0
    for column in block["aggregated"]:
        bits = int.from_bytes(column["included"], "little")
        if column["included"] and (len(column["included"]) != (senders + 7) // 8 or bits == 0 or bits >> senders):
            raise Refused("included: a bit a sender")
        union |= bits
    if union != (1 << senders) - 1:
        raise Refused("senders: not in canonical form")


def no_more_users_than_uses(invite):
    users = ids_of(invite["users"])
    ascending("users", users)
    if len(users) > (0 if invite["revoked"] else invite["used"]):
        raise Refused("users: more than uses")


def check_block(block):
    for name in ("members", "proven", "owing", "joined", "leaving", "left", "senders"):
        ascending(name, ids_of(block[name]))
    for name in ("standings", "candidates", "lateness", "voids", "reach", "moderators", "batch_counts"):
        ascending(name, [record["peer"] for record in block[name]])
    ascending("invites", [invite["invite"] for invite in block["invites"]])
    if sum(len(invite["users"]) // 32 for invite in block["invites"]) > MAX_INVITE_USERS:
        raise Refused("users: too many")
    ascending("disputes", [(dispute["worker"], dispute["aggregator"]) for dispute in block["disputes"]])
    if max(block["t_s"], block["t_a"]) > block["n"]:
        raise Refused("thresholds: more faults than members")
    if any(fate >= COLUMN_FATES for fate in block["columns"]):
        raise Refused("column fate: out of range")
    if block["last_removal_step"] and not block["any_removal"]:
        raise Refused("last removal step: without a removal")
    if block["closing"] > (0 if block["genesis"] else min(block["step"] + 1, CLOSING_STEPS + 1)):
        raise Refused("closing: no run closes there")
    if any(each["count"] == 0 for each in block["batch_counts"]):
        raise Refused("batch counts: none")
    check_aggregated(block)


# Blocks of version 12 and before have their reasons as texts, and cause 0.
REMOVAL = Struct("removal", [Field("kind", 0, 16, len(REMOVAL_KINDS) - 1), Field("cause", 16, 16, CAUSES - 1),
                             Field("entry", 32, 16, MESSAGE_TYPES - 1), Field("first_fault", 48, 1), Field("step", 64, 64),
                             Field("fault_step", 128, 64), Field("part", 192, 32), Field("of", 224, 32),
                             Field("count", 256, 64)],
                 [Id("peer"), Bytes("reason", 256 + 1), OptionalId("other")], one_line)
COVERING = Struct("covering", [Field("column", 0, 32, MAX_PEERS - 1)], [Id("owner")])
OPEN_CASE = Struct("open case", [Field("opened_step", 0, 64), Field("fault_bound", 64, 32)],
                   [One("id", CASE), Ids("voters", MAX_PEERS), Bytes("verdicts", MAX_PEERS),
                    Many("covering", COVERING, MAX_PEERS)], a_verdict_a_voter)
AGGREGATED = Struct("column", [], [Id("owner"), Bytes("included", MAX_PEERS // 8)])
ASSIGNMENT = Struct("assignment", [Field("step", 0, 64), Field("works", 64, 1)],
                    [Id("validator"), Id("target"), Many("covering", COVERING, MAX_PEERS)], ascending_columns)
DISPUTE = Struct("dispute", [Field("since", 0, 64)], [Id("worker"), Id("aggregator")])
STANDING = Struct("standing", [Field("banned", 0, 1), Field("erred", 1, 1), Field("drops", 32, 32), Field("last_drop_step", 64, 64),
                               Field("barred_until", 128, 64), Field("left_step", 192, 64), Field("returned_step", 256, 64),
                               Field("came_step", 320, 64)],
                  [Id("peer")])
CANDIDATE = Struct("candidate", [Field("since", 0, 64), Field("confirmed", 64, 64)],
                   [Id("peer"), One("voucher", VOUCHER, optional=True)])
USED_INVITE = Struct("used invite", [Field("used", 0, 32), Field("revoked", 32, 1), Field("ends_step", 64, 64)],
                     [Id("invite"), Ids("users", MAX_INVITE_USES)], no_more_users_than_uses)
MODERATOR = Struct("moderator", [Field("admitted", 0, 32), Field("revoked", 32, 1)], [Id("peer")])
LATENESS = Struct("lateness", [Field("ms", 0, 64)], [Id("peer")])
VOIDS = Struct("voids", [Field("count", 0, 32), Field("last_step", 64, 64)], [Id("peer")])
REACH = Struct("reach", [Field("only_dials", 0, 1), Field("changes_from", 64, 64)], [Id("peer")])
BATCH_COUNT = Struct("batch count", [Field("count", 0, 32, 255)], [Id("peer")])
BLOCK = Struct("block", [Field("step", 0, 64), Field("genesis", 64, 1), Field("any_removal", 65, 1),
                         Field("closing", 80, 16),
                         Field("n", 96, 32), Field("t_s", 128, 32), Field("t_a", 160, 32), Field("tau", 192, 64),
                         Field("last_removal_step", 256, 64), Field("delta_us", 320, 64),
                         Field("t_s_in_role", 384, 32), Field("peak_t_s", 416, 32), Field("peak_step", 448, 64),
                         Field("part_us", 512, 64), Field("alarm_until", 576, 64)],
               [Id("decision"), Id("previous"), Id("randomness"), Ids("members", MAX_PEERS),
                Bytes("columns", MAX_PEERS), Many("removals", REMOVAL, MAX_KEYS),
                Many("cases", OPEN_CASE, 2 * MAX_PEERS), OptionalId("state_root"), Ids("result_roots", MAX_PEERS),
                Ids("senders", MAX_PEERS), Many("aggregated", AGGREGATED, MAX_PEERS),
                Many("drawn", ASSIGNMENT, MAX_PEERS), Ids("proven", MAX_PEERS), Ids("owing", MAX_PEERS),
                Many("disputes", DISPUTE, MAX_PEERS * MAX_PEERS // 4), Many("standings", STANDING, MAX_KEYS),
                Many("candidates", CANDIDATE, MAX_CANDIDATES), Ids("joined", MAX_PEERS),
                Many("lateness", LATENESS, MAX_PEERS), Many("voids", VOIDS, MAX_KEYS),
                Many("reach", REACH, MAX_KEYS), Ids("leaving", MAX_PEERS), Ids("left", MAX_PEERS),
                Many("invites", USED_INVITE, MAX_USED_INVITES), Many("moderators", MODERATOR, MAX_MODERATORS),
                Many("batch_counts", BATCH_COUNT, MAX_PEERS)],
               check_block)
