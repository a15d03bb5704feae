"""Line plots as SVG with a logarithmic x axis and a linear y axis from zero, for light and dark backgrounds."""

import html

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 120, 44, 48
COLOURS = ("#0b7a75", "#b4540a", "#5b4bb7")
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #222 }
  .title { font-weight: 600; font-size: 15px }
  .grid { stroke: #ddd } .axis { stroke: #888 }
  @media (prefers-color-scheme: dark) { text { fill: #ddd } .grid { stroke: #333 } .axis { stroke: #777 } }
"""


def ceiling(value):
    """Returns the next larger round number for the end of an axis."""
    power = 10 ** (len(str(int(max(value, 1)))) - 1)
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)


def line_plot(title, across, up, series):
    """`series`: a list of names, each with its points (x, y). Every x is a power of ten."""
    columns = sorted({x for _, points in series for x, _ in points})
    top = ceiling(max(y for _, points in series for _, y in points))
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    place = {x: LEFT + width * number / max(len(columns) - 1, 1) for number, x in enumerate(columns)}

    def level(y):
        return TOP + height * (1 - y / top)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{html.escape(title)}</title><style>{STYLE}</style>",
        f'<text class="title" x="{LEFT}" y="22">{html.escape(title)}</text>',
    ]
    for number in range(5):
        y = top * number / 4
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{level(y):.1f}" y2="{level(y):.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{level(y) + 4:.1f}" text-anchor="end">{y:g}</text>')
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{level(0):.1f}" y2="{level(0):.1f}"/>')
    for x in columns:
        parts.append(f'<text x="{place[x]:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x:,}</text>')
    middle = LEFT + width / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">{html.escape(across)}</text>')
    parts.append(
        f'<text transform="translate(16 {TOP + height / 2}) rotate(-90)" text-anchor="middle">{html.escape(up)}</text>'
    )
    # Names are placed at the ends of their lines, and moved apart if lines end close to each other.
    ends = sorted((level(points[-1][1]), name) for name, points in series)
    labels, last = {}, -100.0
    for y, name in ends:
        last = labels[name] = max(y, last + 16)
    for colour, (name, points) in zip(COLOURS, series):
        path = " ".join(f"{place[x]:.1f},{level(y):.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{place[x]:.1f}" cy="{level(y):.1f}" r="3.5" fill="{colour}"/>' for x, y in points]
        parts.append(
            f'<text x="{WIDTH - RIGHT + 8}" y="{labels[name] + 4:.1f}" style="fill:{colour}">{html.escape(name)}</text>'
        )
    return "\n".join(parts) + "\n</svg>\n"
