"""Behind a reverse proxy: links keep its path, its word counts only when it is trusted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

from program.api.server import ApiServer, create_app
from program.settings.problems import InvalidSettings
from tests.api.home import KEY, Home
from tests.db.library import season

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)

BASE = "/apps/rivulet"


class Front:
    """A server behind a proxy, and the proxy's requests."""

    def __init__(self, home: Home, **api: object) -> None:
        home.use(api=api)
        self.server = ApiServer(create_app(home.context), "127.0.0.1", 0, threads=4)
        self.server.start()

    def get(self, path: str, **headers: str) -> requests.Response:
        url = f"http://127.0.0.1:{self.server.port}{path}"
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return requests.get(url, headers=sent, timeout=10, allow_redirects=False)


@pytest.fixture
def front(home: Home) -> Iterator[Front]:
    found = Front(home, base_path=BASE, trusted_proxies=["127.0.0.0/8"], proxy_user_header="Remote-User")
    yield found
    found.server.stop()


@pytest.fixture
def stranger(home: Home) -> Iterator[Front]:
    """A server whose proxy is at another address than the one that asks."""
    found = Front(home, trusted_proxies=["10.0.0.0/8"], proxy_user_header="Remote-User")
    yield found
    found.server.stop()


def test_the_api_answers_with_the_base_path_and_without(front: Front) -> None:
    for path in (f"{BASE}/api/v1/stats", "/api/v1/stats", f"{BASE}/health", "/health"):
        assert front.get(path, X_Api_Key=KEY).status_code == 200
    assert front.get("/apps/rivulets/api/v1/stats", X_Api_Key=KEY).status_code == 404


def test_what_is_given_out_has_the_base_path(front: Front) -> None:
    assert front.get(f"{BASE}/").headers["Location"].startswith(f"{BASE}/welcome")
    assert (
        front.get(f"{BASE}/api/v1/feeds", X_Api_Key=KEY)
        .json()["calendar"]
        .startswith(f"{BASE}/api/v1/feeds/")
    )
    assert f'href="{BASE}/static/' in front.get(f"{BASE}/welcome").text


def test_a_trusted_proxy_says_scheme_and_host(front: Front) -> None:
    said = {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "films.example"}
    url = requests.post(
        f"http://127.0.0.1:{front.server.port}/api/v1/upload_logs",
        headers={"X-Api-Key": KEY, **{name.replace("_", "-"): value for name, value in said.items()}},
        timeout=10,
    ).json()["url"]
    assert url.startswith(f"https://films.example{BASE}/api/v1/logs/shared/")


def test_whom_a_trusted_proxy_vouches_for_is_signed_in(front: Front) -> None:
    assert front.get(f"{BASE}/", Remote_User="ada").status_code == 200
    assert front.get(f"{BASE}/").status_code == 303
    assert front.get(f"{BASE}/api/v1/stats", Remote_User="ada").status_code == 401, "programs need the key"


def test_a_stranger_is_nobody_whatever_it_says(stranger: Front) -> None:
    said = {"Remote_User": "ada", "X_Forwarded_For": "10.0.0.1", "X_Forwarded_Host": "evil.example"}
    answer = stranger.get("/", **said)
    assert answer.status_code == 303
    assert "evil.example" not in answer.headers["Location"]


@pytest.mark.parametrize(
    ("api", "place"),
    [
        ({"base_path": "rivulet"}, "api.base_path"),
        ({"base_path": "/rivulet/"}, "api.base_path"),
        ({"base_path": "/a\r\nb"}, "api.base_path"),
        ({"trusted_proxies": ["everybody"]}, "api.trusted_proxies"),
        ({"proxy_user_header": "Remote User"}, "api.proxy_user_header"),
    ],
)
def test_a_bad_setting_is_refused_with_its_place(home: Home, api: dict[str, object], place: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        home.use(api=api)
    assert [problem.path for problem in refused.value.problems] == [place]


def test_the_description_is_a_page_without_scripts(home: Home) -> None:
    answer = home.call("GET", "/docs", key=None)
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "<script" not in answer.text
    assert "POST /api/v1/items/add" in answer.text


def test_whom_the_proxy_signed_in_is_named_in_the_story_and_may_upload(home: Home, front: Front) -> None:
    show = home.library.show(season(1), season(2))
    ada = requests.Session()
    ada.headers.update({"Remote-User": "Ada", "X-Forwarded-For": "203.0.113.7", "Accept": "text/html"})
    page = f"http://127.0.0.1:{front.server.port}{BASE}"
    form = ada.get(f"{page}/items/{show}/edit", timeout=10).text
    token = form.partition('name="csrf" value="')[2].partition('"')[0]
    chosen = {"csrf": token, "shown": ["1", "2"], "season": ["2"], "folders": "rules"}
    assert ada.post(f"{page}/items/{show}/edit", data=chosen, timeout=10).status_code == 200
    assert home.library.timeline(show)[-1].sentence.startswith("Edited by Ada: season 1 is not wanted")
    large = {"file": ("copy.db", b"SQLite format 3\0" + bytes(20 * 1024 * 1024))}
    answer = ada.post(f"{page}/backups/upload", data={"csrf": token}, files=large, timeout=20)
    assert answer.status_code == 409
    assert "Nothing was taken in" in answer.text
    ada.close()
