"""The first steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from program.settings.vfs import VfsSettings
from program.web.mount_checks import checks
from tests.api.home import Home
from tests.web.visitor import Visitor

SHARED = "25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
PRIVATE = "25 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"


def settings(path: str = "/mnt/rivulet/library", *, allow_other: bool | None = True) -> VfsSettings:
    return VfsSettings(mount_path=Path(path), allow_other=allow_other)


def test_a_folder_that_everybody_sees_is_well() -> None:
    assert all(check.is_well for check in checks(settings(), is_mounted=True, mountinfo=SHARED))


def test_each_trouble_comes_with_what_mends_it() -> None:
    folder, others, shared = checks(settings(allow_other=False), is_mounted=False, mountinfo=PRIVATE)
    assert (folder.is_well, others.is_well, shared.is_well) == (False, False, False)
    assert "user_allow_other" in others.mend
    assert (
        shared.mend
        == "On the host: mount --bind /mnt/rivulet /mnt/rivulet && mount --make-rshared /mnt/rivulet"
    )


def test_the_mount_nearest_to_the_folder_counts() -> None:
    near = f"{PRIVATE}30 25 8:2 / /mnt/rivulet rw shared:7 - ext4 /dev/sdb1 rw\n"
    own = f"{near}31 30 0:50 / /mnt/rivulet/library rw - fuse.rivulet rivulet rw\n"
    assert checks(settings(), is_mounted=True, mountinfo=own)[2].is_well


@pytest.mark.parametrize(("mode", "word"), [("webdav", "vfs.mode"), ("auto", "does not allow")])
def test_a_library_that_is_not_mounted_says_where_it_is(mode: str, word: str) -> None:
    wanted = settings().model_copy(update={"mode": mode})
    [served] = checks(wanted, is_mounted=True, mountinfo=SHARED)
    assert served.is_well
    assert word in served.said
    assert "/dav" in served.said


def test_the_first_step_shows_the_folder_and_goes_on(home: Home, owner: Visitor) -> None:
    page = owner.open("/setup/files")
    assert "The folder is there" in page.text
    assert "propagation: rslave" in page.text
    assert page.seen.links["Go on"] == "/setup/metadata"
    home.mounted = False
    assert "The folder is not there" in owner.open("/setup/files").text


def test_a_provider_that_works_is_saved_and_the_next_step_follows(home: Home, owner: Visitor) -> None:
    page = owner.open("/setup/provider")
    assert "Sample Index" in page.text
    after = owner.send(page, "", downloaders__vault__enabled=["", "on"])
    assert after.path == "/setup/server"
    assert home.store.current.downloaders.vault.enabled  # type: ignore[attr-defined]


def test_whoever_types_a_key_wants_the_provider_used(home: Home, owner: Visitor) -> None:
    owner.send(owner.open("/setup/provider"), "", downloaders__vault__api_key="a-key-of-vault")
    section = home.store.current.downloaders.vault  # type: ignore[attr-defined]
    assert (section.enabled, section.api_key.get_secret_value()) == (True, "a-key-of-vault")


def test_a_provider_that_does_not_work_says_why_and_can_be_left_so(home: Home, owner: Visitor) -> None:
    page = owner.open("/setup/provider")
    stays = owner.send(
        page, "", scraping__sample__enabled=["", "on"], scraping__sample__url="http://127.0.0.1:9"
    )
    assert stays.path == "/setup/provider"
    assert "Sample Index: cannot be reached" in stays.text
    assert stays.seen.links["Skip"] == "/setup/server"


def test_a_key_is_tested_live_before_it_is_saved(home: Home, owner: Visitor) -> None:
    before = home.store.file.read_bytes()
    page = owner.send(owner.open("/setup/provider"), "", button="/setup/provider/test/vault")
    assert "It works." in page.text
    assert home.store.file.read_bytes() == before
    assert owner.post("/setup/provider/test/nobody", {"csrf": owner.token()}).status == 404


def test_a_bad_value_stands_at_its_field(home: Home, owner: Visitor) -> None:
    page = owner.send(owner.open("/setup/provider"), "", scraping__sample__url="nowhere")
    assert page.status == 422
    assert "Address is not a URL" in page.text


def test_a_step_without_providers_can_be_passed(owner: Visitor) -> None:
    page = owner.open("/setup/metadata")
    assert "No such service is known to this program." in page.text
    assert page.seen.links["Skip"] == "/setup/provider"


def test_the_last_step_adds_a_title_that_may_be_shared(home: Home, owner: Visitor) -> None:
    page = owner.open("/setup/first")
    assert "Sintel" in page.text
    forms = [form for form in page.seen.forms if ("what", "tmdb:45745") in form.fields]
    after = owner.post("/discover", forms[0].fields)
    assert after.path == "/items/1"


@pytest.mark.parametrize("step", ["nothing", "1"])
def test_a_step_that_does_not_exist_is_told(owner: Visitor, step: str) -> None:
    assert owner.open(f"/setup/{step}").status == 404
