"""Every check of openai-python."""

import chat as chat
import embeddings as embeddings
import failures as failures
import models as models
import speech as speech
from checks import run_all

run_all()
