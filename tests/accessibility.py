"""What axe finds wrong on a page."""


def problems(tab, *parts):
    """The rule and the element of each problem, in some parts of a page or in all of it."""
    from axe_playwright_python.sync_playwright import Axe

    context = {"include": [[part] for part in parts]} if parts else None
    found = Axe().run(tab, context).response["violations"]
    return [(x["id"], x["nodes"][0]["html"][:200]) for x in found]
