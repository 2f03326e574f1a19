"""A person with a browser that runs no scripts: sees the text of a page, follows links, fills in forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import requests

PASSWORD = "correct horse battery"
SILENT = frozenset({"script", "style", "title", "template", "svg"})
VOID = frozenset({"input", "img", "br", "meta", "link", "hr", "use", "path", "rect", "stop", "source"})


@dataclass
class Form:
    """A form as it stands on a page."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)


class Seen(HTMLParser):
    """What is to be seen on a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.html = html
        self.words: list[str] = []
        self.title = ""
        self.links: dict[str, str] = {}
        self.forms: list[Form] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._open: list[str] = []
        self._link: tuple[str, list[str]] | None = None
        self._select: str = ""
        self._options = 0
        self._area: str | None = None
        self.feed(html)

    @property
    def text(self) -> str:
        """Return the visible words, with single spaces."""
        return " ".join(" ".join(self.words).split())

    def form(self, action: str) -> Form:
        """Return the form that goes to an address (its beginning is enough); by "" the one that goes to its own page."""
        return next(
            form for form in self.forms if (form.action.startswith(action) if action else not form.action)
        )

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of what may be followed or filled in."""
        given = {name: value or "" for name, value in attrs}
        self.tags.append((tag, given))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "a":
            self._link = (given.get("href", ""), [])
        elif tag == "form":
            self.forms.append(Form(given.get("action", ""), given.get("method", "get")))
        elif tag == "input" and self.forms and "disabled" not in given:
            self._input(given)
        elif tag == "select" and self.forms and "disabled" not in given:
            self._select = given.get("name", "")
            self._options = 0
        elif tag == "option" and self._select:
            self._option(given)
        elif tag == "textarea" and self.forms and "disabled" not in given:
            self._area = given.get("name", "")
            self.forms[-1].fields.append((self._area, ""))
        elif tag == "button" and self.forms:
            self.forms[-1].buttons.append(
                (given.get("name", ""), given.get("value", ""), given.get("formaction", ""))
            )

    def _option(self, given: dict[str, str]) -> None:
        """A browser sends the first option when none is selected."""
        fields, chosen = self.forms[-1].fields, (self._select, given.get("value", ""))
        self._options += 1
        if self._options == 1:
            fields.append(chosen)
        elif "selected" in given:
            fields[-1] = chosen

    def _input(self, given: dict[str, str]) -> None:
        if given.get("type") in ("checkbox", "radio") and "checked" not in given:
            return
        self.forms[-1].fields.append((given.get("name", ""), given.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        """Close what was opened."""
        if tag == "a" and self._link:
            self.links.setdefault(" ".join(" ".join(self._link[1]).split()), self._link[0])
            self._link = None
        if tag == "select":
            self._select = ""
        if tag == "textarea":
            self._area = None
        while tag in self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Collect words."""
        if self._area is not None:
            self.forms[-1].fields[-1] = (self._area, data)
        if "title" in self._open and "svg" not in self._open:
            self.title += data
        if SILENT & set(self._open):
            return
        self.words.append(data)
        if self._link:
            self._link[1].append(data)


@dataclass
class Page:
    """An answer, and what is seen in it."""

    answer: requests.Response
    seen: Seen

    @property
    def status(self) -> int:
        """Return the status."""
        return self.answer.status_code

    @property
    def path(self) -> str:
        """Return where the visitor has come to, with the query."""
        return "/" + self.answer.url.split("/", 3)[3]

    @property
    def text(self) -> str:
        """Return the visible words."""
        return self.seen.text


class Visitor:
    """Opens pages of a server on this machine and sends their forms."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.session = requests.Session()
        self.session.headers["Accept"] = "text/html,application/xhtml+xml"

    def open(self, path: str, **how: Any) -> Page:
        """Open a page, following redirects."""
        return self._page(self.session.get(f"{self.base}{path}", timeout=20, **how))

    def send(self, page: Page, action: str, /, *, button: str = "", **typed: Any) -> Page:
        """Send the form of a page that goes to `action`; typed: in place of what stands there, dots in names as `__`."""
        form = page.seen.form(action)
        values = {name.replace("__", "."): value for name, value in typed.items()}
        data = [(name, value) for name, value in form.fields if name not in values]
        for name, value in values.items():
            data += [(name, one) for one in (value if isinstance(value, list) else [value])]
        target = form.action or page.path
        for name, value, address in form.buttons:
            if button and button in (value, address):
                data += [(name, value)] if name else []
                target = address or target
        return self.post(target.partition("#")[0], data)

    def post(self, path: str, data: Any, **how: Any) -> Page:
        """Send a form as it is given."""
        return self._page(self.session.post(f"{self.base}{path}", data=data, timeout=20, **how))

    def arrive(self, password: str = PASSWORD) -> Page:
        """Come for the first time and set the password."""
        return self.send(self.open("/"), "", password=password, again=password)

    def token(self) -> str:
        """Return the mark that forms carry."""
        return dict(self.open("/password").seen.form("").fields)["csrf"]

    def close(self) -> None:
        """End the connections."""
        self.session.close()

    def _page(self, answer: requests.Response) -> Page:
        is_page = answer.headers.get("Content-Type", "").startswith("text/html")
        return Page(answer, Seen(answer.text if is_page else ""))
