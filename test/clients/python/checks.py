"""What all the programs here share: a list of checks, and a view of what the upstream was sent.

Each check prints one line of JSON on stdout: {"check": NAME, "ok": true | false, "error"?: TEXT}.
"""

import asyncio
import inspect
import json
import os
import traceback
import urllib.parse
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Check = Callable[[], None] | Callable[[], Awaitable[None]]

BASE_URL = os.environ["SVC_BASE_URL"]
API_KEY = os.environ["SVC_API_KEY"]
NARROW_KEY = os.environ["SVC_NARROW_KEY"]
ENGINE_URL = os.environ["SVC_ENGINE_URL"]
ENGINE_KEY = os.environ["SVC_ENGINE_KEY"]
OBSERVER_URL = os.environ["SVC_OBSERVER_URL"]
MEDIA = Path(os.environ["SVC_MEDIA_DIR"])
LIMITED_SECONDS = int(os.environ["SVC_LIMITED_MS"]) / 1000
SPEECH_FRAMES = round(float(os.environ["SVC_SPEECH_SECONDS"]) * 24_000)

CHAT = "svc-3-flash"
TEXT_EMBEDDING = "svc-embedding-2"
MEDIA_EMBEDDING = "multimodal-embedding-1"
SPEECH = "svc-2.5-flash-tts"
TRANSCRIPTION = "svc-transcribe"

PLAIN = "Hello! How can I help you today?"
STREAMED = "Hello! How can I help?"
COMPLETED = " red, yellow and blue."
TRANSCRIBED = "Nothing was said."
MULTI_BYTE = "Grüße 你好，世界 👋🏽👩‍👩‍👧 €"

_checks: dict[str, Check] = {}


def check(name: str) -> Callable[[Check], Check]:
    def register(run: Check) -> Check:
        if name in _checks:
            raise ValueError(f"two checks are called {name!r}")
        _checks[name] = run
        return run

    return register


def run_all() -> None:
    # One for all checks: clients keep connections, which belong to the loop that opened them.
    loop = asyncio.new_event_loop()
    for name, run in _checks.items():
        result: dict[str, Any] = {"check": name, "ok": True}
        try:
            outcome = run()
            if inspect.isawaitable(outcome):
                loop.run_until_complete(outcome)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)
            mine = [frame for frame in where if "site-packages" not in frame.filename]
            line = f"line {mine[-1].lineno} of {Path(mine[-1].filename).name}" if mine else ""
            result |= {"ok": False, "error": f"{type(error).__name__}: {error} ({line})"}
        print(json.dumps(result), flush=True)
    loop.close()


def same(got: object, wanted: object) -> None:
    """`assert` would not say what came instead."""
    if got != wanted:
        raise AssertionError(f"got {got!r}, not {wanted!r}")


def asking(answer: str, tag: str) -> str:
    """The words by which the upstream picks its recorded answer."""
    return f"Say hello. answer={answer} tag={tag}"


def user(answer: str, tag: str) -> list[Any]:
    return [{"role": "user", "content": asking(answer, tag)}]


def seen(tag: str | None = None) -> list[dict[str, Any]]:
    """The bodies that the upstream was sent, oldest first."""
    return [request["json"] for request in _observe("/requests", tag)]


def was_broken_off(tag: str) -> bool:
    """Waits until the upstream's last request with this tag has ended."""
    return bool(_observe("/ended", tag)["aborted"])


def go_on(tag: str) -> None:
    """Lets a stream that waits go on, and break: its text has been read."""
    _observe("/release", tag)


def _observe(path: str, tag: str | None) -> Any:
    query = "" if tag is None else f"?tag={urllib.parse.quote(tag)}"
    with urllib.request.urlopen(f"{OBSERVER_URL}{path}{query}", timeout=30) as reply:
        return json.load(reply)
