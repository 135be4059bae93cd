"""Drawings of the page: own SVG, whose positions along x are per cent of the width."""
