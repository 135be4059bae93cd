"""Forms in which a result is shown: plugins, through the same door as everybody's."""
