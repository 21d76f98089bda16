"""Examples of the functions of single elements, for docstrings that are made of tables.

The first lines of a section are the operands: lists become coo tensors. The last line is the printed result.
"""

from __future__ import annotations

from ..sections import sections


def with_example(name: str, text: str) -> str:
    """Return a docstring with the example of a function at its end.

    Examples
    --------
    >>> with_example("square", "Square the elements.").splitlines()[-2:]
    ['>>> weft.square(x).todense()', 'array([0.  , 2.25, 4.  ])']
    """
    example = sections(__file__, "ufunc_examples.txt").get(name)
    if example is None:
        return text
    *operands, result = example.splitlines()
    lines, arguments = ["import weft"], []
    for letter, operand in zip("xy", operands, strict=False):
        is_list = operand.startswith("[")
        arguments.append(letter if is_list else operand)
        if is_list:
            lines.append(f'{letter} = weft.asarray({operand}, format="coo")')
    lines.append(f"weft.{name}({', '.join(arguments)}).todense()")
    code = "".join(f">>> {line}\n" for line in lines)
    return f"{text.rstrip()}\n\nExamples\n--------\n{code}{result}\n"
