"""The first screen: what is shown of a function is what microjax makes of it, and it follows."""

import pytest

from autograder.lessons import manifest


@pytest.fixture
def home(browser, address):
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    tab = context.new_page()
    tab.wrong = []
    tab.on("pageerror", lambda error: tab.wrong.append(str(error)))
    tab.goto(f"{address}/")
    yield tab
    context.close()


def shown(tab):
    parts = ("value", "derivative", "batch", "program")
    return [tab.locator(f".hero-{name}").inner_text() for name in parts]


def test_it_has_all_five_answers_before_anything_is_touched_and_all_follow_the_slider(home):
    program = "v_1 ->\n  v_2 = add(v_1, 3.0)\n  v_3 = mul(v_1, v_2)\nv_3"
    assert shown(home) == ["10", "7", "[4, 10, 18]", program]
    for width, height in ((1366, 768), (1280, 800)):
        home.set_viewport_size({"width": width, "height": height})
        for part in (".hero", ".hero-note", ".home .md-button--primary"):
            box = home.locator(part).first.bounding_box()
            assert box["y"] + box["height"] <= height, part
    text = home.locator(".home").inner_text()
    hours = sum(x.minutes for x in manifest.load().values() if x.has_page) / 60
    answers = "A course in", f"about {hours:.0f} hours", "trains a transformer", "Start with"
    for answer in ("For you", *answers):
        assert answer in text
    home.locator(".hero-x").focus()
    for _ in range(10):
        home.keyboard.press("ArrowRight")
    assert home.locator(".hero-at").inner_text() == "x = 3"
    assert shown(home)[:3] == ["18", "9", "[10, 18, 28]"]
    assert home.wrong == []


def test_the_curve_is_drawn_even_on_a_page_from_a_folder(home, built):
    home.goto((built / "index.html").as_uri())
    dot = home.locator(".hero-dot")
    assert [dot.get_attribute(name) for name in ("cx", "cy")] == ["240", "20"]  # at 2 and 10
    assert home.locator(".hero-curve").get_attribute("d").startswith("M0.0 80.0L4.0")
    assert home.locator(".hero text").all_text_contents()[-1] == "f(x)"


def test_another_function_is_computed_in_the_page_and_a_wrong_one_is_said_to_be(home):
    home.locator(".hero-f").fill("x ** 3 - 2 * x")
    home.get_by_text("microjax computed this").wait_for(timeout=60_000)
    assert shown(home)[:3] == ["4", "10", "[-1, 4, 21]"]
    assert "v_3 = mul(v_1, v_2)" in shown(home)[3]
    home.locator(".hero-f").fill("sin(x)")
    home.get_by_text("Write x, numbers, +, -, *").wait_for(timeout=60_000)
    assert home.locator(".hero-f").get_attribute("aria-invalid") == "true"
    assert shown(home)[0] == "4"
    home.locator(".hero-f").fill("x")
    home.get_by_text("microjax computed this").wait_for(timeout=60_000)
    assert shown(home) == ["2", "1", "[1, 2, 3]", "v_1 ->\nv_1"]
    assert home.wrong == []
