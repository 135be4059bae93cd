"""The kind of value that everything on disk is made of."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value that never changes, refuses unknown fields and cannot hold NaN or infinity."""

    # Built when first used: most commands need few of the models.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)
