"""What goes on, how the providers do, the log."""

from __future__ import annotations

import threading

import requests

from program.db.views import Decision
from program.events import ItemCompleted
from program.queues.job import JobSpec
from program.services.flows import names
from program.services.flows.process_media_item import MediaItemJob
from tests.api.home import KEY, Home
from tests.db.library import season
from tests.support.wait import until
from tests.web.visitor import Visitor


def test_a_quiet_program_says_when_the_next_step_is_due(home: Home, owner: Visitor) -> None:
    film = home.library.film()
    home.library.commit(film, {film: {"scraped_at": home.library.now, "scraped_times": 1}})
    text = owner.open("/activity").text
    assert "Nothing just now. The next step is due in 30 min" in text
    assert "All queues are empty." in text
    assert "Waits until Sintel in 30 min" in text


def test_jobs_are_counted_by_what_they_do(home: Home, owner: Visitor) -> None:
    data = MediaItemJob(1, 1, "Sintel", ())
    home.engine.add(JobSpec(queue=names.PROCESS_MEDIA_ITEM, name="Sintel", data=data))
    assert "Moving on 1" in owner.open("/activity").text


def test_what_happened_last_is_told_with_its_title(home: Home, owner: Visitor) -> None:
    show = home.library.show(season(1))
    part = home.library.item(show, 1, 2).id
    home.library.commit(show, {}, Decision(part, "scrape", "found", "41 releases seen; the best is X."))
    assert "Pioneer One S01E02 just now 41 releases seen" in owner.open("/activity").text


def test_providers_stand_there_with_their_state_and_reason(home: Home, owner: Visitor) -> None:
    home.use(
        scraping={"sample": {"enabled": True, "url": "http://127.0.0.1:9"}},
        downloaders={"vault": {"enabled": True}},
    )
    text = owner.open("/providers").text
    assert "Letterbox Not used" in text
    assert "Vault Not asked yet" in text
    home.registry.validate(home.library.now)
    text = owner.open("/providers").text
    assert "Vault Works" in text
    assert "Sample Index Not reachable" in text
    assert "cannot be reached" in text
    assert "Not reachable now: Sample Index" in owner.open("/").text


def test_a_provider_is_tested_at_the_press_of_a_button(home: Home, owner: Visitor) -> None:
    home.use(
        scraping={"sample": {"enabled": True, "url": "http://127.0.0.1:9"}},
        downloaders={"vault": {"enabled": True}},
    )
    page = owner.open("/providers")
    assert "Vault works." in owner.send(page, "/providers/vault/test").text
    assert "Sample Index: cannot be reached" in owner.send(page, "/providers/sample/test").text
    assert owner.post("/providers/nobody/test", {"csrf": owner.token()}).status == 404


def test_accounts_are_asked_for_apart(home: Home, owner: Visitor) -> None:
    assert "Ask the debrid services" not in owner.open("/providers").text
    home.use(downloaders={"vault": {"enabled": True}})
    page = owner.open("/providers")
    accounts = owner.open(page.seen.links["Ask the debrid services for their accounts"])
    assert "Vault Premium demo · 31 days left · 7 points" in accounts.text
    home.use(downloaders={"vault": {"enabled": True, "per_page": 1}})
    assert "vault: no answer within 20 s" in owner.open("/providers/accounts").text


def test_a_service_that_can_send_events_is_told_where(home: Home, owner: Visitor) -> None:
    home.use(content={"letterbox": {"enabled": True}})
    assert "/api/v1/webhook/letterbox/" in owner.open("/providers").text
    assert KEY not in owner.open("/providers").answer.text


def test_the_log_is_shown_newest_first_with_its_tracebacks_and_can_be_sifted(
    home: Home, owner: Visitor
) -> None:
    assert "No such lines" in owner.open("/log").text
    folder = home.store.folder / "logs"
    folder.mkdir()
    stamp = "2031-05-01 12:00:0{}.000"
    (folder / "rivulet.log").write_text(
        f"{stamp.format(1)} INFO    queues one\n"
        f"{stamp.format(2)} ERROR   http two {KEY}\nTraceback\n  <b>boom</b>\n"
        f"{stamp.format(3)} WARNING vfs three\n"
    )
    page = owner.open("/log")
    assert page.text.index("three") < page.text.index("two") < page.text.index("one")
    assert "Traceback <b>boom</b>" in page.text
    assert KEY not in page.answer.text
    errors = owner.open("/log?level=error").text
    assert "boom" in errors
    assert "three" not in errors
    assert "queues one" in owner.open("/log?text=ONE").text
    assert "vfs three" not in owner.open("/log?text=ONE").text


def test_a_log_that_is_not_kept_says_so(home: Home, owner: Visitor) -> None:
    home.use(log={"to_file": False})
    assert "The log is not kept in a file" in owner.open("/log").text


def test_a_page_hears_at_once_that_something_happened(home: Home, owner: Visitor) -> None:
    heard: list[bytes] = []

    def listen() -> None:
        with owner.session.get(f"{owner.base}/live", stream=True, timeout=20) as answer:
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            heard.append(next(line for line in answer.iter_lines() if line.startswith(b"data: ")))

    listener = threading.Thread(target=listen)
    listener.start()
    until(lambda: home.context.streams.count() == 1, what="the page listens")
    home.context.streams.tell(ItemCompleted(item_id=1, title="Sintel", sentence="In Plex"))
    listener.join(10)
    assert b"Sintel" in heard[0]


def test_pages_leave_places_for_other_programs(home: Home, owner: Visitor) -> None:
    listeners = [home.context.streams.open("events") for _ in range(3)]
    assert owner.session.get(f"{owner.base}/live", timeout=20).status_code == 204
    for listener in listeners:
        listener.close()


def test_nobody_listens_without_being_signed_in(home: Home, visitor: Visitor) -> None:
    answer = requests.get(f"{visitor.base}/live", timeout=20, allow_redirects=False)
    assert answer.status_code == 303
    assert home.context.streams.count() == 0
