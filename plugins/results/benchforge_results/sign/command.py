"""`benchforge sign`: a signature on the files of a result."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import PATH


@click.command("sign")
@click.argument("folder", metavar="RESULT", type=PATH)
@click.option(
    "--key",
    metavar="FILE",
    type=PATH,
    help="Private ssh key, or public key if an agent has the private key.  [default: the first of "
    "~/.ssh/id_ed25519, id_ecdsa and id_rsa]",
)
@runs("benchforge_results.sign.signed")
def command() -> None:
    """Sign a result with your ssh key.

    ssh-keygen signs the manifest, which has the SHA-256 of each file, and writes signed.json and
    signed.json.sig into the result. To check the signature: benchforge verify --signers FILE
    RESULT.

    Exit codes: 0 the result is signed; 1 its files are not those that the run left; 2 the result or
    the key cannot be used; 3 ssh-keygen is missing; 5 the signature cannot be written.
    """
