#!/usr/bin/env python3
"""The pages in a headless Chromium: the report of a run, the page of a run that trains, the playground.

    tests/browser/test_pages.py build/inkling [--pictures FOLDER] [--only NAME]

Started by ./check --browser, which installs Chromium. Pages are opened at 390 and 1,400 pixels, light and dark; nothing
may be asked for elsewhere, the console stays empty, and axe-core, where PyPI can be reached, finds no serious fault.
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import venv

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from webdriver import Browser, Failed, free_port, wait_until  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
SMALL = ["--n-layer", "2", "--n-embd", "64", "--n-head", "4", "--threads", "1", "--quiet"]
passed, skipped = [], []


def check(what, condition, *found):
    if not condition:
        raise Failed(f"{what}: {' '.join(map(str, found))}" if found else what)


def answers(url):
    try:
        return urllib.request.urlopen(url, timeout=5).status == 200
    except OSError:
        return False


def axe_script():
    """axe-core's JavaScript, from the package axe-core-python of PyPI; None where it cannot be had."""
    folder = os.path.join(ROOT, "build", "browser-venv")
    find = lambda: glob.glob(f"{folder}/lib/python*/site-packages/axe_*/**/axe.min.js", recursive=True)
    if not find():
        try:
            venv.create(folder, with_pip=True)
            subprocess.run([f"{folder}/bin/pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "axe-core-python==0.1.0"],
                           check=True, capture_output=True, timeout=120)
        except (subprocess.SubprocessError, OSError):
            return None
    return open(find()[0], encoding="utf-8").read() if find() else None


class Pages:
    def __init__(self, browser, program, pictures, axe):
        self.browser, self.program, self.pictures, self.axe = browser, program, pictures, axe
        self.folder = tempfile.mkdtemp(prefix="inkling-pages-")

    def run(self, *arguments):
        result = subprocess.run([self.program, *arguments], capture_output=True, text=True, cwd=self.folder)
        check(f"inkling {arguments[0]}", result.returncode == 0, result.stderr)

    # Opens a page in all four ways; `look` tests it each time.
    def in_all_ways(self, name, url, look):
        for width, height in ((1400, 900), (390, 844)):
            for dark in (False, True):
                page = self.browser.open(url, width, height, dark)
                look(page)
                way = f"{name}, {width} pixels, {'dark' if dark else 'light'}"
                inside = page.js("return document.documentElement.scrollWidth")
                check(f"{way}: wider than the window", inside <= width, inside)
                self.clean(way, url)
                if self.pictures:
                    path = os.path.join(self.pictures, f"{name}-{width}-{'dark' if dark else 'light'}.png")
                    page.screenshot(path, min(5000, page.js("return document.documentElement.scrollHeight")))

    # No error, no request elsewhere, no serious fault of accessibility.
    def clean(self, way, url, *expected):
        page = self.browser
        errors = [e for e in page.errors() if not any(part in e for part in ("favicon", *expected))]
        check(f"{way}: the console", not errors, errors)
        own = "{0.scheme}://{0.netloc}/".format(urllib.parse.urlparse(url))
        others = [u for u in page.requested() if not u.startswith((own, "data:", "about:"))]
        check(f"{way}: requests elsewhere", not others, others)
        if not self.axe:
            return
        page.cdp("Runtime.evaluate", expression=self.axe)  # the page's policy does not hold for it
        faults = page.js_async("const done = arguments[0]; axe.run().then((r) => done(r.violations.filter((v) => "
                               "['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes[0].html}: "
                               "${v.nodes[0].any[0]?.message ?? ''}`)), (e) => done([String(e)]))")
        check(f"{way}: axe", not faults, *faults)

    # --- the report
    def report(self):
        self.run("train", "--out", "first", "--max-iters", "120", "--eval-every", "20", "--sample-every", "40", "--log-every", "2", *SMALL)
        self.run("report", "first", "--out", "report.html")
        url = "file://" + os.path.join(self.folder, "report.html")
        lines = [json.loads(line) for line in open(os.path.join(self.folder, "first/metrics.jsonl"))]

        def look(page):
            charts = page.js("return [...document.querySelectorAll('.chart')].map((c) => c.querySelectorAll('path.line').length)")
            check("four charts with lines", len(charts) == 4 and all(n > 0 for n in charts), charts)
            dots = page.js("return document.querySelectorAll('.chart circle').length")
            check("a dot for each evaluation", dots == sum("val_loss" in line for line in lines), dots)
            check("heads", page.js("return document.querySelectorAll('#grid canvas').length") == 8)
            check("samples", "step 120" in page.js("return document.querySelector('.sample-bar .where').textContent"))

        self.in_all_ways("report", url, look)
        page = self.browser.open(url)
        # values under the pointer are those of metrics.jsonl
        page.mouse(".chart svg", (0.5, 0.5))
        told = page.js("return document.querySelector('.values').innerText")
        step = int(told.split("\n")[0].split()[1])
        line = next(m for m in lines if m["step"] == step)
        check("the values under the pointer", 40 < step < 80 and f"{float(line['val_loss']):.5g}" in told if "val_loss" in line else step > 0, told)
        page.js("const s = document.querySelector('.controls input'); s.value = 0; s.dispatchEvent(new Event('input'))")
        page.mouse(".chart svg", (0.3, 0.5), (0.5, 0.4))
        told = page.js("return document.querySelector('.values').innerText")
        step = int(told.split("\n")[0].split()[1])
        line = next(m for m in lines if m["step"] == step)
        check("the training loss under the pointer", f"{float(line['loss']):.5g}".rstrip("0") in told, told, line)
        # dragging zooms, 0 shows all again, in all charts
        ticks = "return [...document.querySelectorAll('.chart')].map((c) => [...c.querySelectorAll('text[text-anchor=middle]')].map((t) => t.textContent).join())"
        before = page.js(ticks)
        page.mouse(".chart svg", (0.3, 0.5), (0.45, 0.5), (0.6, 0.5), drag=True)
        after = page.js(ticks)
        check("dragging zooms every chart", all(a != b for a, b in zip(before, after)), before, after)
        page.js("document.querySelector('.chart svg').focus()")
        page.keys("0")
        check("0 shows all", page.js(ticks) == before)
        page.keys("End", "ArrowLeft")
        told = page.js("return document.querySelector('.values').innerText")
        check("arrow keys tell values", told.startswith(f"step {lines[-2]['step']}"), told)
        # controls
        for control, value, tick in ((0, "tokens", "k"), (0, "time", "s"), (1, "linear", ""), (2, "bits", "")):
            page.js("const s = document.querySelectorAll('.controls select')[arguments[0]]; s.value = arguments[1]; s.dispatchEvent(new Event('change'))", control, value)
            check(f"{value} on the axis", tick in page.js(ticks)[0], page.js(ticks)[0])
        page.js("document.querySelector('.sample-bar button').click()")
        check("an earlier sample", "step 80" in page.js("return document.querySelector('.sample-bar .where').textContent"))
        self.clean("report, used", url)
        # several runs
        self.run("train", "--out", "second", "--max-iters", "60", "--eval-every", "20", "--sample-every", "0", "--seed", "2", *SMALL)
        self.run("report", "second", "first", "--out", "both.html")

        def several(page):
            rows = page.js("return [...document.querySelectorAll('#compare tbody tr')].map((r) => r.cells[0].innerText.trim())")
            check("the best run first", rows == ["first", "second"], rows)
            check("what differs", "seed" in page.js("return document.querySelector('#settings table').innerText"))

        self.in_all_ways("runs", "file://" + os.path.join(self.folder, "both.html"), several)

    # --- a run that trains
    def live(self):
        port = free_port()
        url = f"http://127.0.0.1:{port}/"
        training = subprocess.Popen([self.program, "train", "--out", "live", "--max-iters", "1000000", "--max-time", "600", "--log-every", "2",
                                     "--eval-every", "100", "--sample-every", "50", "--serve", str(port), *SMALL],
                                    cwd=self.folder, stderr=subprocess.PIPE, text=True)
        try:
            wait_until("the server", lambda: answers(url), 60)
            steps = "return state.runs[0]?.metrics.step.length ?? 0"

            def look(page):
                wait_until("curves", lambda: page.js(steps) > 0)
                check("lines", page.js("return document.querySelectorAll('path.line').length") >= 4)

            self.in_all_ways("live", url, look)
            page = self.browser.open(url)
            wait_until("curves", lambda: page.js(steps) > 0)
            first, line = page.js(steps), page.js("return document.querySelector('path.line').getAttribute('d')")
            wait_until("curves that grow", lambda: page.js(steps) > first + 2)
            check("the line grows", page.js("return document.querySelector('path.line').getAttribute('d')") != line)
            samples = page.js("return state.runs[0].samples.length")
            wait_until("samples that appear", lambda: page.js("return state.runs[0].samples.length") > samples, 60)
            wait_until("heads", lambda: page.js("return document.querySelectorAll('#grid canvas').length") == 8)
            pixels = "return document.querySelector('#grid canvas').toDataURL()"
            before = page.js(pixels)
            wait_until("heads that change", lambda: page.js(pixels) != before, 60)
            page.type("#sample-prompt", "Once there was")
            page.click("#ask")
            wait_until("a sample of one's own", lambda: page.js("return document.querySelector('#answer blockquote')?.innerText.length > 40"))
            check("it begins as asked", page.js("return document.querySelector('#answer mark').textContent") == "Once there was")
            page.js("window.confirm = () => true")
            page.click("#stop")
            wait_until("the end", lambda: "ended" in page.js("return document.getElementById('notice').textContent"))
            check("the exit code", training.wait(30) == 130, training.returncode)
            check("the page keeps its curves", page.js(steps) > first)
            # the page may ask for heads as the run ends
            self.clean("live, stopped", url, "/api/heads - Failed to load resource: the server responded with a status of 503")
        finally:
            training.kill()
            training.wait()

    # A model with a chat template: that of the stories with two marks more. What it says makes no sense.
    def chat_model(self):
        best = os.path.join(self.folder, "first/best")
        tokenizer = json.load(open(f"{best}/tokenizer.json"))
        size = len(tokenizer["model"]["vocab"])
        for i, mark in enumerate(["<|im_start|>", "<|im_end|>"]):
            tokenizer["added_tokens"].append({"id": size + i, "content": mark, "single_word": False, "lstrip": False, "rstrip": False,
                                              "normalized": False, "special": True})
        json.dump(tokenizer, open(os.path.join(self.folder, "marks.json"), "w"))
        self.run("train", "--tokenizer", "marks.json", "--out", "chat", "--max-iters", "40", "--n-layer", "1", "--n-embd", "32", "--n-head", "2",
                 "--block-size", "512", "--batch-size", "2", "--threads", "1", "--quiet")
        path = os.path.join(self.folder, "chat/best/tokenizer_config.json")
        config = json.load(open(path))
        config["chat_template"] = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + "
                                   "'<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
        json.dump(config, open(path, "w"))

    # --- the playground
    def playground(self):
        if not os.path.exists(os.path.join(self.folder, "first")):
            self.run("train", "--out", "first", "--max-iters", "120", "--eval-every", "20", *SMALL)
        self.chat_model()
        port = free_port()
        url = f"http://127.0.0.1:{port}/"
        server = subprocess.Popen([self.program, "serve", "--model", "first", "--model", "chat", "--port", str(port), "--runs", "."], cwd=self.folder,
                                  stderr=subprocess.DEVNULL)
        try:
            wait_until("the server", lambda: answers(url + "health"), 60)
            models = "return play.models.length"

            def look(page):
                wait_until("models", lambda: page.js(models) == 2)
                page.type("#prompt", "Once there")
                page.js("settings.inputs.max_tokens.value = 12; settings.inputs.seed.value = 3")
                page.click("#write")
                wait_until("12 tokens", lambda: page.js("return tokens.list.length") == 12 and page.js("return play.running === null"))
                shades = page.js("return new Set([...document.querySelectorAll('.token')].map((t) => t.style.backgroundColor)).size")
                check("shades by probability", shades > 3, shades)

            self.in_all_ways("playground", url, look)
            self.play(url, models)
            self.chat(url, models)
            self.in_all_ways("served-runs", url + "runs", lambda page: wait_until(
                "two runs", lambda: page.js("return document.querySelectorAll('#compare tbody tr a').length") >= 1))
            page = self.browser.open(url + "runs")
            wait_until("links", lambda: page.js("return document.querySelectorAll('#compare a').length") >= 1)
            page.click("#compare a")
            wait_until("the run's own page", lambda: page.js("return document.querySelectorAll('path.line').length") >= 4)
            wait_until("its heads", lambda: page.js("return document.querySelectorAll('#grid canvas').length") == 8)
            self.clean("a served run", url)
        finally:
            server.terminate()
            server.wait()

    def play(self, url, models):
        page = self.browser.open(url)
        wait_until("models", lambda: page.js(models) == 2)
        page.js("document.getElementById('prompt').focus()")
        for letter in "Once":
            page.keys(letter)
        page.js("settings.inputs.max_tokens.value = 4000; settings.inputs.seed.value = 7; window.seen = new Set();"
                "new MutationObserver(() => seen.add(tokens.list.length)).observe(by_id('output'), { childList: true })")
        page.keys("Enter", held=("Control",))
        wait_until("text that streams", lambda: page.js("return seen.size") > 5)
        page.keys("Escape")
        wait_until("a stop", lambda: page.js("return play.running === null"))
        check("it stops before the end", page.js("return tokens.list.length") < 4000)
        # the same over the API
        text = page.js("return tokens.text()")
        body = {"prompt": "Once", "max_tokens": 4000, "seed": 7, "temperature": 0.8}
        asked = urllib.request.Request(url + "v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        same = json.load(urllib.request.urlopen(asked))["choices"][0]["text"]
        check("the text of the API", same.startswith(text), repr(text[-80:]), repr(same[len(text) - 80:len(text)]))
        # alternatives under the pointer; a click takes one and goes on from there
        page.js("settings.inputs.max_tokens.value = 10")
        page.mouse(".token:nth-of-type(4)", (0.5, 0.5))
        others = wait_until("alternatives", lambda: page.js("return [...document.querySelectorAll('#others div code')].map((c) => c.textContent)"))
        check("several of them", len(others) >= 5, others)
        kept = page.js("return tokens.text(2)")
        own = page.js("return tokens.list[2].text")
        pick = page.js("return [...document.querySelectorAll('#others div')].findIndex((d) => d.getAttribute('aria-selected') === 'false')")
        page.js("document.querySelectorAll('#others div')[arguments[0]].scrollIntoView({block: 'nearest'})", pick)
        page.click(f"#others div:nth-child({pick + 1})")
        wait_until("writing on", lambda: page.js("return tokens.list.length") == 13 and page.js("return play.running === null"))
        check("what was before stays", page.js("return tokens.text(2)") == kept)
        check("the other token is there", page.js("return tokens.list[2].text") != own)
        # the keyboard alone
        page.js("document.querySelector('.token[tabindex=\"0\"]').focus()")
        page.keys("Home", "ArrowRight", "Enter", "ArrowDown")
        check("alternatives by keyboard", page.js("return document.activeElement.getAttribute('role')") == "option")
        page.keys("Escape")
        check("and back", page.js("return document.activeElement === tokens.spans[1]"))
        page.keys("Enter", "ArrowDown", "Enter")
        wait_until("writing on", lambda: page.js("return tokens.list.length") == 12 and page.js("return play.running === null"))
        # the link
        link, text = page.js("return location.href"), page.js("return tokens.text()")
        self.clean("the playground, used", url)
        page.open(link)
        wait_until("models", lambda: page.js(models) == 2)
        kept = page.js("return [document.getElementById('prompt').value, tokens.text(), settings.inputs.seed.value, settings.inputs.max_tokens.value]")
        check("the link keeps the state", kept == ["Once", text, "7", "10"], kept)
        page.js("settings.inputs.temperature.value = 99")
        page.click("#write")
        wait_until("a wrong setting is said", lambda: "Temperature" in page.js("return document.getElementById('error').textContent"))
        self.clean("the playground, misused", url)

    def chat(self, url, models):
        page = self.browser.open(url)
        wait_until("models", lambda: page.js(models) == 2)
        check("no chat with a model that has no template", page.js("return document.getElementById('modes').hidden"))
        page.js("const m = settings.model; m.value = 'chat'; m.dispatchEvent(new Event('change'))")
        page.click("#modes [value=chat]")
        page.js("settings.inputs.max_tokens.value = 20; settings.inputs.seed.value = 1")
        for i, said in enumerate(("One <b>day</b>", "And then")):
            page.type("#prompt", said)
            page.keys("Enter", held=("Control",))
            wait_until("an answer", lambda: page.js("return play.running === null && play.messages.length") == 2 * i + 2)
        shown = page.js("return [...document.querySelectorAll('#talk li')].map((l) => l.lastChild.textContent)")
        check("the conversation", len(shown) == 4 and shown[0] == "One <b>day</b>" and shown[2] == "And then", shown)
        check("answers are not empty", shown[1] and shown[3], shown)
        pick = page.js("const { text, others } = tokens.list[2]; const pick = others.find((o) => o.text !== text && whole(o) && !o.text.includes('<|')).text;"
                       "tokens.take(2, pick); return tokens.text(2) + pick")
        wait_until("another token in an answer", lambda: page.js("return play.running === null && tokens.list.length > 3"))
        shown = page.js("return [...document.querySelectorAll('#talk li')].map((l) => l.lastChild.textContent)")
        check("the answer goes on from there", len(shown) == 4 and shown[3].startswith(pick) and len(shown[3]) > len(pick), shown, pick)
        link = page.js("return location.href")
        self.clean("a conversation", url)
        page.open(link)
        wait_until("models", lambda: page.js(models) == 2)
        again = page.js("return [...document.querySelectorAll('#talk li')].map((l) => l.lastChild.textContent)")
        check("the link keeps the conversation", again == shown, again)
        check("and the model", page.js("return settings.model.value") == "chat")
        self.clean("a conversation by link", url)
        for i in range(3, 9):
            page.type("#prompt", "Go on")
            page.keys("Enter", held=("Control",))
            wait_until("an answer", lambda: page.js("return play.running === null && play.messages.length") == 2 * i)
            box = page.js("const { top, bottom } = by_id('prompt').getBoundingClientRect(); return [top, bottom, innerHeight]")
            check(f"the box for a message is in view after {i} answers", 0 <= box[0] and box[1] <= box[2], box)
        check("the conversation is longer than the window", page.js("return document.documentElement.scrollHeight > 1.5 * innerHeight"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--pictures", help="folder for screenshots")
    parser.add_argument("--only", choices=["report", "live", "playground"])
    args = parser.parse_args()
    if not shutil.which("chromedriver"):
        sys.exit("browser: chromedriver is missing: apt-get install chromium chromium-driver")
    if args.pictures:
        os.makedirs(args.pictures, exist_ok=True)
    axe = axe_script()
    if not axe:
        skipped.append("axe-core: it cannot be had from PyPI")
    failed = []
    with Browser() as browser:
        pages = Pages(browser, os.path.abspath(args.program), args.pictures, axe)
        for name in [args.only] if args.only else ["report", "live", "playground"]:
            start = time.monotonic()
            try:
                getattr(pages, name)()
                passed.append(name)
            except (Failed, OSError) as e:
                failed.append(name)
                print(f"browser: {name} FAILED: {e}", flush=True)
            print(f"browser: {name}: {time.monotonic() - start:.0f} s", flush=True)
        shutil.rmtree(pages.folder, ignore_errors=True)
    for what in skipped:
        print(f"browser: skipped {what}")
    print(f"browser: {len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
