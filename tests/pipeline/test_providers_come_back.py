"""The real program: a provider that a person sets up gets to work at once on what waited for it."""

import json
from pathlib import Path

from tests.support.stage import Stage

SINTEL = 45745


def test_what_waited_for_a_debrid_service_goes_on_as_soon_as_one_is_set_up(tmp_path: Path) -> None:
    off = {
        "downloaders.realdebrid.enabled": False,
        "updaters.plex.enabled": False,
        "updaters.jellyfin.enabled": False,
    }
    with Stage(tmp_path, settings=off) as stage:
        stage.start_program()
        stage.api("POST", "/items/add", {"media_type": "movie", "tmdb_ids": [str(SINTEL)]})

        def film() -> dict[str, object]:
            rows = stage.api("GET", "/items").data["items"]
            return stage.api("GET", f"/items/{rows[0]['id']}/timeline").data if rows else {}

        stage.wait_for(lambda: "no debrid service" in str(film().get("next_reason")))
        settings = stage.installation.config / "settings.json"
        document = json.loads(settings.read_text())
        document["downloaders"]["realdebrid"]["enabled"] = True
        settings.write_text(json.dumps(document))
        # The error alone would have it wait for a minute, after some failures for hours.
        stage.wait_for(lambda: film().get("state") == "Completed", timeout=30)
