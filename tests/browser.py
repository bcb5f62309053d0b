#!/usr/bin/env python3
"""Opens a report in headless Chromium and uses it as a reader would.

usage: browser.py CHROMIUM PAGE.html [SCREENSHOT_FOLDER]

Uses the DevTools protocol through a pipe, with only the standard library. Fails on any
console error, uncaught exception, network request or foreign markup that took effect.
"""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


class Browser:
    def __init__(self, program, profile):
        to_child, self.write_end = os.pipe()
        self.read_end, from_child = os.pipe()
        flags = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
                 "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
                 "--disable-dev-shm-usage", f"--user-data-dir={profile}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")

        def wire():  # Chromium reads commands from 3 and answers on 4
            os.dup2(to_child, 100)
            os.dup2(from_child, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self.process = subprocess.Popen([program, *flags, "about:blank"], preexec_fn=wire,
                                        close_fds=False, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.count, self.events, self.session = b"", 0, [], None

    def message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.read_end, 1 << 16)
            if not more:
                raise RuntimeError("the browser went away")
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.count += 1
        command = dict(id=self.count, method=method, params=params)
        if self.session:
            command["sessionId"] = self.session
        os.write(self.write_end, json.dumps(command).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, address):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        begin = time.time()
        self.call("Page.navigate", url=address)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())
        return time.time() - begin

    def run(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description", script))
        return result["result"].get("value")

    def pointer(self, kind, x, y, button="none"):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)

    def size(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=phone)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia",
                  features=[dict(name="prefers-color-scheme", value=name)])

    def picture(self, path, whole=True):
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except Exception:  # it may be gone already
            self.process.kill()
            self.process.wait()


def check(condition, words):
    if not condition:
        raise AssertionError(words)


def middle(browser, selector):
    """Scrolls to the element and returns its centre on the screen."""
    return browser.run("""(async () => {
        const e = document.querySelector(%s);
        e.scrollIntoView({ block: "center", behavior: "instant" });
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        const b = e.getBoundingClientRect();
        return [b.x + b.width / 2, b.y + b.height / 2];
    })()""" % json.dumps(selector))


def sorts_a_table(browser):
    column = """Array.from(document.querySelectorAll("#table-accuracy tbody tr"))
        .map(row => row.cells[1].dataset.value === undefined ? null : Number(row.cells[1].dataset.value))"""
    head = "#table-accuracy thead th:nth-child(2)"
    before = browser.run(column)
    for expected in ("descending", "ascending", None):
        x, y = middle(browser, head + " button")
        browser.pointer("mousePressed", x, y, "left")
        browser.pointer("mouseReleased", x, y, "left")
        values = browser.run(column)
        check(browser.run(f"document.querySelector('{head}').getAttribute('aria-sort')") == expected,
              f"aria-sort is not {expected}")
        if expected is None:
            check(values == before, "the third click does not restore the first order")
        else:
            right = sorted(values, reverse=expected == "descending")
            check(values == right, f"not sorted {expected}: {values}")
    gaps = browser.run("""(() => {
        const table = document.querySelector("#table-accuracy");
        const last = table.tHead || table.querySelector("thead");
        const button = last.querySelector("th:last-child button");
        button.focus();
        button.click(); button.click();
        return Array.from(table.querySelectorAll("tbody tr")).map(r => r.lastElementChild.textContent);
    })()""")
    check(gaps[-1] in ("–", "") and gaps[0] not in ("–", ""), f"gaps are not last: {gaps}")


def hovers_a_point(browser):
    x, y = middle(browser, "#figure-zeta .marker.tip circle, #figure-zeta .marker.tip path")
    browser.pointer("mouseMoved", x, y)
    words = browser.run("document.getElementById('tooltip').hidden ? '' : "
                        "document.getElementById('tooltip').textContent")
    check("Test accuracy:" in words and "ζ" in words, f"no tooltip at a point: {words!r}")
    browser.pointer("mouseMoved", 2, 2)
    check(browser.run("document.getElementById('tooltip').hidden"), "the tooltip stays")
    by_keys = browser.run("""(() => {
        const figure = document.getElementById("figure-zeta");
        figure.focus();
        figure.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
        return document.getElementById("tooltip").textContent;
    })()""")
    check("Test accuracy:" in by_keys, "arrow keys show no tooltip")
    x, y = middle(browser, "#figure-zeta .key text")
    browser.pointer("mouseMoved", x, y)
    check(browser.run("document.querySelectorAll('#figure-zeta.dimmed .series.lit').length") == 1,
          "the legend lights no series")
    browser.pointer("mouseMoved", 2, 2)


