#!/usr/bin/env bash
# A real browser opens a sample report, sorts a table, hovers a point and picks a node; any console
# error, request or escaped name that took effect fails. usage: check_report_browser.sh CONSM_COMMAND
# With CONSM_SCREENSHOTS=FOLDER it also leaves pictures of the page in light, dark and phone width.
set -euo pipefail
cd "$(dirname "$0")/.."
sample=$(dirname "$1")/sample_report
browser=""
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then browser=$name; break; fi
done
if [ -z "$browser" ] || ! command -v python3 >/dev/null; then
    echo "SKIPPED: check_report_browser needs chromium and python3"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$sample" "$folder/report.html" "$folder/files"
"$sample" "$folder/again.html"
cmp "$folder/report.html" "$folder/again.html" # the same input gives the same bytes
python3 - "$folder/files" <<'PYTHON'
import pathlib, sys, xml.dom.minidom
files = list(pathlib.Path(sys.argv[1]).iterdir())
for file in files:
    if file.suffix != ".csv":  # data: names keep their bytes
        file.read_text("utf-8")
    if file.suffix == ".svg":
        xml.dom.minidom.parse(str(file))
print(f"  {len(files)} files, all but CSV valid UTF-8, every SVG is well-formed: ok")
PYTHON
timeout 900 python3 tests/browser.py "$browser" "$folder/report.html" ${CONSM_SCREENSHOTS:+"$CONSM_SCREENSHOTS"}
