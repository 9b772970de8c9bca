"""Opens a page in a headless Chromium, that of Qt, and runs a script in it; a program of its own.

Usage: driver.py PAGE [STEP...] SCRIPT. PAGE is a file or a URL. The script is an expression whose
value is told, or a promise of it. Steps before it are scripts that lead to another page; or
``press:`` and the names of keys that do; or ``keys:`` and the names of some that do not, or
``type:`` and a text. Prints JSON: the value, all addresses that were asked for, and what the
console and dialogs said. NEARDUP_BROWSER_WIDTH and NEARDUP_BROWSER_HEIGHT are those of the window,
and a picture goes to the file that NEARDUP_BROWSER_PICTURE names.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

SECONDS = 60
NO_BROWSER = 77
HEIGHT = int(os.environ.get("NEARDUP_BROWSER_HEIGHT", "800"))

# A result of runJavaScript cannot be waited for, so it is kept in the page and asked for again.
START = """
window.answer = undefined;
Promise.resolve().then(() => (%s)).then(
  (value) => { window.answer = JSON.stringify({ value }); },
  (error) => { window.answer = JSON.stringify({ error: String(error) }); },
);
0
"""


def main(page_path: str, *steps: str) -> int:
    try:
        from PyQt6.QtCore import Qt, QTimer, QUrl
        from PyQt6.QtGui import QImage
        from PyQt6.QtTest import QTest
        from PyQt6.QtWebEngineCore import QWebEnginePage, QWebEngineUrlRequestInterceptor
        from PyQt6.QtWebEngineWidgets import QWebEngineView
        from PyQt6.QtWidgets import QApplication
    except ImportError as error:
        sys.stderr.write(str(error))
        return NO_BROWSER

    requests: list[str] = []
    console: list[str] = []
    dialogs: list[str] = []
    answers: list[str] = []

    class Recorder(QWebEngineUrlRequestInterceptor):
        def interceptRequest(self, info):
            requests.append(info.requestUrl().toString())

    class Page(QWebEnginePage):
        def javaScriptConsoleMessage(self, _, message, line, source):
            console.append(f"{message} ({source}:{line})")

        def javaScriptAlert(self, _, message):
            dialogs.append(message)

    application = QApplication(sys.argv[:1])
    recorder, view = Recorder(), QWebEngineView()
    page = Page(view)
    page.setUrlRequestInterceptor(recorder)
    view.setPage(page)
    view.resize(int(os.environ.get("NEARDUP_BROWSER_WIDTH", "1200")), HEIGHT)
    view.show()

    def take(answer: str | None) -> None:
        if answer is None:
            QTimer.singleShot(20, ask)
            return
        answers.append(answer)
        picture = os.environ.get("NEARDUP_BROWSER_PICTURE")
        if picture:
            # What was asked for may still have to be drawn.
            QTimer.singleShot(500, lambda: save(picture))
        else:
            application.quit()

    def save(picture: str) -> None:
        # 256 colours are enough for text, and take a third of the room.
        kind, without_dots = QImage.Format.Format_Indexed8, Qt.ImageConversionFlag.ThresholdDither
        view.grab().toImage().convertToFormat(kind, without_dots).save(picture)
        application.quit()

    def ask() -> None:
        page.runJavaScript("window.answer", take)

    left = list(steps)

    def go_on(is_loaded: bool = True) -> None:
        if not is_loaded:
            application.quit()
            return
        step = left.pop(0)
        if step.startswith("type:"):
            QTest.keyClicks(view.focusProxy(), step.removeprefix("type:"))
            QTimer.singleShot(200, go_on)
        elif step.startswith(("keys:", "press:")):
            kind, *names = step.replace(":", " ").split()
            for name in names:
                *modifiers, key = name.split("+")
                held = Qt.KeyboardModifier.NoModifier
                for modifier in modifiers:
                    held |= getattr(Qt.KeyboardModifier, f"{modifier}Modifier")
                QTest.keyClick(view.focusProxy(), getattr(Qt.Key, f"Key_{key}"), held)
            if kind == "keys":
                QTimer.singleShot(200, go_on)
        elif left:
            page.runJavaScript(step)
        else:
            page.loadFinished.disconnect(go_on)
            page.runJavaScript(START % step, lambda _: ask())

    page.loadFinished.connect(go_on)
    is_url = page_path.startswith("http://")
    page.load(QUrl(page_path) if is_url else QUrl.fromLocalFile(str(Path(page_path).resolve())))
    QTimer.singleShot(SECONDS * 1000, application.quit)
    application.exec()
    if not answers:
        sys.stderr.write("the page did not load, or gave no answer in time")
        return 1
    told = {"requests": requests, "console": console, "dialogs": dialogs}
    sys.stdout.write(json.dumps(json.loads(answers[0]) | told))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
