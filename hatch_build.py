"""Metadata that follow from the address of the repository: the urls, and the links of README on PyPI.

The address stands in ``pyproject.toml`` alone, under ``[tool.hatch.metadata.hooks.custom]``. README links to files
beside it, which a reader of PyPI does not have: each such link becomes one to the repository at the tag of the version.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?\[[^\]]*\])\((?!https?:)([^)\s]+)\)")


class RepositoryMetadata(MetadataHookInterface):
    """Writes the dynamic fields ``urls`` and ``readme``."""

    def update(self, metadata: dict[str, Any]) -> None:
        repository, tag = self.config["repository"], f"v{metadata['version']}"
        metadata["urls"] = urls(repository, tag)
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = with_absolute_links(text, repository, tag, "README.md")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def urls(repository: str, tag: str) -> dict[str, str]:
    """What PyPI shows beside the text: the site is where GitHub Pages has it."""
    host, owner, name = repository.removeprefix("https://").split("/")
    return {
        "Documentation": f"https://{owner}.{host.removesuffix('.com')}.io/{name}/",
        "Repository": repository,
        "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }


def with_absolute_links(text: str, repository: str, tag: str, page: str) -> str:
    """A page whose links are to the files of a tag; to its own headings too, since PyPI gives them no anchors."""

    def absolute(link: re.Match[str]) -> str:
        label, target = link.groups()
        path = f"{page}{target}" if target.startswith("#") else target
        return f"{label}({repository}/{'raw' if label.startswith('!') else 'blob'}/{tag}/{path})"

    return _LINK.sub(absolute, text)
