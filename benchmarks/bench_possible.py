"""Is any number of a result impossible? Results of every question, from lopsided data that are drawn at random.

Prints a row for each question, and what is impossible of the first result that has such a number. `--results N` of each
(1,700).
"""

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import partial
from multiprocessing import get_context

from tests.worlds.possible import QUESTIONS, impossible


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=1700)
    asked = parser.parse_args()
    print(f"{date.today()}, {asked.results} results of each question\n")
    print("| question | results with an impossible number | the first |")
    print("|---|---|---|")
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for question in QUESTIONS:
            wrong = list(pool.map(partial(_impossible, question), range(asked.results), chunksize=20))
            first = next((said[0] for said in wrong if said), "")
            print(f"| {question} | {sum(map(bool, wrong))} | {first} |", flush=True)


def _impossible(question: str, seed: int) -> list[str]:
    warnings.simplefilter("ignore")
    return impossible(question, seed)


if __name__ == "__main__":
    main()
