"""`benchforge rebaseline`: an older result's code measured again, beside a newer one's."""
