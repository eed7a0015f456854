"""The picture that a link to a page has where it is shared: the course's card, with its title.

For every page but the first, its title is written over the heading of `card.png`, with Pillow and
the font that Pillow brings, in a few hundredths of a second. The theme's own cards need fonts from
another host, and Cairo.
"""

import functools
import html
import io
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page
from PIL import Image, ImageDraw, ImageFont

_CARD = Path(__file__).resolve().parent / "theme" / "assets" / "card.png"
_HEADING = (80, 60, 1120, 240)  # where card.png says what the course is
_SIZES = range(76, 40, -4)
_TEXT = "#e3e7ea"


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Draw the page's card, if links to it have one: theme/main.html names the file."""
    if page.canonical_url and page.url:  # the first page has the course's own
        file = Path(config.site_dir, "assets", "cards", f"{page.url.strip('/')}.png")
        file.parent.mkdir(parents=True, exist_ok=True)
        title = html.unescape(re.sub("<[^>]*>", "", page.title or ""))
        file.write_bytes(_drawn(title))
    return output


@functools.cache
def _drawn(title: str) -> bytes:
    """A PNG file in the card's own colors."""
    card = Image.open(_CARD)
    image = card.convert("RGB")
    draw = ImageDraw.Draw(image)
    draw.rectangle(_HEADING, fill=image.getpixel(_HEADING[:2]))
    left, top, right, bottom = _HEADING
    text, font = _fitted(title, right - left, bottom - top)
    draw.multiline_text((left, bottom - 12), text, _TEXT, font, "ld", spacing=10)
    file = io.BytesIO()
    image.quantize(palette=card, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


def _fitted(title: str, width: int, height: int) -> tuple[str, ImageFont.FreeTypeFont]:
    """The title in lines, in the largest font in which these fit."""
    for size in _SIZES:
        font = ImageFont.load_default(size)
        lines = [""]
        for word in title.split():
            longer = f"{lines[-1]} {word}".strip()
            lines = [*lines[:-1], longer] if font.getlength(longer) <= width else [*lines, word]
        if len(lines) * (size + 14) <= height and max(map(font.getlength, lines)) <= width:
            break
    return "\n".join(lines), font
