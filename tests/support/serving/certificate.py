"""A certificate that signs itself."""

from pathlib import Path

from front_door import captured, program_words

HERE = "IP:127.0.0.1,DNS:localhost"


def certificate(folder: Path, name: str, names: str = HERE, *, expired: bool = False) -> Path:
    """Make a certificate that signs itself, beside its key, and return it."""
    mine, key = folder / f"{name}.pem", folder / f"{name}.key"
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
    about = ("-subj", "/CN=localhost", "-addext", f"subjectAltName={names}")
    _openssl("req", "-x509", "-nodes", *curve, *about, "-keyout", key, "-out", mine)
    if expired:
        _openssl("x509", "-in", mine, "-signkey", key, "-days", "-1", "-out", mine)
    return mine


def pair(folder: Path) -> tuple[Path, Path]:
    """Make a certificate; return it, and a file with it and its key."""
    mine, both = certificate(folder, "own"), folder / "both.pem"
    both.write_text(mine.read_text() + mine.with_suffix(".key").read_text())
    return mine, both


def _openssl(*words: str | Path) -> None:
    captured([*program_words("openssl"), *words], check=True, timeout=200)
