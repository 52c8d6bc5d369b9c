"""The page of a running node, in a real browser.

OSTRAKA_PICTURES=DIR keeps pictures of it there. AXE=FILE names axe.min.js of the npm package axe-core, which checks
accessibility; without it those checks are skipped, loudly.
"""
import json
import os
import re
import signal
import unittest
import urllib.request
from pathlib import Path

import harness
from devtools import Browser, needs_browser
from harness import Running, TestCase

AXE = os.environ.get("AXE")
PICTURES = os.environ.get("OSTRAKA_PICTURES")
WIDTHS = (390, 900, 1600)
TOY = ["--model", "toy", "--hidden", 256]

# Elements that stick out of the window, apart from what stands in a box of its own that scrolls.
OVERFLOW = """[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll') &&
  e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 120))"""
STEP = "parseInt(document.querySelector('.figures dd').textContent.replace(/,/g, ''))"


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=harness.DEADLINE_S) as answer:
        return answer.headers, answer.read().decode()


class PageTestCase(TestCase):
    def browser(self):
        browser = Browser(self.folder)
        self.addCleanup(browser.__exit__)
        return browser

    def swarm(self, *options):
        """A swarm whose page is watched, and the page's address."""
        swarm = self.running(Running("swarm", "--http", "127.0.0.1:0", *options))
        line = swarm.wait_for("stderr", lambda said: "watch it at http://" in said)
        return swarm, re.search(r"http://\S+", line).group(0)

    def look(self, browser, name):
        """The page at every width, light and dark: nothing sticks out, nothing is reported."""
        for width in WIDTHS:
            for dark in (False, True):
                with self.subTest(name=name, width=width, dark=dark):
                    browser.shape(width, dark)
                    self.assertEqual(browser.evaluate(OVERFLOW), [])
                    self.assertLessEqual(browser.evaluate("document.documentElement.scrollWidth"), width)
                    self.check_access(browser)
                if PICTURES:
                    Path(PICTURES).mkdir(parents=True, exist_ok=True)
                    browser.picture(f"{PICTURES}/{name}-{width}-{'dark' if dark else 'light'}.png")
        self.assertEqual(browser.said, [])

    def check_access(self, browser):
        if not AXE:
            return
        browser.evaluate(Path(AXE).read_text() + "; true")
        found = browser.evaluate("""axe.run(document, {resultTypes: ['violations']}).then(result =>
          result.violations.map(v => [v.id, v.impact, v.nodes.map(n => n.html.slice(0, 200) + n.failureSummary)]))""")
        self.assertEqual(found, [], json.dumps(found, indent=1))


