import { describe, expect, test } from "bun:test";
import { curlCommand } from "../../../../../src/base/text/curl.ts";
import { endpointsOf, type OpenApi } from "../document.ts";
import { bodyExamples, eventText } from "../endpoint/examples.ts";
import { formInputs, formStart, missingIn, toFormData, toFormFields } from "./form-body.ts";
import { toQuestion } from "./question.ts";

/** An endpoint that takes a file, as transcriptions do. */
const document: OpenApi = {
  info: { title: "", version: "1", description: "" },
  paths: {
    "/audio/transcriptions": {
      post: {
        operationId: "createTranscription",
        tags: ["Transcription"],
        "x-preview": true,
        requestBody: {
          content: {
            "multipart/form-data": {
              schema: { $ref: "#/components/schemas/Asked" },
              example: { model: "m", language: "en" },
            },
          },
        },
        responses: {
          200: {
            description: "",
            content: { "application/json": {}, "text/event-stream": {} },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Asked: {
        type: "object",
        required: ["file", "model"],
        properties: {
          file: { type: "string", format: "binary" },
          model: { type: "string" },
          language: { type: "string" },
          response_format: { type: "string", enum: ["json", "srt"] },
          stream: { type: "boolean" },
        },
      },
    },
  },
};
const [endpoint] = endpointsOf(document, "gateway");
if (endpoint === undefined) throw new Error("there is no endpoint");
const inputs = formInputs(document, endpoint.body?.schema);
const start = formStart(inputs, endpoint.body?.example);
const file = new File(["RIFF"], "it's me.wav", { type: "audio/wav" });

describe("a multipart body", () => {
  test("has a field for each part", () => {
    expect(endpoint).toMatchObject({ isPreview: true, canStream: true, isStream: false });
    expect(inputs.map(({ name, isFile, isRequired }) => [name, isFile, isRequired])).toEqual([
      ["file", true, true],
      ["model", false, true],
      ["language", false, false],
      ["response_format", false, false],
      ["stream", false, false],
    ]);
    expect(inputs.map(({ values }) => values)).toEqual([
      [],
      [],
      [],
      ["json", "srt"],
      ["true", "false"],
    ]);
    expect(start).toEqual({ model: "m", language: "en" });
  });

  test("is sent with its file and without what is empty, and the browser names its type", () => {
    expect(missingIn(inputs, start).map(({ name }) => name)).toEqual(["file"]);
    const values = { ...start, language: "", file };
    expect(missingIn(inputs, values)).toEqual([]);
    const body = toFormData(values);
    expect([...body.keys()].toSorted()).toEqual(["file", "model"]);
    const draft = { endpoint, baseUrl: "http://h/v1", values: {}, body, key: "svc_x" };
    expect(toQuestion(draft)).toEqual({
      method: "POST",
      url: "http://h/v1/audio/transcriptions",
      headers: { authorization: "Bearer svc_x" },
      body,
    });
  });

  test("is a form for curl, too, with the names that a shell takes", async () => {
    const form = toFormFields(inputs, { ...start, file, language: "@x" });
    const code = curlCommand({ url: "http://h/v1/x", bearer: "k", form });
    const shown = code.replace(/^curl /, "printf '%s\\n' ");
    const child = Bun.spawn(["sh", "-c", shown], { stdout: "pipe" });
    expect((await new Response(child.stdout).text()).trim().split("\n").slice(3)).toEqual([
      "-F",
      "file=@it's me.wav",
      "--form-string",
      "model=m",
      "--form-string",
      "language=@x",
    ]);
    expect(code).not.toContain("-X");
  });
});

describe("examples", () => {
  const body = (type: string, content: object) => ({ ...endpoint, body: { type, ...content } });

  test("of a body have names where there are several, and a model that can be called", () => {
    const several = body("application/json", {
      examples: {
        text: { summary: "Text", value: { model: "a" } },
        tools: { value: { model: "b", tools: [] } },
      },
    });
    expect(bodyExamples(document, several, ["b"])).toEqual([
      { label: "Text", body: { model: "b" } },
      { label: "tools", body: { model: "b", tools: [] } },
    ]);
    const one = body("application/json", { example: { id: 1 } });
    expect(bodyExamples(document, one, ["b"])).toEqual([{ label: "Example", body: { id: 1 } }]);
    expect(bodyExamples(document, { ...endpoint, body: undefined }, ["b"])).toEqual([]);
  });

  test("of a stream are its events, named where the format names them", () => {
    expect(eventText({ example: { id: 1 } })).toBe('data: {\n  "id": 1\n}');
    expect(eventText({ example: "event: ping\ndata: {}\n\n" })).toBe("event: ping\ndata: {}");
    const examples = {
      first: { value: { type: "message_start" } },
      last: { value: { type: "speech.audio.done" } },
    };
    expect(eventText({ examples })).toBe(
      'event: message_start\ndata: {\n  "type": "message_start"\n}\n\ndata: {\n  "type": "speech.audio.done"\n}',
    );
    expect(eventText({})).toBe("");
  });
});
