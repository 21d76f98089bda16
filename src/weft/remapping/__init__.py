"""Coordinate remapping notation (2020 paper, section 4): how a format's levels see a tensor's axes."""

from .remapping import Remapping

__all__ = ["Remapping"]
