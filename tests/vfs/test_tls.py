"""Reading over https."""

import ssl
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

import pytest

from program.media.entry import Link
from program.vfs.reader import ReadFailed
from tests.support.cdn import HONEST, Cdn, Manner, Request, content
from tests.support.wait import until
from tests.vfs.conftest import MIB, Library


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a key and a certificate for 127.0.0.1."""
    folder = tmp_path_factory.mktemp("tls")
    both = folder / "both.pem"
    names = ["-subj", "/CN=demo", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "3",
    ]
    made = subprocess.run(
        [*command, *names, "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    both.write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return both


@pytest.fixture
def secure(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """A library on a CDN that speaks https and is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with Cdn(context) as cdn, ExitStack() as stack:
        yield Library(cdn, stack)


def test_a_file_read_over_https_is_right_and_connections_are_used_again(secure: Library):
    size = 20 * MIB + 5
    reader = secure.reader("a.mkv", size)
    got = b"".join(b"".join(reader.read(1, offset, 131072)) for offset in range(0, size, 131072))
    assert got == content("a.mkv", 0, size)
    for place in range(5):
        assert b"".join(reader.read(1, place * 4 * MIB, 4096)) == content(
            "a.mkv", place * 4 * MIB, place * 4 * MIB + 4096
        )
    assert secure.cdn.connections <= 3


def test_a_certificate_that_nobody_vouches_for_is_an_error(secure: Library, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SSL_CERT_FILE")
    reader = secure.reader("a.mkv", MIB, secure.readers(timeout=0.5))
    with pytest.raises(ReadFailed, match="certificate is not valid"):
        reader.read(1, 0, 4096)
    assert not secure.cdn.requests


def test_a_redirect_to_http_is_not_followed(secure: Library, cdn: Cdn):
    cdn.add("a.mkv", MIB)
    secure.cdn.behave = lambda _: Manner(status=302, headers=(("Location", cdn.url("a.mkv")),))
    reader = secure.reader("a.mkv", MIB, secure.readers(timeout=1))
    with pytest.raises(ReadFailed, match="https to http"):
        reader.read(1, 0, 4096)
    assert not cdn.requests


def test_a_transfer_cut_in_mid_file_is_gone_on_with(secure: Library):
    secure.cdn.behave = lambda request: Manner(cut_after=300_000) if request.number % 2 == 0 else HONEST
    reader = secure.reader("a.mkv", 6 * MIB)
    got = b"".join(b"".join(reader.read(1, offset, 131072)) for offset in range(0, 6 * MIB, 131072))
    assert got == content("a.mkv", 0, 6 * MIB)


def test_a_stop_under_a_transfer_gives_no_wrong_bytes(secure: Library):
    def slow(request: Request) -> Manner:
        return Manner(rate=8_000_000, hang_after=MIB if request.start == 0 else None)

    secure.cdn.behave = slow
    readers = secure.readers(timeout=30, stall=20)
    reader = secure.reader("a.mkv", 50 * MIB, readers)

    def read_on(start: int) -> None:
        for offset in range(start, start + 8 * MIB, 65536):
            try:
                got = b"".join(reader.read(1, offset, 65536))
            except ReadFailed:
                return
            assert got == content("a.mkv", offset, offset + 65536)

    with ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(read_on, start * 10 * MIB) for start in range(3)]
        until(lambda: secure.cdn.bytes_sent > MIB)
        before = monotonic()
        assert readers.stop(5)
        assert [job.result(5) for job in jobs] == [None] * 3
        assert monotonic() - before < 4


def test_an_address_with_a_password_is_not_told_in_an_error(secure: Library):
    secure.cdn.behave = lambda _: Manner(status=403)
    url = secure.cdn.url("a.mkv").replace("https://", "https://demo:s3cret@") + "?token=t0ken"
    secure.resolver = lambda *_: Link(url, None, "demo")
    reader = secure.reader("a.mkv", MIB, secure.readers(timeout=2))
    with pytest.raises(ReadFailed) as caught:
        reader.read(1, 0, 4096)
    assert "s3cret" not in str(caught.value)
    assert "t0ken" not in str(caught.value)
    assert str(caught.value) == "HTTP 403"
