"""Opens a page in a headless Chromium, that of Qt, and runs a script in it; a program of its own.

Usage: driver.py PAGE SCRIPT. The script is an expression whose value is told, or a promise of it.
Prints JSON: the value, all addresses that were asked for, and what the console and dialogs said.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

SECONDS = 60
NO_BROWSER = 77

# A result of runJavaScript cannot be waited for, so it is kept in the page and asked for again.
START = """
window.answer = undefined;
Promise.resolve().then(() => (%s)).then(
  (value) => { window.answer = JSON.stringify({ value }); },
  (error) => { window.answer = JSON.stringify({ error: String(error) }); },
);
0
"""


def main(page_path: str, script: str) -> int:
    try:
        from PyQt6.QtCore import QTimer, QUrl
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
    view.resize(1200, 800)
    view.show()

    def take(answer: str | None) -> None:
        if answer is None:
            QTimer.singleShot(20, ask)
        else:
            answers.append(answer)
            application.quit()

    def ask() -> None:
        page.runJavaScript("window.answer", take)

    def start(is_loaded: bool) -> None:
        if not is_loaded:
            application.quit()
            return
        page.loadFinished.disconnect(start)
        page.runJavaScript(START % script, lambda _: ask())

    page.loadFinished.connect(start)
    page.load(QUrl.fromLocalFile(str(Path(page_path).resolve())))
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
