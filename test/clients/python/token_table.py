"""Takes the cl100k table out of a wheel: token_table.py FOLDER-WITH-THE-WHEEL TARGET-FOLDER."""

import hashlib
import sys
import zipfile
from pathlib import Path

# The name under which tiktoken looks for the table in its cache folder, and what must be in it.
NAME = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"


def main(wheels: Path, target: Path) -> None:
    (wheel,) = wheels.glob("litellm-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        table = archive.read(f"litellm/litellm_core_utils/tokenizers/{NAME}")
    if hashlib.sha256(table).hexdigest() != SHA256:
        raise SystemExit(f"the token table in {wheel.name} is not cl100k")
    target.mkdir(parents=True, exist_ok=True)
    (target / NAME).write_bytes(table)


main(Path(sys.argv[1]), Path(sys.argv[2]))
