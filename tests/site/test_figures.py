"""The figures to move: right numbers, by slider, pointer and keyboard, and a picture without."""

import accessibility
import numpy as np
import pytest

from autograder.lessons import manifest, pictures, places

ASSETS = places.ROOT / "site" / "theme" / "assets"
FIGURES = {"tangent": "duals", "sizes": "vmap", "parts": "checkpoint"}


def picture(name):
    return pictures.inlined(manifest.get(FIGURES[name]).folder / f"{name}.svg", "A picture")


@pytest.fixture
def tab(blank, style):
    tab = blank
    tab.set_viewport_size({"width": 375, "height": 900})
    tab.goto("about:blank")  # scripts begin anew
    figures = "".join(
        f'<div class="figure" data-figure="{name}">{picture(name)}</div>' for name in FIGURES
    )
    html = f"<html lang=en><title>x</title><style>{style}</style><main class=md-typeset>"
    tab.set_content(html + figures)
    tab.add_script_tag(path=ASSETS / "figures.js")
    return tab


def figure(tab, name):
    return tab.locator(f'moving-figure:has([data-figure="{name}"])')


def test_the_picture_without_javascript_is_what_the_figure_shows_at_first(tab):
    every = "figures => figures.map((x) => [...x.querySelectorAll('svg text')].map(textOf))"
    read = f"(textOf => {every})(x => x.textContent)"
    moving = tab.locator("moving-figure").evaluate_all(read)
    tab.goto("about:blank")
    tab.set_content("".join(f"<section>{picture(name)}</section>" for name in FIGURES))
    assert tab.locator("section").evaluate_all(read) == moving
    assert all(len(words) > 2 for words in moving)


@pytest.mark.parametrize("name", FIGURES)
def test_the_keyboard_moves_a_figure(tab, name):
    moved = figure(tab, name)
    before = moved.locator("svg").inner_html(), moved.locator("p").inner_text()
    moved.locator("input").focus()
    tab.keyboard.press("ArrowLeft")
    after = moved.locator("svg").inner_html(), moved.locator("p").inner_text()
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert moved.locator("p").get_attribute("aria-live") == "polite"


def test_the_tangent_follows_the_pointer(tab):
    moved = figure(tab, "tangent")
    box = moved.locator("svg").bounding_box()
    middle = box["y"] + box["height"] / 2
    tab.mouse.move(box["x"] + 100, middle)
    tab.mouse.down()
    tab.mouse.move(box["x"] + (60 + 3 * 58) * box["width"] / 520, middle, steps=5)
    tab.mouse.up()
    x = -1.5  # where the slope 2x + 3 is zero
    assert float(moved.locator("input").input_value()) == pytest.approx(x, abs=0.06)
    assert moved.get_by_text("tangent 0.00").is_visible()


def test_the_numbers_of_operations_are_those_of_the_lesson_s_function():
    from minijax import make_jaxpr, vmap
    from minijax import numpy as jnp

    def score(w, x):
        return jnp.exp(jnp.sum(w * x))

    w, examples = jnp.ones(2), jnp.ones((12, 2))
    assert len(make_jaxpr(score)(w, examples[0]).eqns) == 3
    assert len(make_jaxpr(vmap(score, in_axes=(None, 0)))(w, examples).eqns) == 4
    desc = pictures.description(manifest.get("vmap").folder / "sizes.svg")
    assert "36 operations" in desc
    assert "4 operations" in desc


def test_the_memory_is_that_of_the_formula(tab):
    moved = figure(tab, "parts")
    for i, k in enumerate([1, 2, 4, 8, 16, 32, 64]):
        moved.locator("input").fill(str(i))
        peak = k + 2 * 64 // k
        assert moved.get_by_text(f"= {peak} arrays at one time").is_visible()
        assert moved.get_by_text("1 steps").count() == 0
        points = moved.locator("svg path").first.get_attribute("d")[1:-1].split("L")
        heights = [(320 - float(point.split()[1])) / 2 for point in points]
        assert np.max(heights) == peak


def test_figures_fit_a_phone_and_are_accessible(tab):
    assert tab.evaluate("document.documentElement.scrollWidth") == 375
    assert accessibility.problems(tab, "main") == []
