"""Where people already are: callbacks for Hugging Face and Lightning that say how sure an accuracy is, and MLflow.

None of these packages is needed to import this one: each is asked for by the function that needs it.
"""

from touchstone.core.integrations.hugging_face import hugging_face_callback
from touchstone.core.integrations.lightning_ai import lightning_callback
from touchstone.core.integrations.ml_flow import log_to_mlflow
