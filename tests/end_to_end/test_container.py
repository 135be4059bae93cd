"""The Containerfile is built on a base by debootstrap, which has the name of its FROM, and run."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from bare_debian import CERTIFICATES, made
from front_door import captured
from installed import ROOT

from benchforge.model.values.distribution import own_version

pytestmark = [pytest.mark.network, pytest.mark.exhaustive]

(BASE,) = {*re.findall(r"^FROM (\S+)", (ROOT / "Containerfile").read_text(), re.MULTILINE)}
DUEL = ("duel", "--without-lock", "--time", "30s", "--connections", "4")
SERVER = "python3 -m http.server --bind 127.0.0.1 {port}"


@pytest.mark.skipif(
    shutil.which("buildah") is None or os.geteuid() != 0, reason="needs buildah, root"
)
@pytest.mark.timeout(1800)
def test_the_image_is_built_and_measures(tmp_path: Path) -> None:
    suite = BASE.rpartition(":")[2].removesuffix("-slim")
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps({"default": [{"type": "insecureAcceptAnything"}]}))
    stores = ("--root", tmp_path / "store", "--runroot", tmp_path / "run")
    isolated = {**os.environ, "BUILDAH_ISOLATION": "chroot"}

    def buildah(command: str, *words: str | Path) -> str:
        signed = ("--signature-policy", policy) if command in {"build", "commit", "from"} else ()
        program = ("buildah", "--storage-driver", "vfs", *stores, command, *signed)
        ended = captured([*program, *words], env=isolated, timeout=1500)
        assert ended.returncode == 0, ended.stderr[-2000:]
        return ended.stdout.strip()

    root = made(suite)
    shutil.copyfile(Path("/", CERTIFICATES), root / CERTIFICATES)
    archive, source = tmp_path / "base.tar", tmp_path / "source"
    subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
    base = buildah("from", "scratch")
    buildah("add", "-q", base, archive, "/")
    for name in ("SSL_CERT_FILE", "PIP_CERT"):
        buildah("config", "--env", f"{name}=/{CERTIFICATES}", base)
    buildah("commit", "-q", base, BASE)
    source.mkdir()
    words = ["sh", "-c", 'git archive HEAD | tar -x -C "$1"', "sh", str(source)]
    subprocess.run(words, cwd=ROOT, check=True)
    buildah("build", "-q", "--pull-never", "-t", "benchforge", source)
    image = buildah("from", "--pull-never", "localhost/benchforge")
    version = buildah("run", image, "--", "benchforge", "--version")
    assert version == f"benchforge {own_version()}"
    servers = (SERVER, f"{SERVER} --directory /work")
    command = ["sh", "-c", 'benchforge "$@" || true', "sh", *DUEL, *servers]
    buildah("run", image, "--", *command)
    summary = json.loads(buildah("run", image, "--", "sh", "-c", "cat results/*/summary.json"))
    assert summary["benchforge"] == own_version()
    assert all(case["trials"] for case in summary["cases"])
