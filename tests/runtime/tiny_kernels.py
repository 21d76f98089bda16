"""C texts for the runtime's tests."""

PRELUDE = """
#include <stdint.h>
typedef struct weft_tensor { const int64_t *dimensions; void *const *arrays; void *vals; } weft_tensor;
"""


def make_source(value, name="compute"):
    """A kernel that takes one tensor and returns ``value``."""
    return PRELUDE + (
        f"static int64_t helper(void) {{ return {value}; }}\n"
        f"int64_t weft_{name}(weft_tensor *A, int64_t *counts, int64_t threads) {{ return helper(); }}\n"
    )
