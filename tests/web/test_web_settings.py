"""The settings: every one drawn, checked before it is saved, shown as what will change."""

from __future__ import annotations

import json

import pytest

from program import plugins
from program.settings.fields import leaves
from program.settings.models import RootSettings
from program.web import forms
from program.web.settings import GENERAL
from tests.api.home import CLASSES, KEY, Home
from tests.db.library import release
from tests.support.source import ROOT
from tests.web.visitor import Page, Visitor

MODEL = plugins.compose_settings(plugins.discover())


def saved(home: Home) -> dict[str, object]:
    """Return what stands in the file."""
    return dict(json.loads(home.store.file.read_text()))


def change(owner: Visitor, section: str, **typed: object) -> Page:
    """Type something and look at what would change."""
    return owner.send(owner.open(f"/settings/{section}"), f"/settings/{section}", **typed)


def confirm(owner: Visitor, page: Page, section: str) -> Page:
    """Save what was looked at."""
    return owner.send(page, f"/settings/{section}")


def test_every_setting_has_a_field_with_its_description(owner: Visitor, home: Home) -> None:
    shown = set()
    for link in owner.open("/settings").seen.links.values():
        if link.startswith("/settings/"):
            page = owner.open(link)
            shown |= {tag["id"] for _, tag in page.seen.tags if "id" in tag}
    paths = {leaf.path for leaf in leaves(type(home.store.current))}
    wanted = {path for path in paths if path not in ("$schema", "version", "api_key")}
    rows = {path for path in wanted if path.rpartition(".")[0] in shown and path not in shown}
    assert all(path.startswith("ranking.custom_ranks.") for path in rows)
    assert wanted - rows <= shown


def test_a_change_is_shown_before_it_is_saved(home: Home, owner: Visitor) -> None:
    review = change(owner, "scraping", scraping__max_failed_attempts="7", scraping__prefer_packs=["", "on"])
    assert "What changes" in review.text
    assert "scraping.max_failed_attempts 20 7 at once" in review.text
    assert "scraping.prefer_packs off on at once" in review.text
    assert home.store.current.scraping.max_failed_attempts == 20
    after = confirm(owner, review, "scraping")
    assert "Saved, and in force." in after.text
    assert home.store.current.scraping.max_failed_attempts == 7
    assert home.store.current.scraping.prefer_packs


def test_what_counts_after_a_restart_only_says_so(home: Home, owner: Visitor) -> None:
    review = change(owner, "api", api__threads="8")
    assert "after a restart of the program" in review.text
    assert "api.threads will count after a restart" in confirm(owner, review, "api").text


def test_nothing_typed_changes_nothing(home: Home, owner: Visitor) -> None:
    for section in (
        "scraping",
        "ranking",
        "vfs",
        "indexing",
        "queue",
        "plugins",
        "log",
        GENERAL,
        "downloaders",
    ):
        before = home.store.file.read_bytes()
        page = change(owner, section)
        assert "Nothing was changed." in page.text, section
        assert home.store.file.read_bytes() == before


@pytest.mark.parametrize(
    ("section", "typed", "said"),
    [
        ("api", {"api__port": "x"}, 'Port must be a whole number, not "x"'),
        ("api", {"api__port": "70000"}, "Port must be at most 65535, not 70000"),
        (
            "scraping",
            {"scraping__scrape_cooldown_hours": "6, 2, 1"},
            "must be three ascending numbers above 0",
        ),
        ("scraping", {"scraping__scrape_cooldown_hours": "6, many, 1"}, "must be a whole number"),
        ("queue", {"queue__provider_limits": "sample"}, "write one `name = value` on each line"),
        ("queue", {"queue__provider_limits": "sample = 0"}, "each limit must be at least 1"),
        ("ranking", {"ranking__require": "[x"}, "is not a regular expression"),
        ("vfs", {"vfs__umask": "999"}, "takes digits from 0 to 7 only"),
        ("scraping", {"scraping__sample__url": "nowhere"}, "is not a URL"),
        ("api", {"api__host": ""}, "must have 1 characters or more"),
        ("indexing", {"indexing__release_kinds": [""]}, "must have 1 entries or more"),
    ],
)
def test_a_bad_value_is_refused_at_its_field_and_what_was_typed_stays(
    home: Home, owner: Visitor, section: str, typed: dict[str, object], said: str
) -> None:
    before = home.store.file.read_bytes()
    page = change(owner, section, **typed)
    assert page.status == 422
    assert said in page.text
    assert "Nothing was saved: 1 value cannot be right." in page.text
    assert home.store.file.read_bytes() == before
    for name, value in typed.items():
        assert (name.replace("__", "."), value if isinstance(value, str) else "") in page.seen.form(
            f"/settings/{section}"
        ).fields


