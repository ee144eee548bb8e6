package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"strconv"

	"github.com/openai/openai-go/v3"
)

var speechChecks = []check{
	{"speech: a WAV of known length has exact sizes", speechKnownLength},
	{"speech: a WAV of unknown length is marked as such, and its samples are read to the end", speechUnknownLength},
	{"speech: pcm contains only the samples", speechPCM},
}

func speak(answer, tag string, format openai.AudioSpeechNewParamsResponseFormat) (kind string, sound []byte) {
	client := newClient()
	reply := must(client.Audio.Speech.New(context.Background(), openai.AudioSpeechNewParams{
		Model:          speechModel,
		Voice:          openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("Kore")},
		Input:          asking(answer, tag),
		ResponseFormat: format,
	}))
	defer reply.Body.Close()
	return reply.Header.Get("Content-Type"), must(io.ReadAll(reply.Body))
}

// wavHeader has the fields of the 44 bytes in front of the samples, in their order.
type wavHeader struct {
	Riff           [4]byte
	RiffBytes      uint32
	Wave, Format   [4]byte
	FormatBytes    uint32
	Encoding       uint16
	Channels       uint16
	SampleRate     uint32
	BytesPerSecond uint32
	FrameBytes     uint16
	BitsPerSample  uint16
	Data           [4]byte
	DataBytes      uint32
}

func readWav(sound []byte) (wavHeader, []byte) {
	var header wavHeader
	reader := bytes.NewReader(sound)
	must(true, binary.Read(reader, binary.LittleEndian, &header))
	return header, must(io.ReadAll(reader))
}

func wavWith(riffBytes, dataBytes uint32) wavHeader {
	return wavHeader{
		Riff: [4]byte([]byte("RIFF")), RiffBytes: riffBytes,
		Wave: [4]byte([]byte("WAVE")), Format: [4]byte([]byte("fmt ")), FormatBytes: 16,
		Encoding: 1, Channels: 1, SampleRate: 24_000, BytesPerSecond: 48_000, FrameBytes: 2, BitsPerSample: 16,
		Data: [4]byte([]byte("data")), DataBytes: dataBytes,
	}
}

func bareSamples() []byte {
	kind, samples := speak("unknown-length", "go-pcm", openai.AudioSpeechNewParamsResponseFormatPCM)
	same(kind, "audio/pcm")
	return samples
}

func speechKnownLength() {
	kind, sound := speak("known-length", "go-wav", "")
	same(kind, "audio/wav")
	header, samples := readWav(sound)
	same(samples, bareSamples())
	same(header, wavWith(uint32(len(samples))+36, uint32(len(samples))))
}

func speechUnknownLength() {
	_, sound := speak("unknown-length", "go-wav-stream", openai.AudioSpeechNewParamsResponseFormatWAV)
	header, samples := readWav(sound)
	same(samples, bareSamples())
	same(header, wavWith(math.MaxUint32, math.MaxUint32))
}

func speechPCM() {
	seconds := must(strconv.ParseFloat(setting("SVC_SPEECH_SECONDS"), 64))
	samples := bareSamples()
	same(len(samples), int(seconds*48_000))
	demand(bytes.Trim(samples, "\x00") != nil, "it is silent")
}
