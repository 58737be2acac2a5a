"""The page of a report: sections, tables and figures as HTML that needs nothing from elsewhere."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

STYLE = """
:root { --ink: #1d2430; --soft: #5b6472; --line: #e2e6ec; --paper: #fff; --tint: #f4f6f9; --blue: #0072b2;
  --orange: #d98200; --green: #00875a; --red: #c43c00; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 28px 24px 60px; }
h1 { font-size: 30px; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 20px; margin: 44px 0 4px; padding-top: 14px; border-top: 2px solid var(--ink); }
h3 { font-size: 15px; margin: 20px 0 4px; }
p { margin: 6px 0 10px; max-width: 82ch; }
p.lead, .note { color: var(--soft); }
.note { font-size: 13px; }
nav { margin: 10px 0 18px; font-size: 13.5px; display: flex; flex-wrap: wrap; gap: 2px 16px; }
a { color: var(--blue); text-decoration: none; } a:hover { text-decoration: underline; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(165px, 1fr)); gap: 10px; margin: 16px 0; }
.fact { background: var(--tint); border-radius: 8px; padding: 10px 14px; }
.fact b { display: block; font-size: 22px; line-height: 1.25; font-variant-numeric: tabular-nums; }
.fact span { color: var(--soft); font-size: 12.5px; }
.wide { overflow-x: auto; margin: 8px 0 12px; }
table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 12px 3px 0; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; font-size: 12.5px; vertical-align: bottom; }
th.l, td.l { text-align: left; } td.f { white-space: normal; text-align: left; min-width: 26ch; }
ul { margin: 6px 0 10px; padding-left: 20px; }
.good { color: var(--green); font-weight: 600; } .bad { color: var(--red); font-weight: 600; }
iframe { width: 100%; height: 520px; border: 1px solid var(--line); border-radius: 8px; background: var(--tint); }
svg { max-width: 100%; height: auto; display: block; margin: 8px 0; }
svg text { font-family: inherit !important; }
details { margin: 8px 0 12px; } summary { cursor: pointer; color: var(--blue); font-size: 13.5px; }
pre { background: var(--tint); border-radius: 8px; padding: 10px 14px; overflow-x: auto; font-size: 12.5px;
  line-height: 1.5; margin: 6px 0; font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
math { font-size: 16px; } .forms td { padding-right: 18px; border: 0; vertical-align: middle; text-align: left; }
footer { margin-top: 50px; color: var(--soft); font-size: 13px; border-top: 1px solid var(--line); padding-top: 10px; }
@media print {
  body { font-size: 11px; } main { max-width: none; padding: 0; } nav, .scene iframe { display: none; }
  h2 { break-after: avoid; } table, svg, pre, .fact { break-inside: avoid; } th, td { padding-right: 8px; }
  table { font-size: 9.5px; }
}
"""


@dataclass(frozen=True)
class PageSection:
    """A part of the page.

    Attributes:
        title: its heading. ``lead``: one sentence that says what it shows.
        body: HTML.
        code: lines of Python that give the same numbers, after those of the sections before.
    """

    title: str
    lead: str
    body: str
    code: str = ""

    @property
    def anchor(self) -> str:
        """The anchor of its place on the page."""
        return "".join(letter if letter.isalnum() else "-" for letter in self.title.lower())

    def html(self) -> str:
        """The section, with its lines of Python folded in."""
        code = f"<details class=code><summary>in Python</summary><pre>{escape(self.code)}</pre></details>"
        return (
            f'<section id="{self.anchor}"><h2>{escape(self.title)}</h2><p class=lead>{escape(self.lead)}</p>'
            f"{self.body}{code if self.code else ''}</section>"
        )


def escape(text: object) -> str:
    """Text as HTML."""
    return html.escape(str(text))


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of text."""
    return f"<p{f' class={style}' if style else ''}>{escape(text)}</p>"


def bullets(texts: Iterable[str]) -> str:
    """A list of texts."""
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"


def number(value: float | None, digits: int = 4) -> str:
    """A number, or a dash where there is none."""
    return "–" if value is None else f"{value + 0.0:.{digits}g}"


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = (0,), *, is_html: bool = False
) -> str:
    """A table; the columns in ``left`` are flush left. With ``is_html`` its cells are."""
    write = str if is_html else escape

    def line(cells: Sequence[str], kind: str) -> str:
        written = (f"<{kind}{' class=l' if k in left else ''}>{write(cell)}</{kind}>" for k, cell in enumerate(cells))
        return f"<tr>{''.join(written)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<div class=wide><table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table></div>"


def folded(summary: str, body: str) -> str:
    """A part of the page that is seen when one asks for it."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """A few large numbers, each with what it is."""
    cells = "".join(f"<div class=fact><b>{escape(a)}</b><span>{escape(b)}</span></div>" for a, b in pairs)
    return f"<div class=facts>{cells}</div>"


def page(title: str, head: str, sections: Sequence[PageSection], foot: str) -> str:
    """The whole page."""
    links = "".join(f'<a href="#{section.anchor}">{escape(section.title)}</a>' for section in sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>{head}<nav>{links}</nav>"
        f"{''.join(section.html() for section in sections)}<footer>{foot}</footer></main></body></html>\n"
    )