def test_a_secret_is_never_shown_and_stays_when_left_empty(home: Home, owner: Visitor) -> None:
    home.use(scraping={"sample": {"enabled": True, "api_key": "the-secret-of-sample"}})
    page = owner.open("/settings/scraping")
    assert "the-secret-of-sample" not in page.answer.text
    assert "Set; leave empty to keep it" in page.answer.text
    confirm(owner, change(owner, "scraping", scraping__sample__per_page="9"), "scraping")
    section = home.store.current.scraping.sample  # type: ignore[attr-defined]
    assert (section.per_page, section.api_key.get_secret_value()) == (9, "the-secret-of-sample")


def test_a_secret_can_be_replaced_and_forgotten(home: Home, owner: Visitor) -> None:
    home.use(scraping={"sample": {"api_key": "the-first-secret"}})
    review = change(owner, "scraping", scraping__sample__api_key="the-next-secret")
    assert "scraping.sample.api_key •••••• another one" in review.text
    confirm(owner, review, "scraping")
    assert saved(home)["scraping"]["sample"]["api_key"] == "the-next-secret"  # type: ignore[index]
    page = owner.open("/settings/scraping")
    confirm(
        owner,
        owner.send(page, "/settings/scraping", **{"scraping__sample__api_key:forget": "yes"}),
        "scraping",
    )
    assert saved(home)["scraping"]["sample"]["api_key"] == ""  # type: ignore[index]


def test_what_the_environment_sets_is_locked_with_its_variable(home: Home, owner: Visitor) -> None:
    page = owner.open("/settings/log")
    assert "RIVULET_LOG__LEVEL sets this; change it there." in page.text
    (level,) = [tag for _, tag in page.seen.tags if tag.get("name") == "log.level"]
    assert "disabled" in level
    # Nor by a form that was made by hand.
    forged = owner.post("/settings/log", {"csrf": owner.token(), "log.level": "TRACE", "sure": "yes"})
    assert "Nothing was changed." in forged.text
    assert home.store.current.log.level == "INFO"


def test_of_two_people_the_second_is_told(home: Home, owner: Visitor) -> None:
    review = change(owner, "scraping", scraping__max_failed_attempts="7")
    home.use(scraping={"prefer_packs": True})
    page = confirm(owner, review, "scraping")
    assert (page.status, "were changed elsewhere meanwhile" in page.text) == (409, True)
    assert ("scraping.max_failed_attempts", "7") in page.seen.form("/settings/scraping").fields
    assert home.store.current.scraping.max_failed_attempts == 20


def test_a_provider_is_tried_with_what_was_typed_and_nothing_is_saved(home: Home, owner: Visitor) -> None:
    before = home.store.file.read_bytes()
    page = owner.open("/settings/downloaders")
    assert (
        "It works."
        in owner.send(
            page, "/settings/downloaders", button="/settings/downloaders/test/vault#downloaders.vault"
        ).text
    )
    page = owner.open("/settings/scraping")
    button = "/settings/scraping/test/sample#scraping.sample"
    tried = owner.send(page, "/settings/scraping", button=button, scraping__sample__url="http://127.0.0.1:9/")
    assert "Sample Index: cannot be reached" in tried.text
    assert ("scraping.sample.url", "http://127.0.0.1:9/") in tried.seen.form("/settings/scraping").fields
    assert home.store.file.read_bytes() == before


def test_a_provider_that_does_not_exist_cannot_be_tried(owner: Visitor) -> None:
    assert owner.post("/settings/scraping/test/nobody", {"csrf": owner.token()}).status == 404
    assert owner.open("/settings/nowhere").status == 404


def test_settings_are_found_by_name_and_by_description(owner: Visitor) -> None:
    page = owner.open("/settings?search=cinema")
    assert page.seen.links["Theatrical wait"] == "/settings/indexing#indexing.theatrical_wait_days"
    assert "No setting is called so" in owner.open("/settings?search=zzzz").text


def test_the_api_key_is_shown_only_when_asked_for(home: Home, owner: Visitor) -> None:
    page = owner.open("/settings/general")
    assert KEY not in page.answer.text
    assert KEY in owner.send(page, "/settings/general", button="show").text


def test_a_new_api_key_counts_at_once(home: Home, owner: Visitor) -> None:
    page = owner.send(owner.open("/settings/general"), "/settings/general", button="new")
    assert "A new API key is in force." in page.text
    assert home.call("GET", "/items").status_code == 401
    assert len(home.store.current.api_key.get_secret_value()) == 48


