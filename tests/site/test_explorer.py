"""The jaxpr explorer: made from real programs, drawn without overlaps, and usable by keyboard."""

import re

import accessibility
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.lessons import explored, layered, manifest, page, places

ASSETS = places.ROOT / "site" / "theme" / "assets"
ASKED = re.compile(r'^\{\{ jaxpr ("[\w-]+")(?: folded)? \}\}$', re.MULTILINE)
LESSONS = ["jaxprs", "tracing", "jit", "linearize", "grad", "control", "custom", "checkpoint"]


def asked(lesson_id):
    lesson = manifest.get(lesson_id)
    return [explored.read(name, lesson) for name in ASKED.findall(page.read(lesson))]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_about_programs_lets_its_reader_explore_one(lesson):
    for found in asked(lesson):
        for jaxpr in found.jaxprs:
            made = [x["name"] for eqn in jaxpr["equations"] for x in eqn["results"]]
            text = [line.strip() for line in re.split(r"[\n;]", jaxpr["text"])]
            assert len(made) >= 2
            assert all(any(f"{name}:" in line for line in text) for name in made)
    assert asked(lesson)


def test_the_lines_of_all_equations_are_those_of_the_whole_program():
    (jaxpr,) = asked("jit")[0].jaxprs
    from minijax import jit
    from minijax import numpy as jnp

    whole = jit(lambda w, x: jnp.sum(jnp.sin(w * x) + 1.0)).lower(2.0, jnp.ones(3)).as_text()
    body = [line.strip() for line in whole.splitlines() if " = " in line]
    assert [line for eqn in jaxpr["equations"] for line in eqn["hlo"]] == body
    assert len(body) > 5


def test_before_its_lesson_there_is_no_stablehlo():
    assert not any(eqn["hlo"] for x in asked("tracing")[0].jaxprs for eqn in x["equations"])


@st.composite
def graphs(draw):
    nodes = []
    for number in range(draw(st.integers(1, 12))):
        sources = st.lists(st.integers(0, number - 1), max_size=3) if number else st.just([])
        nodes.append(layered.Node(draw(st.floats(20, 200)), draw(sources)))
    return nodes


@settings(max_examples=50, deadline=None)
@given(graphs())
def test_a_graph_has_arrows_that_go_down_and_boxes_that_do_not_overlap(nodes):
    drawing = layered.draw(nodes)
    places_ = list(zip(drawing.middles, drawing.layers, nodes, strict=True))
    for (source, target), way in drawing.ways.items():
        assert [layer for _, layer in way] == list(
            range(drawing.layers[source], drawing.layers[target] + 1)
        )
    for i, (x, layer, node) in enumerate(places_):
        assert x - node.width / 2 >= -1e-6
        assert x + node.width / 2 <= drawing.width + 1e-6
        for x2, layer2, other in places_[:i]:
            assert layer != layer2 or abs(x - x2) >= (node.width + other.width) / 2


# ------------------------------------------------------------------------------------------
# In a browser


def shown(browser, style, lesson, **options):
    context = browser.new_context(**options)
    tab = context.new_page()
    html = f"<html lang=en><title>x</title><style>{style}</style><main class=md-typeset>"
    tab.set_content(html + asked(lesson)[0].explorer)
    if options.get("java_script_enabled", True):
        for script in sorted(ASSETS.glob("*.js")):  # all scripts of a page share their globals
            tab.add_script_tag(path=script)
    return tab


def places_of(tab, kind):
    marked = f"tr.explorer-{kind}, g.explorer-{kind}"
    return [x.get_attribute("data-place") for x in tab.locator(marked).all()]


def test_the_keyboard_shows_where_a_variable_is_made_and_used(browser, style):
    tab = shown(browser, style, "jit")
    tab.keyboard.press("Tab")  # to the switch for StableHLO
    for name in "abcd":
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.dataset.var") == name
    assert places_of(tab, "made") == ["equation 2 (mul)", "mul"]
    assert places_of(tab, "used") == ["equation 3 (sin)", "sin"]
    said = "d is made by equation 2 (mul) and is used by equation 3 (sin)."
    assert tab.get_by_text(said).is_visible()
    assert tab.locator("path.explorer-on").count() == 2  # the arrow and its tip
    tab.keyboard.press("Escape")
    assert places_of(tab, "made") == places_of(tab, "used") == []


def test_pointing_shows_a_variable_a_click_keeps_it_and_a_switch_shows_the_stablehlo(
    browser, style
):
    tab = shown(browser, style, "jit")
    tab.locator("g", has_text="sin").hover()
    assert places_of(tab, "used") == ["equation 4 (add)", "add 1.0"]
    tab.get_by_role("button", name="d:f64[3]").click()
    tab.mouse.move(0, 0)
    assert places_of(tab, "made") == ["equation 2 (mul)", "mul"]
    tab.locator("button[data-var]").last.click()
    assert tab.locator(".explorer-said").inner_text().endswith(" and is returned.")
    line = tab.get_by_text("stablehlo.sine")
    assert not line.is_visible()
    tab.get_by_label("Show the StableHLO").check()
    assert line.is_visible()


def test_without_javascript_there_is_the_text(browser, style):
    tab = shown(browser, style, "grad", java_script_enabled=False)
    assert tab.locator(".explorer-text").count() == 2
    assert all(text.is_visible() for text in tab.locator(".explorer-text").all())
    assert "lambda" in tab.locator(".explorer-text").first.inner_text()
    assert not tab.locator("table").first.is_visible()


@pytest.mark.parametrize(
    ("lesson", "width"),
    [
        *[("control", 375), ("linearize", 1280)],
        pytest.param("control", 1280, marks=pytest.mark.full),
        pytest.param("linearize", 375, marks=pytest.mark.full),
    ],
)
def test_an_explorer_fits_and_is_accessible(browser, style, lesson, width):
    tab = shown(browser, style, lesson, viewport={"width": width, "height": 900})
    tab.get_by_label("Show the StableHLO").check()
    tab.get_by_role("button").first.click()
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert accessibility.problems(tab, ".explorer") == []
