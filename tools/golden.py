"""Write tests/data/golden.json: hashes of links and files, options, keys and public names, as they are now.

    python tools/golden.py

tests/laws/test_golden.py compares with it. Write it again only after a change that was meant to change one of these.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.golden_runs import GOLDEN, collected


def main() -> None:
    """Collect and write."""
    with TemporaryDirectory() as folder:
        text = json.dumps(collected(Path(folder)), indent=1, sort_keys=True, ensure_ascii=False)
    GOLDEN.write_text(f"{text}\n", encoding="utf-8")
    print(f"wrote {GOLDEN}")


if __name__ == "__main__":
    main()
