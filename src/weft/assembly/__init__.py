"""Assembly by insertion: queries size a result's levels, then each entry is put at its position (2020, section 6)."""
