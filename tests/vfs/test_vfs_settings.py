"""The settings of the file system."""

import pytest
from pydantic import ValidationError

from program.settings.vfs import VfsSettings


def test_permissions_may_be_written_in_octal():
    settings = VfsSettings.model_validate({"umask": "027", "dir_mode": "0o775", "file_mode": 420})
    assert (settings.umask, settings.dir_mode, settings.file_mode) == (0o027, 0o775, 0o644)


@pytest.mark.parametrize(
    "values",
    [
        {"umask": "999"},
        {"umask": "1000"},
        {"memory_mib": 1},
        {"mode": "nfs"},
        {"mont_path": "/x"},
        {"uid": -1},
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(values: dict[str, object]):
    with pytest.raises(ValidationError) as caught:
        VfsSettings.model_validate(values)
    assert caught.value.errors()[0]["loc"] == (next(iter(values)),)


def test_every_setting_is_described():
    assert all(field.description for field in VfsSettings.model_fields.values())


def test_an_empty_path_of_strm_files_is_none() -> None:
    assert VfsSettings(strm_path="").strm_path is None  # type: ignore[arg-type]
