"""Named, seeded interests to measure on; each is stored as arrays, so that reading it costs a child next to nothing."""

import csv
import gzip
import os
from dataclasses import dataclass
from pathlib import Path

SEED = 1


@dataclass(frozen=True)
class Instance:
    """A workload of `tl.generate` (fixed sizes), or the subscriptions of a data set."""

    name: str
    nodes: int = 0
    topics: int = 0
    subscriptions: int = 0
    popularity: str = "uniform"
    alpha: float = 2.0
    dataset: Path | None = None

    @property
    def title(self) -> str:
        """How tables name it."""
        if self.dataset:
            return f"`{self.name}` ({self.nodes:,} × {self.topics:,})"
        popularity = f"Zipf {self.alpha}" if self.popularity == "zipf" else self.popularity
        return f"{self.nodes:,} × {self.topics:,} × {self.subscriptions} {popularity}"

    @property
    def present(self) -> bool:
        """Whether it can be measured here: data sets may be missing."""
        return self.dataset is None or self.dataset.exists()

    def store(self, path: Path) -> None:
        """Write its arrays (npz: indptr, topics, n_topics)."""
        import numpy as np

        import topicloom as tl

        if self.dataset:
            with gzip.open(self.dataset, "rt", encoding="utf-8", newline="") as lines:
                rows = list(csv.reader(lines))[1:]
            interest = tl.Interest.from_pairs([node for node, _ in rows], [topic for _, topic in rows])
        else:
            interest = tl.generate(
                self.nodes, self.topics, self.subscriptions, self.popularity, alpha=self.alpha, seed=SEED
            )
        np.savez(path, indptr=interest.indptr, topics=interest.topics, n_topics=interest.n_topics)


def load(path: Path):
    """The stored interest, without labels and without a check of its arrays (which would count as memory)."""
    import numpy as np

    from topicloom.model import Interest
    from topicloom.model.arrays import frozen

    with np.load(path) as arrays:
        return Interest(frozen(arrays["indptr"]), frozen(arrays["topics"]), int(arrays["n_topics"]))


DATASETS = Path(os.environ.get("TOPICLOOM_DATASETS") or Path(__file__).parents[2] / "shared" / "datasets")

TWITTER = Instance("twitter_follow", 70_095, 81_305, dataset=DATASETS / "twitter_follow.csv.gz")
UNIFORM_10K = Instance("10k-uniform", 10_000, 100, 10)
EXPONENTIAL_10K = Instance("10k-exponential", 10_000, 100, 10, "exponential")
UNIFORM_20K = Instance("20k-uniform", 20_000, 500, 50)
UNIFORM_2K = Instance("2k-uniform", 2_000, 200, 30)
ZIPF_2K = Instance("2k-zipf", 2_000, 200, 30, "zipf")
EXPONENTIAL_2K = Instance("2k-exponential", 2_000, 200, 30, "exponential")
UNIFORM_100K = Instance("100k-uniform", 100_000, 1_000, 20)
ZIPF_100K = Instance("100k-zipf", 100_000, 1_000, 20, "zipf", 0.8)
ZIPF_1K = Instance("1k-zipf", 1_000, 100, 20, "zipf")
EXPONENTIAL_1K = Instance("1k-exponential", 1_000, 100, 20, "exponential")
UNIFORM_1K = Instance("1k-uniform", 1_000, 100, 20)
GROWTH = tuple(
    UNIFORM_10K if nodes == 10_000 else Instance(f"growth-{nodes}", nodes, 100, 10)
    for nodes in (1_000, 2_000, 5_000, 10_000, 20_000)
)
TINY = Instance("tiny", 200, 20, 5)

INSTANCES = {
    instance.name: instance
    for instance in (
        UNIFORM_10K,
        EXPONENTIAL_10K,
        UNIFORM_20K,
        UNIFORM_2K,
        ZIPF_2K,
        EXPONENTIAL_2K,
        TWITTER,
        UNIFORM_100K,
        ZIPF_100K,
        ZIPF_1K,
        EXPONENTIAL_1K,
        UNIFORM_1K,
        *GROWTH,
        TINY,
    )
}
