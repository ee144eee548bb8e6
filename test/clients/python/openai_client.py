"""Every check of openai-python."""

import chat as chat
import completions as completions
import embeddings as embeddings
import failures as failures
import models as models
import responses as responses
import speech as speech
import transcriptions as transcriptions
from checks import run_all

run_all()
