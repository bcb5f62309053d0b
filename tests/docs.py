"""Checks the documents against the repository and the command. Prints one line a fault.

usage: docs.py PATH-TO-consm [ROOT]      (ROOT: another tree to check; src, tests … are this one's)

- every relative link leads to a file, every anchor to a heading (GitHub's and the site's spelling);
- every `consm VERB` with its flags, in blocks and in running text, is in the command's help;
- every `make TARGET` and every path of the sources in code marks exists;
- Python and JSON blocks parse, C blocks compile, whole C programs run, shell blocks parse;
- no line of prose has more than 200 characters; the site's menu has every page.
"""
import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

here = pathlib.Path(__file__).resolve().parent.parent
consm = os.path.abspath(sys.argv[1])
root = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else here
LONGEST = 200
# Texts about old commits: links and lengths are checked, commands and paths are not.
HISTORY = {"CHANGELOG.md", "studies/NOTES.md"}
GENERATED = {"docs/reference/c.md"}  # made from the headers by scripts/api-reference
LONG = ("studies/results/",)  # generated elsewhere
ROOMS = ("src", "cli", "include", "tests", "scripts", "bench", "examples", "studies", "cmake", "python", "docs")
faults = []


def fault(page, number, text):
    faults.append(f"{page}:{number}: {text}")


