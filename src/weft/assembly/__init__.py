"""Assembly by insertion: queries size a result's levels, then each entry is put in its place (2020, section 6)."""
