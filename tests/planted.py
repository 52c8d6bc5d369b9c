#!/usr/bin/env python3
"""Plants one bug at a time in a copy of the tree and demands that the tests named for it fail.

usage: tests/planted.py [NAME...]      all, or those named; --list shows them
       tests/planted.py --every FIRST STEP     from the FIRST on (1 is the first) every STEPth

A check whose tests cannot fail checks nothing. The tests are those of `make test`: one of tests/soak.txt is refused,
since a change must not pass with the bug in it. The copy is a clone of HEAD under build/planted, so
nothing here touches the working tree. Exit code 0: the clean tree passes and every bug was found.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "planted" / "tree"
BUILD = ROOT / "build" / "planted" / "build"

# name, file, what stands there, the bug, test program, gtest filter
BUGS = [
    ("v1_believes_everyone", "node/protocol/ground/jobs.cpp",
     "if (SameBits(measure.Of(part), claim.numbers)) continue;", "continue;",
     "protocol_ground_test", "CrossCheckJobTest.*"),
    ("a_scale_decodes_to_infinity", "node/protocol/ground/codec.cpp",
     "return scale >= kLeastScale && scale <= largest && most == form.largest;",
     "return scale >= kLeastScale && most == form.largest;", "protocol_ground_test", "CodecTest.*"),
    ("a_scale_is_free", "node/protocol/ground/codec.cpp",
     "return scale >= kLeastScale && scale <= largest && most == form.largest;",
     "return scale >= kLeastScale && scale <= largest;", "protocol_ground_test", "CodecTest.*"),
    ("the_quantum_counts_for_nothing", "node/protocol/ground/numbers.cpp",
     "Quantum(codec, result.data, count)}", "0}", "local_steps_scenario_test", "LocalSteps.HonestRuns*"),
    ("an_alarm_never_rings", "node/protocol/rules/judgement.cpp",
     "return rings ? block.step + 2 + manifest.alarm_steps : head.alarm_until;", "return head.alarm_until;",
     "alarm_scenario_test", "Alarm.TheLast*"),
    ("an_alarm_spares_all", "node/protocol/ground/roles.cpp", ".works = i >= spared", ".works = false",
     "protocol_ground_test", "DrawValidatorsTest.*"),
    ("a_batch_is_left_out", "node/train/local_steps.cpp",
     "batch < work_.batches;", "batch + 1 < work_.batches || batch == 0;",
     "train_local_steps_test", "LocalStepsGolden.*"),
    ("counts_are_those_of_today", "node/protocol/lasting/duties.cpp",
     "GradientDue(*manifest_, past.batches,",
     "GradientDue(*manifest_, BatchPlan{past.batches.randomness, chain_.head().batch_counts},",
     "counts_scenario_test", "Counts.*"),
    ("any_count_is_said", "node/protocol/ground/batches.cpp",
     "return plan.batches <= next_batches && next_batches <= plan.most_batches;", "return true;",
     "protocol_ground_test", "BatchesTest.*"),
    ("a_validator_has_the_time_of_one_batch", "node/protocol/rules/recomputing.cpp",
     " / plan.batches * plan.most_batches", "", "protocol_rules_test", "RecomputingTest.*"),
    ("a_local_step_is_left_out", "node/train/local_steps.cpp",
     "while (descent.count() < work.local.count) {", "while (descent.count() + 1 < work.local.count) {",
     "train_local_steps_test", "LocalStepsGolden.*"),
    ("a_copied_credential_lets_in", "node/protocol/ground/invite.cpp",
     "      .Update(peer.view())\n", "", "protocol_ground_test", "InviteTest.*"),
    ("an_invite_is_of_any_run", "node/protocol/ground/invite.cpp",
     "hasher.Update(run_id).Update(invite.moderator.view())", "hasher.Update(invite.moderator.view())",
     "protocol_ground_test", "InviteTest.*"),
    ("left_seats_are_given_away", "node/protocol/rules/standing.cpp",
     "return step < SeatIsKeptUntil(standing);", "return false;",
     "protocol_rules_test", "ComingTest.*:StandingTest.*"),
    ("the_quota_is_not_asked", "node/protocol/rules/invite_book.cpp",
     "known->admitted < manifest.join.quota", "true",
     "protocol_rules_test", "ComingTest.*:InviteBookTest.*"),
    ("revocations_cost_nothing", "node/protocol/rules/invite_book.cpp",
     "  if (Find(name) == nullptr) {", "  if (false) {", "protocol_rules_test", "InviteBookTest.*"),
    ("an_invite_is_revoked_by_its_digest", "node/protocol/ground/invite.cpp",
     "if (revocation.invite) hasher.Update(InviteDigest(run_id, *revocation.invite));", "",
     "protocol_rules_test", "InviteBookTest.*"),
    ("a_candidate_outlives_its_invite", "node/protocol/rules/coming.cpp",
     "      ledger_.book.Revoke(revocation, manifest, step_);\n", "",
     "protocol_rules_test", "InviteBookTest.*"),
    ("candidates_reserve_no_use", "node/protocol/rules/coming.cpp",
     "book_.UsesOf(voucher.invite) + reserved < voucher.uses", "book_.UsesOf(voucher.invite) < voucher.uses",
     "protocol_rules_test", "SlotsTest.*"),
    ("an_invite_takes_all_slots", "node/protocol/rules/coming.cpp",
     "if (taken.places == kPlacesOfInvite) return false;", "", "protocol_rules_test", "SlotsTest.*"),
    ("who_comes_again_takes_all_slots", "node/protocol/rules/coming.cpp",
     "return again_ < kPlacesOfUsers && by_its_invite < kPlacesOfUsers / 2;", "return true;",
     "protocol_rules_test", "SlotsTest.*"),
    ("a_revoked_invite_keeps_its_users", "node/protocol/rules/invite_book.cpp",
     "  invite.users.clear();\n", "", "protocol_rules_test", "InviteBookTest.*"),
    ("an_anchor_is_not_signed", "node/protocol/ground/invite.cpp",
     "      .Update(invite.anchor.value_or(Digest{}))\n", "", "protocol_ground_test", "InviteTest.*"),
    ("an_invite_to_follow_lets_in", "node/protocol/rules/invite_book.cpp",
     "if (!admits && !base::Planted(base::Bug::kObserversComeIn)) {", "if (!admits && false) {",
     "protocol_rules_test", "ComingTest.*"),
    ("another_voucher_goes_on", "node/protocol/rules/coming.cpp",
     "if (before == nullptr || before->voucher != one.voucher) return std::nullopt;",
     "if (before == nullptr) return std::nullopt;", "protocol_rules_test", "ComingTest.*"),
    ("unverified_vouchers_are_believed", "node/protocol/member/door.cpp",
     "  if (!MayReturn(head, sender, step)) {\n    if (!IsVouched(sender, *rejoin)) return;",
     "  {\n    if (!MayReturn(head, sender, step) && !IsVouched(sender, *rejoin)) return;",
     "protocol_member_classes_test", "DoorTest.*"),
    ("strangers_are_heard", "node/protocol/member/door.cpp",
     "return IsKey(components_.chain.head(), from) || components_.followers.IsGuest(from);", "return true || from == PeerId{};",
     "protocol_member_classes_test", "DoorTest.*"),
    ("one_use_for_many_guests", "node/protocol/lasting/followers.cpp",
     "  if (voucher && GuestsOfKind(kind) >= voucher->uses && !SendAwayCutOff(kind)) return false;\n", "",
     "protocol_lasting_test", "GuestsTest.*"),
    ("nobody_is_asked_about_the_past", "node/protocol/sync/catch_up.cpp",
     "    if (to != self_) round.out.push_back(QuestionOf(to, height));\n", "", "protocol_sync_test", "PastTest.*"),
    ("links_of_the_chain_are_not_compared", "node/protocol/sync/catch_up.cpp",
     "if (digest == BlockAt(height)->previous) return;", "return;", "protocol_sync_test", "TwoChainsTest.*"),
    ("a_block_before_the_fetched_state", "node/protocol/sync/catch_up.cpp",
     "if (height <= Floor()) return;", "if (height <= HeightOf(*view_)) return;", "protocol_sync_test",
     "LateAttestTest.*"),
    ("answers_that_are_no_news_do_not_count", "node/protocol/sync/catch_up.cpp",
     "  if (held) histories_.OnBlock(from, *held, digest);  // it may be an answer all the same\n", "",
     "protocol_sync_test", "LateTest.*"),
    ("the_own_landmark_is_pushed_out", "node/protocol/sync/histories.cpp",
     "return kept.height() != HeightOf(*view);", "return kept.height() > 0;",
     "protocol_sync_test", "HistoriesTest.*"),
    ("strangers_show_histories", "node/protocol/sync/attestations.cpp",
     "if (!IsMember(of, member)) continue;", "", "protocol_sync_test", "TwoHeadsTest.*:AttestationsTest.*"),
    ("v2_is_not_asked", "node/protocol/rules/columns.cpp",
     "if (!SumsVanish(sealed, senders, column, tolerance)) return",
     "if (false && !SumsVanish(sealed, senders, column, tolerance)) return",
     "protocol_rules_test", "ColumnTest.V2*"),
    ("sizes_are_not_asked", "node/protocol/rules/sizes.cpp",
     "if (!(InwardPull(sizes, rule) <= slack)) return ColumnFate::kSizeCheck;", "",
     "protocol_rules_test", "JudgeSizesTest.*:SizeCheckTest.*"),
    ("blind_columns_are_nobodys", "node/protocol/rules/sizes.cpp",
     "? ColumnFate::kSizeCheck\n", "? ColumnFate::kBlind\n",
     "protocol_rules_test", "JudgeSizesTest.*"),
    ("own_voids_are_free", "node/protocol/rules/voids.cpp",
     "one.count <= kVoidsBorne ||", "one.count < 1000 ||",
     "protocol_rules_test", "*OwnWordTest*"),
    ("v2_tolerates_a_hundredfold", "node/protocol/ground/numbers.cpp",
     "return 8.0 * static_cast<double>(senders)", "return 800.0 * static_cast<double>(senders)",
     "protocol_ground_test", "SumToleranceTest.*:ColumnTest.V2*"),
    ("column_rule_takes_2b", "node/protocol/rules/columns.cpp",
     "senders->size() < 2 * std::size_t{b} + 1", "senders->size() < 2 * std::size_t{b}",
     "protocol_rules_test", "*SenderCountTest*"),
    ("conformance_is_checked_once", "node/train/exact/conformance_watch.cpp",
     "if (!failure_.ok() || ++since_ < every_) return", "if (every_ > 0 || !failure_.ok() || ++since_ < every_) return",
     "train_exact_test", "ConformanceWatch.*"),
    ("a_model_of_text_need_not_learn", "sim/check/yardstick.cpp",
     "if (measure == LossMeasure::kWhole)", "if (true || measure == LossMeasure::kWhole)",
     "sim_check_test", "JudgeLossTest.*"),
    ("kernels_add_lanes_in_another_order", "exact/kernels/rows.inc",
     "for (std::size_t width = kLanes / 2; width > 0; width /= 2) {\n    for (std::size_t i = 0; i < width; ++i)",
     "for (std::size_t width = 1; width < kLanes; width *= 2) {\n    for (std::size_t i = 0; i + width < kLanes; i += 2 * width)",
     "cli_test", "DoctorTest.*"),
    ("doctor_takes_any_kernel", "node/cli/doctor/doctor_facts.cpp",
     '.problem = conforms.ok() ? "" : base::MessageOf(conforms)', '.problem = ""',
     "cli_test", "DoctorTest.*"),
    ("validator_never_accuses", "node/protocol/ground/jobs.cpp",
     "result.accuse = result.worst_ratio > 1.0", "result.accuse = result.worst_ratio > 1e300",
     "gradient_attacks_test", "*"),
    ("false_accusers_go_free", "node/protocol/rules/cases.cpp",
     "if (IsEnough(open, head, Count(open, Verdict::kInnocent))) return Ruling::kInnocent;", "",
     "protocol_attacks_test", "ProtocolAttack.FalseAccusers*"),
    ("half_the_votes_convict", "node/protocol/rules/cases.cpp",
     "return 2 * ballots > VotersIn(open, head).size() &&", "return 2 * ballots >= VotersIn(open, head).size() &&",
     "protocol_rules_test", "VoteTest.*"),
    ("as_many_drops_as_faults_are_forgiven", "node/protocol/rules/judgement.cpp",
     "(drops) > FaultBound(head.thresholds)) docket", "(drops) >= FaultBound(head.thresholds)) docket",
     "rules_property_test", "RulesCoverageTest.*"),
    ("removed_members_still_vote", "node/protocol/rules/cases.cpp",
     "return !IsMember(head.members, ballot.voter);", "return head.members.empty() && ballot.voter.is_zero();",
     "rules_property_test", "RulesCoverageTest.*"),
    ("admitted_members_vote_on_what_opens", "node/protocol/rules/cases.cpp",
     "      ExcuseJoined(one, head);\n", "", "rules_property_test", "RulesCoverageTest.*"),
    ("equivocation_is_overlooked", "node/protocol/mail/inbox.cpp",
     "if (!held->equivocated() || wanted_.contains(message.digest)) return Outcome::kRival;", "",
     "protocol_attacks_test", "ProtocolAttack.Equivocators*"),
    ("reveal_is_not_opened", "node/protocol/rules/step_reading.cpp",
     "reveal->opening)) {", "reveal->opening) && false) {",
     "protocol_attacks_test", "ProtocolAttack.FalseRevealers*"),
    ("signature_is_not_checked", "node/protocol/mail/signature_check.cpp",
     "if (verifier_->Verify(message.envelope.sender, message.digest, message.signature)) return true;",
     "return true;", "protocol_member_test", "*"),
    ("signed_before_stored", "node/protocol/mail/voice.cpp",
     "if (!id || !base::Planted(base::Bug::kSignedBeforeStored)) return;", "if (!id) return;",
     "protocol_member_test", "*"),
    ("a_split_compares_equal_slots_only", "node/protocol/watch/fork_trial.cpp",
     "if (first.type == MessageType::kLock && second.type == MessageType::kVote) {", "if (false) {",
     "protocol_watch_test", "ForkTrialTest.Those*"),
    ("a_higher_lock_is_no_excuse", "proofs/evidence/kinds.cpp",
     "if (vote->rank > lock_slot.iteration) return NotProven(\"the vote respects the lock\");", "",
     "protocol_watch_test", "ForkTrialTest.WhoMovedToAHigherLockIsNeverNamed"),
    ("a_frozen_member_hears_nothing", "node/protocol/member/forks.cpp",
     "if (culprit != nullptr) charges_.Keep(culprit->file);", "",
     "protocol_member_test", "ServicesTest.AFrozenMember*"),
    ("votes_are_not_kept", "node/protocol/lasting/charges.cpp",
     "if (made.ok()) verdicts_.emplace(removal.peer, *std::move(made));", "",
     "protocol_member_test", "CheatTest.AVerdictKeeps*"),
    ("dht_tokens_of_all_addresses", "dht/store/tokens.h",
     ".Update(base::ByteView(endpoint.address))", "", "dht_test", "TokensTest.*"),
    ("dht_old_records_replace_new_ones", "dht/store/record_store.cpp",
     "if (fresh.seq < old.seq) return Verdict::kOlder;", "", "dht_test", "RecordStoreTest.TheHighest*"),
    ("dht_a_prefix_fills_a_key", "dht/store/record_store.cpp",
     "if (static_cast<std::size_t>(of_prefix) >= kMaxOwnersOfPrefix) return Verdict::kFull;", "",
     "dht_test", "RecordStoreTest.AKey*"),
    ("dht_forged_records_are_read", "dht/reading.cpp",
     "if (!verifier.Verify(content.peer, opened->digest, opened->signature)) return;", "",
     "dht_test", "ReadingTest.*"),
    ("dht_live_nodes_are_pushed_out", "dht/table/routing_table.cpp",
     "if (replaced || known->misses >= kMissesGone)", "if (replaced || known->misses >= 1)",
     "dht_test", "RoutingTableTest.*"),
    ("dht_a_node_is_moved_while_it_answers", "dht/table/routing_table.cpp",
     "if (answers) return;", "", "dht_test", "RoutingTableTest.ANodeIsMoved*"),
    ("dht_regions_are_never_surveyed", "dht/lookup/search.cpp",
     "if (!may_survey || !size.IsTooDense(key(), nearest)) return Stage::kEnd;",
     "return Stage::kEnd;", "dht_test", "SearchTest.Ground*"),
    ("dht_old_estimates_are_trusted", "dht/lookup/search.cpp",
     "if (!measured.IsTooDense(key(), nearest)) return Stage::kEnd;", "",
     "dht_test", "SearchTest.ANetwork*"),
    ("dht_slow_nodes_are_waited_for", "dht/lookup/lookup.cpp",
     "  candidate->state = State::kSlow;", "  candidate->state = State::kAsked;",
     "dht_test", "LookupTest.ASlow*"),
    ("dht_padding_is_not_read", "dht/wire/messages.cpp",
     "if (std::any_of(padding.begin(), padding.end(),", "if (false && std::any_of(padding.begin(), padding.end(),",
     "dht_test", "MessagesTest.Padding*"),
    ("dht_replies_come_from_anywhere", "dht/requests.cpp",
     "|| at->second.to != from", "", "dht_test", "RequestsTest.AReply*"),
    ("dht_any_key_answers", "dht/node.cpp",
     "if (waiting->node && waiting->node->contact.peer != reply.sender) return;", "",
     "dht_test", "NodeTest.AnotherKey*"),
    ("dht_a_nat_looks_reachable", "dht/reachability.cpp",
     "if (sent != sent_to_.end() && now - sent->second <= kQuiet) return;", "",
     "dht_test", "ReachabilityTest.APing*"),
    ("dht_seq_stands_still", "dht/publisher.cpp",
     "std::max(last_seq_ + 1, wall_s)", "wall_s", "dht_test", "PublisherTest.PublishesAgain*"),
    ("dht_bootstraps_are_asked_without_end", "dht/upkeep.cpp",
     "retry_after_ = std::min(retry_after_ * 2, kRetryMost);", "", "dht_test", "UpkeepTest.Asks*"),
    ("dht_one_address_uses_up_all", "dht/query_gate.h",
     "if (!of_address_.Has(now, from.address) || !of_prefix_.Has(now, prefix)) return false;", "",
     "dht_test", "QueryGateTest.OneThat*"),
    ("dht_writes_are_waited_for_without_end", "dht/operation.cpp",
     "    OSTRAKA_CHECK(waiting_ > 0);\n    --waiting_;\n  } else if (fate", "  } else if (fate",
     "dht_test", "OperationTest.Lost*"),
    ("dht_names_may_have_any_character", "dht/wire/announcement.cpp",
     "return plain ? base::OkStatus()", "return true || plain ? base::OkStatus()",
     "dht_test", "AnnouncementTest.Limits*"),
    ("dht_tests_of_an_address_are_not_counted", "dht/answerer.cpp",
     "tries_.Take(asked.now, query.endpoint.address);", "true;", "dht_test", "AnswererTest.Checks*"),
]


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def must(*command):
    done = run(*command)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}")


def prepare():
    shutil.rmtree(COPY, ignore_errors=True)
    COPY.parent.mkdir(parents=True, exist_ok=True)
    must("git", "clone", "--quiet", str(ROOT), str(COPY))
    os.environ.update(CCACHE_BASEDIR=str(COPY), CCACHE_NOHASHDIR="1")
    must("cmake", "--preset", "dev", "-S", str(COPY), "-B", str(BUILD), "-DOSTRAKA_WITH_TORCH=OFF",
         "-DOSTRAKA_PYTHON=OFF", "--log-level=WARNING")


def build(*programs):
    must("cmake", "--build", str(BUILD), "--target", *programs)


def passes(program, gtest_filter):
    """Whether the tests pass. A filter that matches nothing is our mistake."""
    binary = next(path for path in BUILD.rglob(program) if path.is_file())
    listed = run(str(binary), f"--gtest_filter={gtest_filter}", "--gtest_list_tests", cwd=COPY)
    if "  " not in listed.stdout:
        sys.exit(f"{program}: no test matches {gtest_filter}")
    # A planted bug may also make a test hang: that is found, too.
    try:
        return run(str(binary), f"--gtest_filter={gtest_filter}", cwd=COPY, timeout=300).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def found(bug):
    _, file, clean, planted, program, gtest_filter = bug
    path = COPY / file
    text = path.read_text()
    if text.count(clean) != 1:
        sys.exit(f"{file}: the line to plant a bug in stands there {text.count(clean)} times: {clean}")
    path.write_text(text.replace(clean, planted))
    try:
        build(program)
        return not passes(program, gtest_filter)
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--every", type=int, nargs=2, default=(1, 1))
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{bug[0]:28} {bug[1]:34} {bug[4]} {bug[5]}" for bug in BUGS))
        return 0
    bugs = [bug for bug in BUGS if not options.names or bug[0] in options.names]
    bugs = bugs[options.every[0] - 1::options.every[1]]
    soaked = {line.partition("|")[0].strip() for line in (ROOT / "tests" / "soak.txt").read_text().splitlines()}
    if late := [f"{bug[4]} of {bug[0]}" for bug in bugs if bug[4] in soaked]:
        sys.exit(f"tests/planted.py: only `make soak` runs {', '.join(late)}: name a test of `make test`")
    os.environ.pop("OSTRAKA_SOAK", None)
    prepare()
    build(*sorted({bug[4] for bug in bugs}))
    for program, gtest_filter in sorted({bug[4:] for bug in bugs}):
        if not passes(program, gtest_filter):
            sys.exit(f"{program} {gtest_filter} fails on the clean tree")
    missed = []
    for bug in bugs:
        caught = found(bug)
        print(f"{'found ' if caught else 'MISSED'} {bug[0]} by {bug[4]} {bug[5]}", flush=True)
        if not caught:
            missed.append(bug[0])
    print(f"{len(bugs) - len(missed)} of {len(bugs)} planted bugs were found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
