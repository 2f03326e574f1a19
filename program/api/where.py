"""Where the files of the library are, as whoever looks at the folder finds them."""

from collections.abc import Sequence
from dataclasses import dataclass

from program.api.context import ApiContext, SharedFiles
from program.db.views import FileView
from program.media.naming import beside
from program.media.profiles import roots_of
from program.settings.profiles import enabled_profiles
from program.settings.vfs import VfsSettings

# Where nothing is mounted and no STRM files are written, the library is below this address of the API.
OVER_HTTP = "/dav"


@dataclass(frozen=True, slots=True)
class Where:
    """Tells paths by the settings in force and by what the tree shows."""

    settings: VfsSettings
    files: SharedFiles

    def paths(self, view: FileView) -> tuple[str, ...]:
        """Return the paths of a file within the folder that people look at, the main one first; at least one."""
        return tuple(map(self.settings.shown_as, self._shown(view)))

    def places(self, view: FileView) -> tuple[str, ...]:
        """Return the same as whole paths on this machine."""
        return tuple(map(self.whole, self.paths(view)))

    def beside(self, view: FileView) -> tuple[str, ...]:
        """Return the paths of what stands beside a file, where its main place is, in the order of `companions`."""
        if self.settings.is_strm:
            # There are no subtitles, and what stands there is named by the videos.
            return ()
        above, _, name = self._shown(view)[0].rpartition("/")
        return tuple(f"{above}/{beside(name, one.tail)}" for one in view.companions)

    def whole(self, path: str) -> str:
        """Return a path within the folder as a whole path on this machine."""
        mode = self.settings.mode
        is_over_http = mode == "webdav" or (mode == "auto" and not self.files.is_mounted)
        folder = OVER_HTTP if is_over_http else self.settings.folder
        return f"{folder.rstrip('/')}{path}"

    def _shown(self, view: FileView) -> Sequence[str]:
        """Return where the tree shows a file; where it will, when it does not yet."""
        shown = self.files.paths_of(view.entry_id)
        roots = roots_of(view.profiles, enabled_profiles(self.settings.profiles))
        return shown or tuple(f"{root}{view.path}" for root in roots)


def where(context: ApiContext) -> Where:
    """Return what tells paths now."""
    return Where(context.store.current.vfs, context.files)
