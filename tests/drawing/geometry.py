"""Checks on where the items of a scene lie."""

from itertools import combinations
from xml.etree import ElementTree

from weft.drawing.scene import Arrow, Box, Label, Line, extent, paint, text_width

SVG = "{http://www.w3.org/2000/svg}"
AROUND = ("panel", "bar", "node")  # boxes that have other items inside


def overlaps(a, b, margin=0.5):
    """Return whether two items cover a common area, but for a margin."""
    left, top, right, bottom = extent([a])
    other_left, other_top, other_right, other_bottom = extent([b])
    across = min(right, other_right) - max(left, other_left)
    down = min(bottom, other_bottom) - max(top, other_top)
    return across > margin and down > margin


def overlapping(scene):
    """Return the pairs of boxes and labels that lie on each other."""
    # A label is as high as its text, less the room for what reaches below the line.
    items = [
        item for item in scene.items if isinstance(item, Label) or (isinstance(item, Box) and item.style not in AROUND)
    ]
    return [
        (a, b)
        for a, b in combinations(items, 2)
        if overlaps(a, b, 4.5 if isinstance(a, Label) or isinstance(b, Label) else 0.5)
    ]


def loose_arrows(scene):
    """Return the arrows that do not begin below a box or a label, or do not end at the top of a box or a bracket."""
    boxes = [item for item in scene.items if isinstance(item, Box) and item.style not in ("panel", "bar")]
    labels = [item for item in scene.items if isinstance(item, Label)]
    brackets = [item for item in scene.items if isinstance(item, Line)]

    def begins(arrow):
        below = any(abs(box.bottom - arrow.y1) < 2 and box.x <= arrow.x1 <= box.x + box.width for box in boxes)
        return below or any(0 <= arrow.y1 - label.y < 12 and label.x <= arrow.x1 + 6 for label in labels)

    def ends(arrow):
        at_box = any(abs(box.y - arrow.y2) < 1 and box.x - 5 <= arrow.x2 <= box.x + box.width + 5 for box in boxes)
        return at_box or any(
            abs(line.points[1][1] - arrow.y2) < 1 and line.points[0][0] <= arrow.x2 <= line.points[-1][0]
            for line in brackets
        )

    return [arrow for arrow in scene.items if isinstance(arrow, Arrow) and not (begins(arrow) and ends(arrow))]


def checked_svg(text):
    """Return the root of SVG text, which is well-formed, has a title, and whose text lies within the view box."""
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text
    assert root.find(f"{SVG}desc").text
    left, top, width, height = map(float, root.get("viewBox").split())
    for label in root.iter(f"{SVG}text"):
        style = label.get("class")
        wide = text_width(label.text, style if style in ("title", "level", "role", "axis", "note") else "code")
        begin = float(label.get("x")) - {None: 0, "middle": wide / 2, "end": wide}[label.get("text-anchor")]
        assert left <= begin <= left + width - wide, label.text
        assert top < float(label.get("y")) < top + height, label.text
    return root


def checked(scene):
    """Return the root of the SVG text of a scene, whose items lie apart and whose arrows lead from boxes to boxes."""
    assert overlapping(scene) == []
    assert loose_arrows(scene) == []
    return checked_svg(paint(scene))
