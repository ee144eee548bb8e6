"""Transcriptions with openai-python."""

import io
import wave
from typing import Any

import openai
from openai import OpenAI

from checks import API_KEY, BASE_URL, TRANSCRIBED, TRANSCRIPTION, check, same

client = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)


def second_of_silence() -> Any:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(16_000)
        writer.writeframes(bytes(32_000))
    return "silence.wav", file.getvalue(), "audio/wav"


@check("transcriptions: json and text return the words")
def transcribed() -> None:
    reply = client.audio.transcriptions.create(
        model=TRANSCRIPTION, file=second_of_silence(), language="en"
    )
    same(reply.text, TRANSCRIBED)
    text: Any = client.audio.transcriptions.create(
        model=TRANSCRIPTION, file=second_of_silence(), response_format="text"
    )
    same(str(text).strip(), TRANSCRIBED)


@check("transcriptions: verbose_json, srt and vtt have times")
def timed() -> None:
    verbose = client.audio.transcriptions.create(
        model=TRANSCRIPTION, file=second_of_silence(), response_format="verbose_json"
    )
    segments: Any = verbose.segments
    same([(part.start, part.end) for part in segments], [(0.0, 1.0)])
    same((verbose.text, float(verbose.duration)), (TRANSCRIBED, 1.0))
    subtitles: Any = client.audio.transcriptions.create(
        model=TRANSCRIPTION, file=second_of_silence(), response_format="srt"
    )
    assert "00:00:00,000 --> 00:00:01,000" in str(subtitles), subtitles
    captions: Any = client.audio.transcriptions.create(
        model=TRANSCRIPTION, file=second_of_silence(), response_format="vtt"
    )
    assert str(captions).startswith("WEBVTT"), captions
    assert "00:00:00.000 --> 00:00:01.000" in str(captions), captions


@check("transcriptions: a stream ends with the whole text")
def transcribed_stream() -> None:
    events = list(
        client.audio.transcriptions.create(
            model=TRANSCRIPTION, file=second_of_silence(), stream=True
        )
    )
    same(events[-1].type, "transcript.text.done")
    last: Any = events[-1]
    same(last.text, TRANSCRIBED)


@check("transcriptions: 400 names the file when it is no audio")
def no_audio() -> None:
    try:
        client.audio.transcriptions.create(
            model=TRANSCRIPTION, file=("words.wav", b"these are words", "audio/wav")
        )
    except openai.BadRequestError as error:
        same(error.param, "file")
    else:
        raise AssertionError("it was accepted")
