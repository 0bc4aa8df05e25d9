"""What does a plan hold, and what does a claim say? The references of docs/plans.md and docs/claims.md, by name."""

import argparse

from touchstone.core.command import Command
from touchstone.core.evaluate import claim_error_rates
from touchstone.core.evaluate.claims import KINDS, kind_of_code
from touchstone.core.report.descriptions import plan_reference, reference
from touchstone.core.workspace.plans import PLANS


def _add_kind(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", nargs="?", choices=list(PLANS), metavar="KIND", help=f"one of {', '.join(PLANS)}")


def _plans(chosen: argparse.Namespace) -> int:
    print(plan_reference(chosen.kind) if chosen.kind else reference(), end="")
    return 0


def _add_code(parser: argparse.ArgumentParser) -> None:
    codes = [each.code for each in KINDS.values()]
    parser.add_argument("code", nargs="?", choices=codes, metavar="CODE", help=f"one of {', '.join(codes)}")


def _claims(chosen: argparse.Namespace) -> int:
    kind = kind_of_code(chosen.code) if chosen.code else None
    print(claim_error_rates.reference() if kind is None else claim_error_rates.claim_reference(kind), end="")
    return 0


COMMANDS = {"plans": Command(_add_kind, _plans), "claims": Command(_add_code, _claims)}