def test_every_kind_of_value_of_the_real_settings_is_read_back_as_it_was() -> None:
    example = json.loads((ROOT / "settings.json").read_text())
    settings: RootSettings = MODEL.model_validate(example)
    block = forms.block_of(settings, "", {})
    controls = {field.control for field in block.all_fields()}
    assert controls >= {
        "switch",
        "whole",
        "number",
        "octal",
        "text",
        "secret",
        "choice",
        "maybe",
        "checks",
        "lines",
        "row",
        "table",
    }


def test_the_classes_of_this_home_are_drawn(owner: Visitor) -> None:
    for kind in CLASSES:
        assert kind.title in owner.open(f"/settings/{kind.section}").text


def test_changed_rules_of_choosing_say_which_titles_would_choose_otherwise(
    home: Home, owner: Visitor
) -> None:
    film = home.library.film()
    first = release("a" * 40, 100, raw_title="Sintel.2010.1080p.WEB-DL.x264-A")
    home.library.find_releases(film, first)
    review = change(owner, "ranking", ranking__require="a word that no name has")
    assert "What would be chosen differently" in review.text
    assert "Sintel.2010.1080p.WEB-DL.x264-A nothing" in review.text
    assert "1 title with known releases was compared" in review.text
    assert "chosen differently" not in change(owner, "log", log__level="DEBUG").text


PROFILES = {
    "ranking": {
        "profiles": {"small files": {"people": ["Ada"], "min_megabytes_per_minute": {"maximum": 20}}}
    },
    "vfs": {"profiles": {"kids": {"path": "/kids", "rules": {"genres": ["Family", "!Horror"]}}}},
    "queue": {"provider_limits": {"vault": 2}},
}


def test_a_form_that_is_sent_as_it_stands_changes_nothing(home: Home, owner: Visitor) -> None:
    home.use(**PROFILES)
    for section in (
        "indexing",
        "scraping",
        "ranking",
        "downloaders",
        "vfs",
        "api",
        "network",
        "queue",
        "log",
        "plugins",
    ):
        page = owner.send(owner.open(f"/settings/{section}"), f"/settings/{section}")
        assert "Nothing was changed." in page.text, (section, page.text)


def test_profiles_are_written_as_what_differs_from_usual_and_can_be_edited(
    home: Home, owner: Visitor
) -> None:
    home.use(**PROFILES)
    page = owner.open("/settings/vfs")
    fields = dict(page.seen.form("/settings/vfs").fields)
    written = 'kids = {"path": "/kids", "rules": {"genres": ["Family", "!Horror"]}}'
    assert fields["vfs.profiles"].strip() == written
    more = written + '\nanime = {"path": "/anime", "rules": {"is_anime": true}}'
    review = owner.send(page, "/settings/vfs", vfs__profiles=more)
    assert "anime" in review.text
    owner.send(review, "/settings/vfs")
    assert home.store.current.vfs.profiles["anime"].rules.is_anime is True
    wrong = owner.send(owner.open("/settings/vfs"), "/settings/vfs", vfs__profiles='kids = {"path": ')
    assert wrong.status == 422
    assert "kids: what stands behind = is no JSON on one line" in wrong.text


def test_what_may_be_left_open_can_be_left_open(home: Home, owner: Visitor) -> None:
    page = owner.open("/settings/ranking")
    assert ("ranking.upgrade_until", "") in page.seen.form("/settings/ranking").fields
    review = owner.send(page, "/settings/ranking", ranking__upgrade_until="1080p")
    owner.send(review, "/settings/ranking")
    assert home.store.current.ranking.upgrade_until == "1080p"
    again = owner.send(owner.open("/settings/ranking"), "/settings/ranking", ranking__upgrade_until="")
    owner.send(again, "/settings/ranking")
    assert home.store.current.ranking.upgrade_until is None


def test_a_whole_number_is_shown_as_one_whatever_it_was_saved_as(home: Home, owner: Visitor) -> None:
    home.use(scraping={"flow_deadline_seconds": 60.0})
    fields = dict(owner.open("/settings/scraping").seen.form("/settings/scraping").fields)
    assert fields["scraping.flow_deadline_seconds"] == "60"


def test_what_a_service_says_to_a_test_is_told_with_its_name(owner: Visitor) -> None:
    # What may be at home may not be where clouds keep their secrets.
    typed = {"scraping.sample.enabled": "on", "scraping.sample.url": "http://169.254.169.254/"}
    page = owner.post("/settings/scraping/test/sample", {"csrf": owner.token(), **typed})
    assert (
        "Sample Index: url: leads to 169.254.169.254, in a network that is not of the internet" in page.text
    )
