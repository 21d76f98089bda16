"""Colours for C, the IR and concrete index notation, as HTML that is safe whatever the text contains."""

from __future__ import annotations

import re
from html import escape

_PATTERNS = {
    "c": re.compile(
        r"(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<directive>^#[^\n]*)|(?P<string>\"(?:\\.|[^\"\\])*\")"
        r"|(?P<type>\b(?:u?int(?:8|16|32|64)?_t|size_t|void|bool|char|int|float|double|const|static|inline|restrict"
        r"|struct|enum|typedef|extern)\b)"
        r"|(?P<keyword>\b(?:for|while|if|else|return|goto|break|continue|switch|case|do|sizeof)\b)"
        r"|(?P<number>\b\d[\w.]*)|(?P<call>\b[A-Za-z_]\w*(?=\())",
        re.DOTALL | re.MULTILINE,
    ),
    "notation": re.compile(
        r"(?P<type>\b(?:bool|u?int(?:8|16|32|64)|float(?:32|64)|complex(?:64|128))\b)"
        r"|(?P<keyword>\b(?:forall|where|parallel|function|out|for|in|while|if|else|and|or|not|return|simd|threads"
        r"|schedule|select|as)\b|[∀∃])"
        r"|(?P<number>\b\d[\w.]*)|(?P<call>\b[A-Za-z_]\w*(?=\())"
    ),
    "python": re.compile(
        r"(?P<comment>#[^\n]*)|(?P<string>\"(?:\\.|[^\"\\])*\")|(?P<keyword>\b(?:import|lambda)\b)"
        r"|(?P<number>\b\d+\b)|(?P<call>\b[A-Za-z_]\w*(?=\())"
    ),
}


def highlighted(text: str, language: str) -> str:
    """Return a text as HTML with a span for each word that has a colour.

    Examples
    --------
    >>> highlighted("if (a < b) return 1;", "c")
    '<span class="keyword">if</span> (a &lt; b) <span class="keyword">return</span> <span class="number">1</span>;'
    >>> highlighted("<b>", "plain")
    '&lt;b&gt;'
    """
    pattern = _PATTERNS.get(language)
    if pattern is None:
        return escape(text)
    parts, at = [], 0
    for match in pattern.finditer(text):
        parts += [escape(text[at : match.start()]), f'<span class="{match.lastgroup}">{escape(match[0])}</span>']
        at = match.end()
    return "".join([*parts, escape(text[at:])])
