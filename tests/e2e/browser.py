"""Pages in a real browser: every figure is drawn, and no text is cut off or overlaps another."""
import json
import shutil
import subprocess
import unittest

import harness

needs_browser = unittest.skipUnless(shutil.which("chromium"),
                                    "NOT TESTED: pages in a browser; install chromium")

PROBE = """<script>
window.onload = () => {
  const found = [];
  for (const svg of document.querySelectorAll('svg')) {
    const name = svg.querySelector('title').textContent;
    const frame = svg.viewBox.baseVal;
    const boxes = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBBox()]);
    for (const [text, box] of boxes) {
      if (box.width === 0) found.push(name + ': no text drawn for ' + text);
      if (box.x < -0.5 || box.y < -0.5 || box.x + box.width > frame.width + 0.5 ||
          box.y + box.height > frame.height + 0.5) found.push(name + ': cut off: ' + text);
    }
    for (let i = 0; i < boxes.length; ++i) for (let j = 0; j < i; ++j) {
      const [a, b] = [boxes[i][1], boxes[j][1]];
      const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
      const down = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
      if (across > 1 && down > 4) found.push(name + ': overlap: ' + boxes[i][0] + ' | ' + boxes[j][0]);
    }
  }
  document.body.dataset.probe = JSON.stringify({figures: document.querySelectorAll('svg').length, found});
};
</script>"""


def show(page, folder):
    """The loaded document. The console must stay empty."""
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
               f"--user-data-dir={folder}/profile", "--enable-logging=stderr",
               "--virtual-time-budget=5000", "--dump-dom", page.as_uri()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=harness.DEADLINE_S,
                            check=True)
    assert "CONSOLE" not in result.stderr, result.stderr
    return result.stdout


def probe(text, folder):
    """{"figures": how many are drawn, "found": what is wrong with their texts} of a page."""
    page = folder / "probe.html"
    page.write_text(text.replace("</body>", PROBE + "</body>"))
    dom = show(page, folder)
    return json.loads(dom.split('data-probe="', 1)[1].split('"', 1)[0].replace("&quot;", '"')
                      .replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
