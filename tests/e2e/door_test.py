#!/usr/bin/env python3
"""Strangers hold many connections to a run of real nodes, and a member that was killed still comes back.

    OSTRAKA=build/release/ostraka tests/e2e/door_test.py

Members of a loopback run are strangers by their address, like members behind NAT or a DNS name: only their requests
distinguish them from strangers.
"""
import collections
import contextlib
import json
import signal
import socket
import subprocess
import sys
import time

import harness

NODES = 4
BACK_WITHIN_S = 5


def crowd(ports, per_second, hello):
    """Until it is killed, connects `per_second` times a second to each port, sends `hello`, and holds the connection."""
    held = collections.deque()
    begin = time.monotonic()
    made = 0
    print("begun", flush=True)
    while True:
        due = int((time.monotonic() - begin) * per_second)
        for _ in range(made, due):
            for port in ports:
                stranger = socket.socket()
                stranger.setblocking(False)
                stranger.connect_ex(("127.0.0.1", port))
                held.append((stranger, False))
        made = due
        if hello:
            for i in range(len(held)):
                stranger, said = held[i]
                if not said:
                    with contextlib.suppress(BlockingIOError, OSError):
                        stranger.send(hello)
                        held[i] = (stranger, True)
        while len(held) > 800:
            held.popleft()[0].close()
        time.sleep(0.002)


class DoorTest(harness.TestCase):
    def status(self, node):
        result = harness.run("status", "--json", self.made.data_dir(node))
        return json.loads(result.stdout) if result.stdout else {"linked": 0}

    def seconds_until_back(self, per_second, hello=b""):
        """Kills one of four nodes and starts it again in the crowd; returns when its links to the others were up."""
        self.made = self.make_run(count=NODES, steps=1000000)
        nodes = [self.running(self.made.start(i)) for i in range(NODES)]
        nodes[0].wait_for_event(event="step", step=3)
        strangers = None
        if per_second:
            strangers = subprocess.Popen(
                [sys.executable, __file__, "--crowd", json.dumps(
                    [[s.getsockname()[1] for s in self.made.sockets], per_second, hello.hex()])],
                stdout=subprocess.PIPE, start_new_session=True)
            self.addCleanup(harness.kill_group, strangers)
            strangers.stdout.readline()
            strangers.stdout.close()
        nodes[3].signal(signal.SIGKILL)
        nodes[3].finish()
        again = self.running(self.made.start(3))
        again.wait_for_event(event="started")
        begin = time.monotonic()
        while self.status(3)["linked"] < NODES - 1:
            self.assertLess(time.monotonic() - begin, 60, self.status(3))
        seconds = time.monotonic() - begin
        print(json.dumps({"bare connects a second and port": per_second, "says": len(hello),
                          "seconds until 3 of 3 links": seconds}), file=sys.stderr)
        for node in [*nodes[:3], again]:
            node.signal(signal.SIGTERM)
        return seconds

    def test_a_member_returns_through_many_silent_connections(self):
        self.assertLess(self.seconds_until_back(400), BACK_WITHIN_S)

    def test_a_member_returns_through_many_connections_for_other_runs(self):
        import junk
        self.assertLess(self.seconds_until_back(200, junk.client_hello()), BACK_WITHIN_S)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--crowd"]:
        ports, per_second, hello = json.loads(sys.argv[2])
        crowd(ports, per_second, bytes.fromhex(hello))
    harness.main()
