"""What do the draws come to?"""

import pandas as pd

from touchstone.core.evaluate.wording import Verdict, percent


def largest_class_verdict(rows: pd.DataFrame) -> Verdict:
    share = float((rows["largest"] / rows["n"]).mean())
    return Verdict(f"The largest class holds {percent(share)} of the samples.", f"{len(rows)} draws.", "", ())
