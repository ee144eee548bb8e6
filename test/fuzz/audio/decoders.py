"""Makes audio with encoders, and plays audio with decoders, that are not ours.

Reads one request per line of JSON and answers each with a line:
{"make": FOLDER, "seconds": N}  writes files of all formats, each lasting so long
{"play": [[PATH, NAMED, MOST], ...]}  the seconds that each decoder plays, until it has played MOST.
The content of the file at PATH decides, and at NAMED, where that is not empty, the extension may, too.
"""

import io
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import av
import imageio_ffmpeg
import numpy
import soundfile

av.logging.set_level(av.logging.PANIC)
FFMPEG = imageio_ffmpeg.get_ffmpeg_exe()

# Name of the file, and what ffmpeg is told to write it.
OUTPUTS = {
    "s16.wav": "-c:a pcm_s16le", "s24.wav": "-c:a pcm_s24le", "u8.wav": "-c:a pcm_u8",
    "s32-stereo.wav": "-c:a pcm_s32le -ac 2", "f32.wav": "-c:a pcm_f32le", "f64.wav": "-c:a pcm_f64le",
    "bext.wav": "-write_bext 1 -metadata title=Speech", "title.wav": "-metadata title=Speech",
    "stream.wav": "-f wav pipe:1",
    "cbr.mp3": "-b:a 64k", "vbr.mp3": "-q:a 5 -ar 44100 -ac 2", "8k.mp3": "-ar 8000 -b:a 8k",
    "320k.mp3": "-ar 48000 -ac 2 -b:a 320k", "tags.mp3": "-metadata title=Speech -write_id3v1 1",
    "bare.mp3": "-write_xing 0 -id3v2_version 0", "apic.mp3": "-metadata title=Speech -id3v2_version 3",
    "layer2.mp3": "-c:a mp2 -f mp2",
    "plain.flac": "", "24.flac": "-sample_fmt s32 -bits_per_raw_sample 24 -ac 2", "fast.flac": "-compression_level 0",
    "opus.ogg": "-c:a libopus -b:a 24k", "opus60.ogg": "-c:a libopus -frame_duration 60 -b:a 12k -ac 2",
    "voip.ogg": "-c:a libopus -application voip -dtx 1", "vorbis.ogg": "-c:a libvorbis",
    "vorbis-stereo.ogg": "-c:a libvorbis -ac 2 -ar 44100 -metadata title=Speech",
    "plain.m4a": "-c:a aac -b:a 48k", "faststart.m4a": "-c:a aac -movflags faststart -metadata title=Speech",
    "fragments.mp4": "-c:a aac -movflags frag_keyframe+empty_moov -frag_duration 500000",
    "dash.mp4": "-c:a aac -movflags dash -frag_duration 500000", "phone.3gp": "-c:a aac -ar 16000 -ac 1",
    "stereo.m4a": "-c:a aac -ac 2 -ar 44100 -b:a 128k",
    "opus.webm": "-c:a libopus -b:a 24k", "vorbis.webm": "-c:a libvorbis",
    "live.webm": "-c:a libopus -b:a 24k -f webm -live 1 -cluster_time_limit 500",
    "inner-aac.aac": "-c:a aac -b:a 16k -ar 16000", "inner-ac3.ac3": "-c:a ac3 -b:a 32k -ar 32000",
    "inner-eac3.eac3": "-c:a eac3 -b:a 32k -ar 32000", "inner-dts.dts": "-c:a dca -strict -2 -ar 48000 -ac 2",
    "inner-ts.ts": "-c:a mp2 -b:a 32k -f mpegts", "inner-m2ts.m2ts": "-c:a mp2 -b:a 32k -f mpegts -mpegts_m2ts_mode 1",
    "inner-aac.ts": "-c:a aac -b:a 16k -f mpegts", "inner-ps.vob": "-c:a mp2 -b:a 32k -f vob",
    "inner-mxf.mxf": "-c:a pcm_s16le -ar 48000 -f mxf_opatom", "inner-au.au": "-c:a pcm_mulaw",
    "inner-aiff.aiff": "", "inner-caf.caf": "", "inner-amr.amr": "-c:a libopencore_amrnb -ar 8000 -ac 1 -b:a 4.75k",
    "inner-latm.latm": "-c:a aac -b:a 16k -f latm", "inner-spdif.spdif": "-c:a ac3 -b:a 192k -ar 48000 -f spdif",
    "inner-truehd.thd": "-c:a truehd -strict -2 -ar 48000 -ac 2", "inner-mka.mka": "-c:a libmp3lame -b:a 8k -ar 8000",
    "inner-mov.mov": "-c:a adpcm_ima_qt", "inner-avi.avi": "-c:a libmp3lame -b:a 8k -ar 8000",
    "inner-asf.asf": "-c:a wmav2 -b:a 16k", "inner-flv.flv": "-c:a libmp3lame -ar 11025 -b:a 8k",
    "inner-nut.nut": "-c:a libopus -b:a 6k", "inner-w64.w64": "", "inner-tta.tta": "", "inner-wv.wv": "",
    "inner-mp3.mp3": "-ar 8000 -b:a 8k -write_xing 0 -id3v2_version 0", "inner-ogg.ogg": "-c:a libopus -b:a 6k",
    "inner-flac.flac": "-ar 8000", "inner-m4a.m4a": "-c:a aac -ar 8000 -b:a 8k", "inner-webm.webm": "-c:a libopus -b:a 6k",
    "inner-wav.wav": "-c:a pcm_mulaw -ar 8000", "inner-gsm.wav": "-c:a adpcm_ima_wav -ar 8000",
    "inner-s337.ts": "-c:a s302m -strict -2 -ar 48000 -ac 2 -f mpegts",
}


