from __future__ import annotations

from tests.cli.conftest import Cli

SIZES = {
    "cifar100": 100,
    "cub200": 200,
    "imagenet-r": 200,
    "imagenet-a": 200,
    "ham10000": 7,
    "eyepacs": 5,
    "quickdraw": 100,
    "quickdraw-pretrain": 245,
}


def test_every_dataset_is_listed_with_its_size(cli: Cli) -> None:
    listed = {row["name"]: row["classes"] for row in cli("datasets", "--json").json["datasets"]}
    assert listed.items() >= SIZES.items()


def test_people_see_the_first_names(cli: Cli) -> None:
    answer = cli("datasets")
    assert answer.code == 0
    assert "apple, aquarium fish, baby" in answer.out
    assert answer.err == ""
