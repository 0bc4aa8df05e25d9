"""What does the page claim of generated tests? The one place where worlds meet the words."""

from collections.abc import Mapping

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.guided_tests.plan import Guided
from touchstone.core.evaluate.guided_tests.results import Reconstruction
from touchstone.core.evaluate.guided_tests.suite import SuiteDifference
from touchstone.core.evaluate.guided_tests.verdict import decoder_helps, guided_verdict, second_model


def claims_of(guided: Guided) -> Mapping[str, Claim]:
    """The claims by kind."""
    return {claim.kind: claim for claim in guided_verdict(guided).claims}


def claim_of_decoder(reconstruction: Reconstruction) -> Mapping[str, Claim]:
    """The claim about a decoder, by its kind; the rest of the page is about tests."""
    made = decoder_helps(reconstruction)
    return {made.kind: made}


def claim_of_two_models(difference: SuiteDifference) -> Mapping[str, Claim]:
    """The claim about two models on one suite, by its kind."""
    made = second_model(difference)
    return {made.kind: made}