def make(folder, seconds):
    os.makedirs(folder, exist_ok=True)
    made = []

    def write(item):
        name, options = item
        path = os.path.join(folder, name)
        length = seconds * 20 if name.startswith("inner-") else seconds
        source = f"anoisesrc=d={length}:c=pink:r=24000:a=0.3:s=7,tremolo=f=3:d=0.9"
        words = [FFMPEG, "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", source, "-ac", "1", *options.split()]
        if "pipe:1" in words:
            with open(path, "wb") as out:
                done = subprocess.run(words, stdout=out, stderr=subprocess.PIPE)
        else:
            done = subprocess.run([*words, path], stderr=subprocess.PIPE)
        return None if done.returncode != 0 or os.path.getsize(path) == 0 else name

    with ThreadPoolExecutor(2) as pool:
        made = [name for name in pool.map(write, OUTPUTS.items()) if name]
    noise = numpy.random.default_rng(7).normal(0, 0.1, 16000 * seconds).astype("float32")
    for name, options in {
        "sndfile.wav": {"subtype": "PCM_16"}, "sndfile-ex.wav": {"format": "WAVEX", "subtype": "PCM_24"},
        "sndfile-float.wav": {"subtype": "FLOAT"}, "sndfile.flac": {"subtype": "PCM_16"},
        "sndfile.ogg": {"subtype": "VORBIS"}, "sndfile-opus.ogg": {"subtype": "OPUS"},
        "sndfile.mp3": {"subtype": "MPEG_LAYER_III"},
    }.items():
        soundfile.write(os.path.join(folder, name), noise, 16000, **options)
        made.append(name)
    return {"made": made, "failed": sorted(set(OUTPUTS) - set(made)), "versions": versions()}


def versions():
    return {"pyav": av.__version__, "ffmpeg": imageio_ffmpeg.get_ffmpeg_version(), "libsndfile": soundfile.__libsndfile_version__}


def by_pyav(source, most):
    """The longest audio stream, decoded to its end; what cannot be decoded is passed over, as ffmpeg does."""
    played = {}
    with av.open(source, metadata_errors="ignore") as container:
        streams = container.streams.audio
        if not streams:
            return 0
        for packet in container.demux(*streams):
            try:
                for frame in packet.decode():
                    index = packet.stream.index
                    played[index] = played.get(index, 0) + frame.samples / max(1, frame.sample_rate)
            except (av.error.FFmpegError, ValueError):
                continue
            if played and max(played.values()) > most:
                break
    return max(played.values(), default=0)


def by_sndfile(source, most):
    frames = 0
    with soundfile.SoundFile(source) as file:
        while frames / file.samplerate <= most:
            block = file.read(65536, dtype="float32")
            if len(block) == 0:
                break
            frames += len(block)
        return frames / file.samplerate


def by_cli(path, most):
    """The program itself, which knows more formats than the library of PyAV."""
    words = [FFMPEG, "-v", "quiet", "-nostdin", "-i", path, "-vn", "-t", str(most + 1), "-ac", "1", "-ar", "8000", "-f", "s16le", "pipe:1"]
    try:
        out = subprocess.run(words, stdout=subprocess.PIPE, timeout=60).stdout
    except subprocess.TimeoutExpired:
        return 0
    return len(out) / 16000


def attempt(decode, source, most):
    try:
        return round(decode(source, most), 3)
    except Exception:  # What a decoder refuses is not played.
        return 0


def play_one(file):
    path, named, most = file
    with open(path, "rb") as opened:
        content = opened.read()
    found = {
        "ffmpeg": attempt(by_cli, path, most),
        "libav": attempt(by_pyav, io.BytesIO(content), most),
        "libsndfile": attempt(by_sndfile, io.BytesIO(content), most),
    }
    if named:
        found["ffmpeg by name"] = attempt(by_cli, named, most)
        found["libav by name"] = attempt(by_pyav, named, most)
    return found


POOL = ThreadPoolExecutor(4)


def play(files):
    return {"played": list(POOL.map(play_one, files))}


for line in sys.stdin:
    request = json.loads(line)
    answer = make(request["make"], request["seconds"]) if "make" in request else play(request["play"])
    print(json.dumps(answer), flush=True)
