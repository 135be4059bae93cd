"""Files of a result as frozen values, which know no process."""
