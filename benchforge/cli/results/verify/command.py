"""`benchforge verify`: whether a result's numbers are those that its raw files give."""

from dataclasses import dataclass
from pathlib import Path

from benchforge.cli.console.options import argument, click_command, option

CONTRADICTED, NOT_PROVED = 1, 2


@dataclass(frozen=True)
class VerifyOptions:
    """Which result is verified, and by which signers."""

    folder: Path = argument(metavar="RESULT")
    name_all: bool = option("--all", help="Print every difference, not only the first.")
    signers: Path | None = option(
        "--signers",
        metavar="FILE",
        help="Check the signature by this list of signers, which has the format of allowed_signers "
        "in ssh-keygen(1).",
    )


@click_command("verify", VerifyOptions)
def command(options: VerifyOptions) -> int:
    """Recompute every number of a result from its raw files, and compare.

    This writes nothing, and starts no process but ssh-keygen with --signers. It needs the plugins
    of the suite's load tools, but no program and no app.

    Exit codes: 0 proved: all numbers agree; 1 contradicted: a number, a file or the signature
    differs; 2 not proved: a number cannot be read or recomputed, or a file is not signed; 3
    ssh-keygen is missing.
    """
    from benchforge.cli.console.say import show
    from benchforge.model.files.folder import SIGNATURE
    from benchforge.parts.registry import Registry
    from benchforge.results.verify.recompute.compare import verify
    from benchforge.results.verify.signature import check_signature
    from benchforge.text import safe
    from benchforge.text.readable import counted, exact

    folder, signers = options.folder, options.signers
    verified = verify(folder, Registry())
    signed = "" if signers is None else check_signature(folder, signers, verified)
    if signers is None and (folder / SIGNATURE).exists():
        signed = "signed, and not checked: name the signers with --signers FILE"
    code = CONTRADICTED if verified.differing else NOT_PROVED if verified.not_proved else 0
    answer = {CONTRADICTED: "contradicted", NOT_PROVED: "not proved"}.get(code, "proved")
    values, trials = counted(verified.proved, "value"), counted(verified.trials, "trial")
    others = (
        f"{exact(verified.not_proved)} not proved, {exact(len(verified.differing))} contradicted"
    )
    show(f"{folder}: {answer}: {values} of {trials} recomputed, {others}")
    lines = {
        "contradicted": [*map(str, verified.differing)],
        "not proved": [*map(str, verified.cannot)],
    }
    if verified.older:
        older = f"{counted(verified.older, 'value')} that benchforge {verified.other} did not write"
        lines["not proved"].append(older)
    for title, differences in lines.items():
        most = len(differences) if options.name_all else 1
        for difference in differences[:most]:
            show(safe.word(f"{title}: {difference}"))
        if differences[most:]:
            show(f"{exact(len(differences) - most)} more {title}: --all names them")
    if signed:
        show(safe.word(signed))
    if verified.other and verified.differing:
        show(f"benchforge {verified.other} wrote it: this version may compute differently")
    if verified.as_written:
        show(f"not confirmed by other files: {', '.join(verified.as_written)}")
    return code
