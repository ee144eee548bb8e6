"""Speech with openai-python, its WAV files opened by Python's own `wave` module."""

import io
import wave
from pathlib import Path
from tempfile import TemporaryDirectory

from openai import OpenAI

from checks import API_KEY, BASE_URL, SPEECH, SPEECH_FRAMES, asking, check, same, seen

client = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)

# The contract's voices are none of the vendor's own, so the client takes them as plain text.
VOICE = "Kore"
UNKNOWN_LENGTH = 0xFFFFFFFF


def open_wave(data: bytes) -> tuple[int, bytes]:
    """How many frames the header promises, and the frames that are there."""
    with wave.open(io.BytesIO(data)) as file:
        same((file.getframerate(), file.getnchannels(), file.getsampwidth()), (24_000, 1, 2))
        same(file.getcomptype(), "NONE")
        return file.getnframes(), file.readframes(file.getnframes())


def pcm() -> bytes:
    reply = client.audio.speech.create(
        model=SPEECH, voice=VOICE, input=asking("unknown-length", "py-pcm"), response_format="pcm"
    )
    same(reply.response.headers["content-type"], "audio/pcm")
    return reply.content


@check("speech: a WAV of known length opens with Python's wave module")
def known_length() -> None:
    samples = pcm()
    reply = client.audio.speech.create(
        model=SPEECH, voice=VOICE, input=asking("known-length", "py-wav")
    )
    same(reply.response.headers["content-type"], "audio/wav")
    same(open_wave(reply.content), (SPEECH_FRAMES, samples))
    sent = seen("py-wav")[0]
    same((sent["voice"], sent["response_format"]), (VOICE, "pcm"))


@check("speech: a WAV of unknown length also opens, and its frames are read to the end")
def unknown_length() -> None:
    samples = pcm()
    reply = client.audio.speech.create(
        model=SPEECH,
        voice=VOICE,
        input=asking("unknown-length", "py-wav-stream"),
        response_format="wav",
    )
    promised, frames = open_wave(reply.content)
    same(promised, UNKNOWN_LENGTH // 2)
    same(frames, samples)


@check("speech: pcm contains only the samples")
def bare() -> None:
    samples = pcm()
    same(len(samples), SPEECH_FRAMES * 2)
    assert any(samples), "it is silent"


@check("speech: the bytes can be streamed as they come, and written to a file")
def streaming() -> None:
    samples = pcm()
    with client.audio.speech.with_streaming_response.create(
        model=SPEECH,
        voice=VOICE,
        input=asking("unknown-length", "py-stream"),
        response_format="pcm",
    ) as reply:
        parts = list(reply.iter_bytes(4_096))
    assert len(parts) > 1, "it came in one part"
    same(b"".join(parts), samples)
    with (
        client.audio.speech.with_streaming_response.create(
            model=SPEECH, voice=VOICE, input=asking("known-length", "py-stream-wav")
        ) as reply,
        TemporaryDirectory() as folder,
    ):
        path = Path(folder, "speech.wav")
        reply.stream_to_file(path)
        same(open_wave(path.read_bytes()), (SPEECH_FRAMES, samples))
