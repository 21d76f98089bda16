"""Every text of the grid is CUDA that NVRTC compiles to machine code, of an old and of a new architecture."""

from . import nvrtc
from .programs import EXPRESSIONS, FORMATS, cases, module_of, program_of


def test_every_text_compiles():
    library = nvrtc.library()
    texts = []
    whole = [(*case, False) for case in cases()]
    shared = {"csr": ("spmv", "row_max", "sddmm", "spmm"), "coo": ("spmv", "spmm", "ttv"), "csf": ("mttkrp", "ttv")}
    shares = [(name, format, "float64", "int32", True) for format, names in shared.items() for name in names]
    for number, (name, format, dtype, index, balanced) in enumerate([*whole, *shares]):
        module, _ = module_of(EXPRESSIONS[name], FORMATS[format], dtype, index)
        # Kernels of C have one name in all namespaces, so that they get others in a text with many programs.
        source = program_of(module, 4, balanced).source.replace("WEFT_KERNEL(weft_", f"WEFT_KERNEL(weft_{number}_")
        texts.append(f"namespace weft_{number} {{\n{source}}}\n")
    text = "".join(texts)
    for architecture in ("sm_75", "sm_90"):
        code = nvrtc.compiled(library, text, architecture)
        for number in range(len(texts)):
            assert f"weft_{number}_evaluate_1".encode() in code