@needs_browser
class BrowserTest(PageTestCase):
    def setUp(self):
        super().setUp()
        if not AXE:
            print("NOT TESTED: accessibility; npm install axe-core, and AXE=.../axe.min.js")

    def test_a_swarm_from_its_first_step_to_its_end(self):
        swarm, url = self.swarm("--steps", 300, *TOY)
        browser = self.browser()
        browser.open(url)
        first = browser.evaluate(STEP)
        # The script brings the news: the step grows, and the attackers are banned.
        browser.until(f"{STEP} > {first} + 2")
        browser.until("document.querySelectorAll('#removals .state.banned').length === 3")
        self.assertEqual(browser.evaluate("document.querySelectorAll('#members tbody tr').length"), 8)
        self.assertEqual(browser.evaluate("document.querySelectorAll('#members .state.banned').length"), 3)
        # What the reader opened and focused stays through the updates.
        browser.evaluate("document.querySelector('details').open = true, document.querySelector('summary').focus()")
        before = browser.evaluate(STEP)
        browser.until(f"{STEP} > {before}")
        self.assertTrue(browser.evaluate("document.querySelector('details').open"))
        self.assertEqual(browser.evaluate("document.activeElement.localName"), "summary")
        self.look(browser, "training")
        # A proof that the page links is the file that anybody can verify.
        votes = browser.evaluate("[...document.querySelectorAll('#removals li')].map(e => e.textContent)")
        for text in votes:
            self.assertRegex(text, r"Voted against it \(\d of \d\): node\d \([0-9a-f]{8}\)")
        link = browser.evaluate("document.querySelector('#removals a[href^=\"/evidence/\"]')?.href")
        self.assertTrue(link, "a verdict leaves its votes as evidence")
        with urllib.request.urlopen(link, timeout=harness.DEADLINE_S) as answer:
            (self.folder / "x.evidence").write_bytes(answer.read())
        self.assertEqual(harness.run("evidence", "show", self.folder / "x.evidence").returncode, 0)
        # An open page learns how the run ended, though its node ends too.
        browser.until("'ended' in document.querySelector('main').dataset")
        self.assertEqual(swarm.finish(), 0, swarm.text["stderr"])
        self.assertIn("Finished", browser.evaluate("document.querySelector('.headline').textContent"))
        self.assertEqual(browser.evaluate(STEP), 300)
        self.look(browser, "finished")

    def test_a_stall_names_the_members_awaited_and_a_dead_node_is_told(self):
        made = self.make_run(count=4, steps=1_000_000)
        nodes = [self.running(made.start(i, *(("--http", "127.0.0.1:0") if i == 0 else ()))) for i in range(4)]
        port = nodes[0].wait_for_event(event="started")["http_port"]
        nodes[0].wait_for_event(event="step", step=3)
        browser = self.browser()
        browser.open(f"http://127.0.0.1:{port}/")
        browser.until("document.querySelector('.banner.good') !== null")
        for node in nodes[2:]:
            node.signal(signal.SIGSTOP)
        browser.until("document.querySelector('.banner.waits') !== null")
        detail = browser.evaluate("document.querySelector('.banner .detail').textContent")
        # A member that waits for the sleepers sends nothing either, and shows as asleep until its own deadline.
        sleepers = json.dumps(made.ids[2:])
        browser.until(f"""(asleep => asleep.length > 0 && asleep.every(id => {sleepers}.includes(id)))(
          [...document.querySelectorAll('#members tbody tr')].filter(
            row => row.querySelector('.state.asleep')).map(row => row.querySelector('code').title))""")
        self.assertRegex(detail, r"step \d+: waiting [\d.]+ m?s for .*nothing is lost")
        self.assertTrue(any(made.ids[index][:8] in detail for index in (2, 3)), detail)
        self.assertNotIn(made.ids[0][:8], detail)
        self.look(browser, "stalled")
        for node in nodes[2:]:
            node.signal(signal.SIGCONT)
        browser.until("document.querySelector('.banner.good') !== null")
        nodes[0].signal(signal.SIGKILL)
        browser.until("!document.getElementById('contact').hidden")
        self.assertIn("No answer since", browser.evaluate("document.getElementById('contact').textContent"))

    def test_without_scripts_the_page_is_whole(self):
        _, url = self.swarm("--steps", 100_000, "--byzantine", 0, "--peers", 4, *TOY)
        browser = self.browser()
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.call("Page.navigate", url=url)
        html = ""
        while "</footer>" not in html:
            # Between two documents there is none.
            html = browser.evaluate("document.documentElement?.outerHTML ?? ''")
        self.assertEqual(sorted(re.findall(r'<th scope="row"><bdi>(\w+)</bdi> <code', html)),
                         [f"node{i}" for i in range(4)])
        self.assertIn('http-equiv="refresh"', html)
        self.assertEqual(browser.said, [])


class PageTest(PageTestCase):
    def test_the_page_is_served_with_its_files_and_a_strict_policy(self):
        _, url = self.swarm("--steps", 100_000, "--byzantine", 0, "--peers", 4, *TOY)
        port = int(re.search(r":(\d+)/", url).group(1))
        headers, html = get(port, "/")
        self.assertEqual(headers["Content-Type"], "text/html; charset=utf-8")
        self.assertIn("default-src 'none'; script-src 'self'; style-src 'self'", headers["Content-Security-Policy"])
        for path in re.findall(r'(?:src|href)="(/[^"]+)"', html):
            self.assertTrue(get(port, path)[1], path)
        whole = sum(len(get(port, path)[1].encode()) for path in ("/", "/page.css", "/page.js", "/icon.svg"))
        self.assertLess(whole, 150_000)
        self.assertTrue(get(port, "/live")[1].startswith("<main"))

    def test_a_node_that_starts_again_shows_what_was_before(self):
        made = self.make_run(count=3, steps=1_000_000)
        watched = ["--http", "127.0.0.1:0", "--evaluate-every", 2]
        nodes = [self.running(made.start(i, *(watched if i == 0 else ()))) for i in range(3)]
        nodes[0].wait_for_event(event="evaluation", step=5)
        # Without the others nothing new can happen.
        for node in nodes[1:]:
            node.signal(signal.SIGKILL)
        nodes[0].signal(signal.SIGTERM)
        self.assertEqual(nodes[0].finish(), 0)
        again = self.running(made.start(0, *watched))
        _, html = get(again.wait_for_event(event="started")["http_port"], "/")
        learning = re.search(r'<section id="learning".*?</section>', html, re.S).group(0)
        steps = [int(step) for step in re.findall(r'<tr><td class="n">(\d+)</td>', learning)]
        self.assertEqual(steps[:4], [0, 1, 3, 5])
        leaders = re.search(r'<section id="leaders".*?</section>', html, re.S).group(0)
        samples = [int(n.replace(",", "")) for n in re.findall(r'<span class="n">([\d,]+)</span>', leaders)]
        self.assertEqual(len(samples), 3)
        self.assertGreater(min(samples), 0)
        self.assertNotIn("from step", learning + leaders)
        self.assertNotIn("is missing here", html)

    def test_swarm_refuses_an_address_that_others_reach(self):
        self.refused(2, ["swarm", "--http", "0.0.0.0:0"], "--http 0.0.0.0:0", "--http-remote")


if __name__ == "__main__":
    harness.main()
