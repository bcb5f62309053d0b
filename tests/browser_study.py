#!/usr/bin/env python3
"""Opens the report of a study in headless Chromium: sorts its first table, hovers a point, picks a
node where there is a graph; fails on any console error, request or sideways scrolling.

usage: browser_study.py CHROMIUM PAGE.html [PICTURE.png]
"""
import pathlib
import sys
import tempfile

from browser import Browser, check, middle


def sorts_first_table(browser):
    column = "Array.from(document.querySelector('table').querySelectorAll('tbody tr')).map(r => r.cells[0].textContent)"
    before = browser.run(column)
    for _ in range(2):
        browser.run("document.querySelector('table thead th button').click()")
    check(sorted(before) == sorted(browser.run(column)), "sorting loses rows")
    check(browser.run("document.querySelector('table thead th').getAttribute('aria-sort')") is not None,
          "the first table does not sort")


def hovers_every_kind_of_figure(browser):
    figures = browser.run("Array.from(document.querySelectorAll('svg[id^=figure-]')).map(f => f.id)")
    check(figures, "the report has no figure")
    for figure in figures:
        if not browser.run(f"!!document.querySelector('#{figure} .tip')"):
            continue
        x, y = middle(browser, f"#{figure} .tip")
        browser.pointer("mouseMoved", x, y)
    return len(figures)


def picks_a_node(browser):
    if not browser.run("!!document.querySelector('.graph')"):
        return
    browser.run("document.querySelector('.graph').scrollIntoView({behavior: 'instant'})")
    for _ in range(3000):
        if browser.run("!!document.querySelector('.graph .chosen')"):
            break
    browser.run("Array.from(document.querySelectorAll('.graph .controls button'))"
                ".find(b => b.textContent === 'Next').click()")
    words = browser.run("document.querySelector('.graph .chosen').textContent")
    check("true class" in words and "trusted" in words, f"no node is shown: {words!r}")


def no_complaints(browser, address):
    ids = browser.run("Array.from(document.querySelectorAll('[id]')).map(e => e.id)")
    check(len(ids) == len(set(ids)), "an id occurs twice")
    wide = browser.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    check(wide <= 0, f"the page scrolls sideways by {wide} pixels")
    text = browser.run("document.body.innerText")
    check("NaN" not in text and "nan" not in text.split(), "a figure shows as nan")
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        check(method != "Runtime.exceptionThrown", f"exception: {params}")
        if method == "Runtime.consoleAPICalled":
            check(params["type"] not in ("error", "warning"), f"console: {params['args']}")
        if method == "Log.entryAdded":
            check(params["entry"]["level"] not in ("error", "warning"), params["entry"]["text"])
        if method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            check(url == address or url.startswith("data:"), f"the page asked for {url}")


def main():
    program, page = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    check(page.stat().st_size < 5_000_000, "the page is larger than 5 MB")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            seconds = browser.open(page.as_uri())
            browser.size(1280, 900)
            sorts_first_table(browser)
            figures = hovers_every_kind_of_figure(browser)
            picks_a_node(browser)
            no_complaints(browser, page.as_uri())
            browser.size(390, 800, phone=True)
            no_complaints(browser, page.as_uri())
            print(f"  a study's report, {figures} figures, {page.stat().st_size // 1000} kB, loads in "
                  f"{seconds:.2f} s without complaint: ok")
            if len(sys.argv) > 3:
                browser.size(1280, 900)
                browser.run("scrollTo(0, 0)")
                browser.picture(sys.argv[3])
        finally:
            browser.close()


if __name__ == "__main__":
    main()
