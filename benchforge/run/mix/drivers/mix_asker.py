"""Send requests of a mix at random moments, and record what comes back: mix_asker.py PLAN.

It extends asker.py; the file `request` holds the records of a stream, as JSON. A flow goes on over
the next connection if the server closes one.
"""

import itertools
import json
import sys
from pathlib import Path

sys.path += json.loads(Path(sys.argv[1]).read_bytes())["paths"]

import asker
from flow_steps import Flow, Flows
from flow_values import LARGEST_BODY, NoValue

TAKEN = "taken.json"
STEPS = 1000  # numbers of a record


class MixAsker(asker.Asker):
    """Sends one record after the other, and begins again after the last one."""

    def __init__(self, plan):
        super().__init__(plan)
        self._taken = {}

    def _stream(self):
        mix = json.loads(self._request)
        flows = Flows(Path(self._plan.folder, "mix"))
        for turn in itertools.count():
            for record in mix:
                # What answers give differs from turn to turn, and with it what is right.
                self._of = record["of"] + (turn * len(mix) * STEPS if record["later"] else 0)
                yield record["sent"].encode("latin-1")
                if record["later"]:
                    yield from self._later(record, flows)

    def _later(self, record, flows):
        flow = Flow(record["kind"], None, record["later"])
        while flow.steps and self._goes_on(flows, flow):
            self._of += 1
            self._taken[self._of] = dict(flow.values)
            yield flow.next

    def _goes_on(self, flows, flow):
        answer = self._answer
        if answer is None:
            return False
        body = answer.body if len(answer.body) <= LARGEST_BODY else None
        try:
            return flows.answered(flow, answer.status, answer.lines, body) is None
        except NoValue:
            return False

    def write(self):
        """Write the values that flows took, the record and the bodies."""
        Path(self._plan.folder, TAKEN).write_text(json.dumps(self._taken))
        super().write()


if __name__ == "__main__":
    asker.main(MixAsker)
