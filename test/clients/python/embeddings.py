"""Embeddings with openai-python, which asks for base64 unless told otherwise."""

from base64 import b64decode, b64encode
from itertools import product
from struct import unpack
from typing import Any

from openai import OpenAI

from checks import (
    API_KEY,
    BASE_URL,
    MEDIA,
    MEDIA_EMBEDDING,
    TEXT_EMBEDDING,
    asking,
    check,
    same,
    seen,
)

client = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)


def base64_of(name: str) -> str:
    return b64encode((MEDIA / name).read_bytes()).decode()


def vector(index: int, size: int) -> list[float]:
    """What the upstream gives; every value is exact in 32 bits."""
    return [index + 1.0, *(1 / 2 ** (at % 16) for at in range(1, size))]


@check("embeddings: base64 (the default) and floats give the same vector")
def base64_and_float() -> None:
    # Not every upstream speaks base64: then the gateway does.
    for answer, encoding in product(("plain", "floats-only"), (None, "float", "base64")):
        options: Any = {} if encoding is None else {"encoding_format": encoding}
        text = asking(answer, "py-embed")
        reply = client.embeddings.create(model=TEXT_EMBEDDING, input=text, **options)
        same((reply.object, reply.data[0].object), ("list", "embedding"))
        same((reply.usage.prompt_tokens, reply.usage.total_tokens), (9, 9))
        got: Any = reply.data[0].embedding
        # Asked for by name, it is given as it came.
        same(type(got), str if encoding == "base64" else list)
        values = list(unpack("<3072f", b64decode(got))) if encoding == "base64" else got
        same(values, vector(0, 3072))


@check("embeddings: many inputs keep their order")
def many() -> None:
    inputs = [asking("plain", "py-embed-many"), *(f"text {at}" for at in range(99))]
    reply = client.embeddings.create(model=TEXT_EMBEDDING, input=inputs)
    same([item.index for item in reply.data], list(range(100)))
    same([item.embedding[0] for item in reply.data], [at + 1.0 for at in range(100)])
    same(seen("py-embed-many")[0]["input"], inputs)


@check("embeddings: dimensions sets the size")
def dimensions() -> None:
    for size in (768, 1536, 3072):
        text = asking("plain", f"py-embed-{size}")
        reply = client.embeddings.create(model=TEXT_EMBEDDING, input=text, dimensions=size)
        same(reply.data[0].embedding, vector(0, size))


@check("embeddings: token ids are accepted, in one array or several")
def token_ids() -> None:
    one: Any = [9906, 1917]
    reply = client.embeddings.create(model=TEXT_EMBEDDING, input=one)
    same((len(reply.data), seen()[-1]["input"]), (1, [one]))
    many_ids: Any = [[9906], [1917, 0]]
    reply = client.embeddings.create(model=TEXT_EMBEDDING, input=many_ids)
    same([item.embedding[0] for item in reply.data], [1.0, 2.0])
    same(seen()[-1]["input"], many_ids)


@check("embeddings: each image gets a vector and is counted")
def images() -> None:
    pictures = [
        f"data:image/{kind};base64,{base64_of(name)}"
        for name, kind in (("tiny.png", "png"), ("tiny.jpg", "jpeg"), ("tiny.webp", "webp"))
    ]
    reply = client.embeddings.create(model=MEDIA_EMBEDDING, input=pictures)
    same([item.embedding[0] for item in reply.data], [1.0, 2.0, 3.0])
    same(reply.usage.model_extra, {"images": 3})
    same(seen()[-1]["input"], pictures)


@check("embeddings: a video gets one vector and its seconds are counted")
def video() -> None:
    clip: Any = {"video": {"bytesBase64Encoded": base64_of("h264-3s.mp4")}}
    # The types of the client know texts only: a video goes as an extra field over them.
    reply = client.embeddings.create(model=MEDIA_EMBEDDING, input="", extra_body={"input": clip})
    same(len(reply.data), 1)
    same(reply.usage.model_extra, {"video_seconds": 3})
    listed: Any = [clip]
    reply = client.embeddings.create(model=MEDIA_EMBEDDING, input=listed)
    same(reply.usage.model_extra, {"video_seconds": 3})
