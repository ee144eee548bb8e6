"""The list of models, and the embedded ones, with openai-python."""

import io
import wave

from openai import OpenAI

from checks import (
    API_KEY,
    BASE_URL,
    CHAT,
    ENGINE_KEY,
    ENGINE_URL,
    MEDIA_EMBEDDING,
    NARROW_KEY,
    SPEECH,
    TEXT_EMBEDDING,
    check,
    same,
)

client = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)


@check("models: the list contains exactly the models that the key may call")
def listed() -> None:
    models = {model.id: model for model in client.models.list()}
    wanted = {CHAT, TEXT_EMBEDDING, MEDIA_EMBEDDING, SPEECH, "vendor/with-slash"}
    same(wanted - models.keys(), set())
    same({"unpriced", "unrouted"} & models.keys(), set())
    model = models[CHAT]
    same((model.object, type(model.created), type(model.owned_by)), ("model", int, str))
    narrow = OpenAI(base_url=BASE_URL, api_key=NARROW_KEY)
    same([model.id for model in narrow.models.list()], [TEXT_EMBEDDING])


@check("models: a model is found by its id, also if it contains a slash")
def retrieved() -> None:
    for name in (CHAT, "vendor/with-slash"):
        same(client.models.retrieve(name).id, name)


@check("embedded models: chat, embeddings and speech")
def embedded() -> None:
    local = OpenAI(base_url=ENGINE_URL, api_key=ENGINE_KEY, timeout=300, max_retries=20)
    question = "What is the capital of France? Answer in one word."
    reply = local.chat.completions.create(
        model=CHAT,
        messages=[{"role": "user", "content": question}],
        max_tokens=40,
        temperature=0,
    )
    assert "Paris" in (reply.choices[0].message.content or ""), reply
    texts = ["A cat sleeps.", "A kitten naps.", "Interest rates rose."]
    data = local.embeddings.create(model=TEXT_EMBEDDING, input=texts, dimensions=768).data
    cat, kitten, rates = (item.embedding for item in data)
    same(len(cat), 768)
    assert dot(cat, kitten) > dot(cat, rates), "the cat is nearer to the rates"
    sound = local.audio.speech.create(model=SPEECH, voice="Kore", input="Hello there.")
    with wave.open(io.BytesIO(sound.content)) as file:
        same(file.getframerate(), 24_000)
        seconds = len(file.readframes(file.getnframes())) / 48_000
    assert 0.3 < seconds < 10, seconds


def dot(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