def slug(heading):
    """A heading's anchor: lower case, punctuation gone, blanks become hyphens."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    heading = unicodedata.normalize("NFC", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def parts(page):
    """The page in pieces: (kind, first line, text); kind is "prose" or the language of a block."""
    out, block, language, begin, fence = [], [], None, 1, ""
    for number, line in enumerate(page.read_text().split("\n"), 1):
        mark = re.match(r"\s*(```+)(\S*)", line)
        if language is None and mark:
            fence, language, block, begin = mark.group(1), mark.group(2), [], number + 1
        elif language is not None and line.strip() == fence:
            out.append((language or "shell", begin, "\n".join(block)))
            language = None
        elif language is not None:
            block.append(line)
        else:
            out.append(("prose", number, line))
    return out


def headings(page):
    found, seen = set(), {}
    for kind, _, line in parts(page):
        match = kind == "prose" and re.match(r"#+ (.*)", line)
        if match:
            anchor = slug(match.group(1))
            seen[anchor] = seen.get(anchor, 0) + 1
            found.add(anchor if seen[anchor] == 1 else f"{anchor}-{seen[anchor] - 1}")
    return found


def help_of(*words):
    return subprocess.run([consm, "help", *words], capture_output=True, text=True, check=True).stdout


FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*)")
VERBS = {"help": {"--man", "--completion"}}
for name in re.findall(r"^  ([a-z]+) ", help_of(), re.M):
    VERBS[name] = set(FLAG.findall(help_of(name))) | {"--help"}
FLAGS = set().union(*VERBS.values()) | {"--version"}
# Flags of other programs that the pages name.
OTHERS = set(re.findall(r"--[a-z][a-z0-9-]*", " ".join((here / p).read_text() for p in (
    "scripts/matrix", "scripts/chroot-test", "scripts/mutate", "scripts/abi", "scripts/format", "scripts/dist",
    "scripts/check-includes", "scripts/trust-prior", "bench/tables.py", "bench/beside_pyg.py", "tests/check_tutorial.sh",
    "bench/pyg_python.py", "bench/pyg_cuda.py", "scripts/docs") if (here / p).exists())))
OTHERS |= {"--preset", "--build", "--target", "--map-by", "--busy", "--operations", "--filter", "--edges", "--alone", "--sets", "--record",
           "--print", "--judge", "--load", "--clock-control", "--cache-control", "--quick", "--compile-seconds"}
TARGETS = set(re.findall(r"^([a-z]+):", (here / "Makefile").read_text(), re.M))


def commands(text):
    """(offset of the line, verb, its flags) for every consm in a block or a code mark."""
    joined = re.sub(r"\\\n\s*", " ", text)
    for offset, line in enumerate(joined.split("\n")):
        line = re.sub(r"(^|\s)#.*", "", line)
        for call in re.split(r"\||;|&&|\$\(", line):
            match = re.search(r"(?:^|[\s/])consm ([a-z]+)\b(.*)", call)
            if match:
                yield offset, match.group(1), FLAG.findall(match.group(2))


def check_commands(page, number, text):
    for offset, verb, flags in commands(text):
        if verb not in VERBS:
            fault(page, number + offset, f"no verb {verb}")
        else:
            for flag in flags:
                if flag not in VERBS[verb]:
                    fault(page, number + offset, f"consm {verb} has no {flag}")


def check_marks(page, number, paragraph):
    """What stands in code marks in running text; a mark may go on in the next line."""
    for mark in re.findall(r"`([^`]+)`", paragraph):
        mark = mark.replace("\n", " ")
        if re.match(r"(mpirun .* )?consm [a-z]", mark) and not re.match(r"consm (model|dataset|rows) \d", mark):
            check_commands(page, number, mark)
        elif mark.startswith("--"):
            flag = FLAG.match(mark)
            if flag and flag.group(1) not in FLAGS | OTHERS:
                fault(page, number, f"no flag {flag.group(1)}")
        target = re.match(r"make ([a-z]+)\b", mark)
        if target and target.group(1) not in TARGETS:
            fault(page, number, f"no target {target.group(1)}")
        path = re.match(rf"((?:{'|'.join(ROOMS)})/[\w./-]+)(?=$|[\s:])", mark)
        short = re.fullmatch(r"[a-z_]+/[\w/]+\.(?:c|h|def|cu|cuh)", mark)
        if short and not any((here / room / mark).exists() for room in ("", "src", "src/data", "python")):
            fault(page, number, f"no file {mark}")
        elif path and "*" not in mark and not (here / path.group(1).rstrip(".")).exists():
            fault(page, number, f"no file {path.group(1)}")


def check_links(page, number, line):
    for target, anchor in re.findall(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)", re.sub(r"`[^`]*`", "", line)):
        if re.match(r"[a-z]+:", target):
            continue
        found = pathlib.Path(os.path.normpath(root / page.parent / target)) if target else root / page
        if not found.exists():
            fault(page, number, f"no {target}")
        elif anchor and found.suffix == ".md" and anchor not in headings(found):
            fault(page, number, f"no heading #{anchor} in {target or page}")


def run_program(page, number, text):
    """A whole program is linked with the library beside the command, and must end well."""
    library = pathlib.Path(consm).parent / "libconsm.so"
    if not library.exists() or b"__asan_init" in library.read_bytes() or b"__tsan_init" in library.read_bytes():
        return
    with tempfile.TemporaryDirectory() as folder:
        built = subprocess.run(["cc", "-std=c11", "-x", "c", "-", "-x", "none", f"-I{here / 'include'}",
                                str(library), f"-Wl,-rpath,{library.parent}", "-o", f"{folder}/program"], input=text, capture_output=True, text=True)
        done = built.returncode or subprocess.run([f"{folder}/program"], capture_output=True, cwd=folder).returncode
    if done:
        fault(page, number, f"the program fails: {built.stderr.strip()}")


def check_block(page, kind, number, text):
    if kind == "python":
        try:
            ast.parse(text)
        except SyntaxError as error:
            fault(page, number, f"python: {error.msg}")
    elif kind == "json":
        try:
            json.loads(text)
        except ValueError as error:
            fault(page, number, f"json: {error}")
    elif kind == "c" and shutil.which("cc"):
        body = text if re.search(r"^(int|static|struct|#include|typedef)", text, re.M) else f"void f(void) {{\n{text}\n}}"
        done = subprocess.run(["cc", "-std=c11", "-fsyntax-only", "-Werror=implicit-function-declaration", "-x", "c",
                               "-include", "consm.h", f"-I{here / 'include'}", "-"], input=body, capture_output=True, text=True)
        if done.returncode:
            fault(page, number, f"c does not compile: {done.stderr.splitlines()[0]}")
        elif "int main(" in text:
            run_program(page, number, text)
    elif kind == "sh":
        done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
        if done.returncode:
            fault(page, number, f"shell: {done.stderr.strip()}")


pages = sorted(p.relative_to(root) for p in [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("studies/**/*.md")])
for page in pages:
    # The site's table of contents shows only the headings below the first title.
    titles = [number for kind, number, text in parts(root / page) if kind == "prose" and text.startswith("# ")]
    if page.parts[0] == "docs" and len(titles) != 1:
        fault(page, titles[1] if titles else 1, f"{len(titles)} titles (#), a page has one")
    paragraph, begin, old = "", 1, str(page) in HISTORY | GENERATED or str(page).startswith("studies/results/")
    for kind, number, text in [*parts(root / page), ("end", 0, "")]:
        if kind == "prose":
            check_links(page, number, text)
            if len(text) > LONGEST and not text.lstrip().startswith("|") and not str(page).startswith(LONG):
                fault(page, number, f"{len(text)} characters, {LONGEST} are allowed")
        if old:
            continue
        if kind == "prose" and text.strip() and not text.lstrip().startswith("|"):
            begin, paragraph = begin if paragraph else number, paragraph + text + "\n"
            continue
        check_marks(page, begin, paragraph)
        if page.name == "faq.md" and paragraph.count("\n") > 5:
            fault(page, begin, "an answer of more than five lines")
        paragraph = ""
        if kind == "prose":
            check_marks(page, number, text)
        elif kind != "end":
            if kind in ("shell", "sh", "text", "console"):
                check_commands(page, number, text)
            check_block(page, kind, number, text)
# The site's menu names every page of docs/ and nothing else.
if root == here:
    menu = set(re.findall(r": (\S+\.md)$", (here / "mkdocs.yml").read_text(), re.M))
    inside = {str(p.relative_to("docs")) for p in pages if p.parts[0] == "docs"}
    for name in sorted(inside - menu):
        fault("mkdocs.yml", 1, f"the menu lacks docs/{name}")
    for name in sorted(n for n in menu if not (here / "docs" / n).exists() and not (here / n).exists()):
        fault("mkdocs.yml", 1, f"no page {name}")
print("\n".join(faults) or f"{len(pages)} pages are in order")
sys.exit(bool(faults))
