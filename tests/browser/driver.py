"""Opens pages in a headless Chromium, that of Qt, and takes steps in them; a program of its own.

Reads what to do from standard input, an object of JSON a line for each page: ``page``, a file or a
URL; ``steps``; ``width`` and ``height`` of the window; ``picture``, a file that the page goes to
after the last step, or nothing. A step is a script, an expression whose value is told, or a
promise of it; or one of these:

``go:`` and a script that leads to another page,
``keys:`` and the names of keys that are pressed (``Tab Shift+Tab End``),
``press:`` and the names of some that lead to another page,
``type:`` and a text.

Prints a line of JSON for each: the values of all scripts, all addresses that were asked for, and
what the console and dialogs said; or the ``error`` that has ended it. Pages know nothing of each
other: each has a profile of its own.
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


def main() -> int:
    try:
        import numpy as np
        from PyQt6.QtCore import QCoreApplication, QEvent, QEventLoop, Qt, QTimer, QUrl
        from PyQt6.QtGui import QImage
        from PyQt6.QtTest import QTest
        from PyQt6.QtWebEngineCore import (
            QWebEngineLoadingInfo,
            QWebEnginePage,
            QWebEngineProfile,
            QWebEngineSettings,
            QWebEngineUrlRequestInterceptor,
        )
        from PyQt6.QtWebEngineWidgets import QWebEngineView
        from PyQt6.QtWidgets import QApplication
    except ImportError as error:
        sys.stderr.write(str(error))
        return NO_BROWSER

    def look_at(orders):
        requests: list[str] = []
        console: list[str] = []
        dialogs: list[str] = []
        values: list[object] = []
        errors: list[str] = []

        class Recorder(QWebEngineUrlRequestInterceptor):
            def interceptRequest(self, info):
                requests.append(info.requestUrl().toString())

        class Page(QWebEnginePage):
            def javaScriptConsoleMessage(self, _, message, line, source):
                console.append(f"{message} ({source}:{line})")

            def javaScriptAlert(self, _, message):
                dialogs.append(message)

        loop, recorder = QEventLoop(), Recorder()
        view, profile = QWebEngineView(), QWebEngineProfile()
        page = Page(profile, view)
        page.setUrlRequestInterceptor(recorder)
        # Otherwise Qt stops what a file asks for elsewhere, and nobody would see that it asks.
        allowed = QWebEngineSettings.WebAttribute.LocalContentCanAccessRemoteUrls
        page.settings().setAttribute(allowed, True)
        view.setPage(page)
        view.resize(orders["width"], orders["height"])
        view.show()

        left = list(orders["steps"])

        def follow(loading: QWebEngineLoadingInfo) -> None:
            """Take a step when a page is there, be it one that says what went wrong."""
            if loading.status() == QWebEngineLoadingInfo.LoadStatus.LoadStartedStatus:
                return
            is_failed = loading.status() == QWebEngineLoadingInfo.LoadStatus.LoadFailedStatus
            of_http = QWebEngineLoadingInfo.ErrorDomain.HttpStatusCodeDomain
            if is_failed and loading.errorDomain() != of_http:
                errors.append(f"a page did not load: {loading.errorString()}")
                loop.quit()
            else:
                go_on()

        def go_on() -> None:
            if left:
                take_step(left.pop(0))
            elif orders["picture"]:
                # What was asked for may still have to be drawn.
                QTimer.singleShot(500, save_picture)
            else:
                loop.quit()

        def take_step(step: str) -> None:
            kind, _, rest = step.partition(":")
            if kind == "type":
                QTest.keyClicks(view.focusProxy(), rest)
                QTimer.singleShot(200, go_on)
            elif kind in ("keys", "press"):
                for name in rest.split():
                    press(name)
                if kind == "keys":
                    QTimer.singleShot(200, go_on)
            elif kind == "go":
                page.runJavaScript(rest)
            else:
                page.runJavaScript(START % step, lambda _: ask())

        def press(name: str) -> None:
            *modifiers, key = name.split("+")
            held = Qt.KeyboardModifier.NoModifier
            for modifier in modifiers:
                held |= getattr(Qt.KeyboardModifier, f"{modifier}Modifier")
            QTest.keyClick(view.focusProxy(), getattr(Qt.Key, f"Key_{key}"), held)

        def ask() -> None:
            page.runJavaScript("window.answer", take)

        def take(answer: str | None) -> None:
            if answer is None:
                QTimer.singleShot(20, ask)
                return
            told = json.loads(answer)
            if "error" in told:
                errors.append(told["error"])
                loop.quit()
                return
            values.append(told.get("value"))
            go_on()

        def save_picture() -> None:
            image = view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
            pixels = np.frombuffer(image.constBits().asarray(image.sizeInBytes()), np.uint32)
            # The 256 colours that most of it has are enough, and take a third of the room.
            colours, counts = np.unique(pixels, return_counts=True)
            most = colours[np.argsort(-counts, kind="stable")[:256]].tolist()
            kind, without_dots = (
                QImage.Format.Format_Indexed8,
                Qt.ImageConversionFlag.ThresholdDither,
            )
            image.convertToFormat(kind, most, without_dots).save(orders["picture"])
            loop.quit()

        page.loadingChanged.connect(follow)
        address = orders["page"]
        is_url = address.startswith("http://")
        page.load(QUrl(address) if is_url else QUrl.fromLocalFile(str(Path(address).resolve())))
        late = QTimer()
        late.timeout.connect(lambda: (errors.append("no answer in time"), loop.quit()))
        late.start(SECONDS * 1000)
        loop.exec()
        late.stop()
        # The page goes before its profile, and both before the next ones are there.
        for each in (view, profile):
            each.deleteLater()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        if errors:
            return {"error": errors[0]}
        return {"values": values, "requests": requests, "console": console, "dialogs": dialogs}

    application = QApplication(sys.argv[:1])
    application.setQuitOnLastWindowClosed(False)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(look_at(json.loads(line))) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