def picks_a_node(browser):
    browser.run("document.querySelector('.graph').scrollIntoView({behavior: 'instant'})")
    for _ in range(3000):
        if browser.run("!!document.querySelector('.graph .chosen')"):
            break
        time.sleep(0.1)
    said = "document.querySelector('.graph .chosen').textContent"
    browser.run("""(() => {
        const input = document.querySelector(".graph input");
        input.value = "node 17";
        input.dispatchEvent(new Event("input"));
        input.dispatchEvent(new Event("change"));
    })()""")
    check(browser.run(said).startswith("node 17: true class"), browser.run(said))
    edges = browser.run("document.querySelectorAll('.graph .fig .edge').length")
    rows = browser.run("document.querySelectorAll('.graph .neighbours tbody tr').length")
    check(edges >= rows > 0, f"{edges} edges drawn for {rows} neighbours")
    static = browser.run("document.querySelectorAll('#figure-neighbourhood .edge').length")
    check(static == edges, f"C draws {static} edges, the script {edges}")
    where = "Array.from(document.querySelectorAll('%s .node')).map(e => e.getAttribute('class').includes('wrong')).join()"
    check(browser.run(where % "#figure-neighbourhood") == browser.run(where % ".graph .fig"),
          "C and the script draw different nodes")
    x, y = middle(browser, ".graph .fig .node-link .node[r='9'], .graph .fig .node-link .node[width='18']")
    browser.pointer("mousePressed", x, y, "left")
    browser.pointer("mouseReleased", x, y, "left")
    check(not browser.run(said).startswith("node 17:"), "clicking a neighbour does not go there")
    browser.run("document.querySelector('.graph input').value = 'nobody'; "
                "document.querySelector('.graph input').dispatchEvent(new Event('change'))")
    check("No node is called" in browser.run(said), "an unknown name is not told")
    for button in ("Previous", "Next", "Random"):
        browser.run("Array.from(document.querySelectorAll('.graph .controls button'))"
                    f".find(b => b.textContent === '{button}').click()")
    browser.run("document.querySelector('.graph select').value = 'wrong';"
                "document.querySelectorAll('.graph .controls button')[1].click()")
    words = browser.run(said)
    check("predicted" in words and words.split("true class ")[1].split(",")[0] not in
          words.split("predicted ")[1], f"the filter shows a right one: {words}")


def switches_the_theme(browser):
    paper = "getComputedStyle(document.body).backgroundColor"
    seen = []
    for _ in range(3):
        browser.run("document.getElementById('theme').click()")
        seen.append(browser.run(paper))
    check(len(set(seen[:2])) == 2, f"the theme button changes nothing: {seen}")


def stays_safe(browser, address):
    check(browser.run("document.title").startswith("A sample report"), "foreign script has run")
    check(browser.run("document.images.length") == 0, "foreign markup became an image")
    scripts = browser.run("Array.from(document.scripts).filter(s => s.type !== 'application/json').length")
    check(scripts == 1, f"{scripts} scripts in the page")
    ids = browser.run("Array.from(document.querySelectorAll('[id]')).map(e => e.id)")
    check(len(ids) == len(set(ids)), "an id occurs twice")
    wide = browser.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    check(wide <= 0, f"the page scrolls sideways by {wide} pixels")
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            raise AssertionError("exception: " + json.dumps(params)[:600])
        if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            raise AssertionError("console: " + json.dumps(params["args"])[:600])
        if method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            raise AssertionError("console: " + params["entry"]["text"][:600])
        if method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            check(url == address or url.startswith("data:"), f"the page asked for {url}")


def take_pictures(browser, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    browser.run("document.querySelector('.graph input').value = 'node 17';"
                "document.querySelector('.graph input').dispatchEvent(new Event('change'));"
                "delete document.documentElement.dataset.theme; scrollTo(0, 0)")
    for name, width, phone, scheme in (("light", 1280, False, "light"), ("dark", 1280, False, "dark"),
                                       ("phone", 390, True, "light"), ("phone-dark", 390, True, "dark")):
        browser.size(width, 900, phone)
        browser.scheme(scheme)
        time.sleep(0.3)
        wide = browser.run("document.documentElement.scrollWidth - innerWidth")
        check(wide <= 0, f"{name}: the page scrolls sideways by {wide} pixels")
        browser.picture(folder / f"{name}.png")


def main():
    program, page = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    check(page.stat().st_size < 5_000_000, "the page is larger than 5 MB")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            seconds = browser.open(page.as_uri())
            browser.size(1280, 900)
            for step in (sorts_a_table, hovers_a_point, picks_a_node, switches_the_theme):
                step(browser)
                print(f"  {step.__name__.replace('_', ' ')}: ok")
            stays_safe(browser, page.as_uri())
            browser.size(390, 800, phone=True)
            stays_safe(browser, page.as_uri())
            print(f"  stays safe, no console error, no request: ok ({page.stat().st_size // 1000} kB, "
                  f"loaded in {seconds:.2f} s)")
            if len(sys.argv) > 3:
                browser.size(1280, 900)
                take_pictures(browser, sys.argv[3])
        finally:
            browser.close()


if __name__ == "__main__":
    main()
