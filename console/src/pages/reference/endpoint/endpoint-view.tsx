import { NativeSelect } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { CodeBlock, type Sample } from "../../../components/code/code-block.tsx";
import { callSamples } from "../../../components/code/samples.ts";
import { type Access, useModels } from "../access.ts";
import { baseUrlOf, type Endpoint, type EndpointReply, type OpenApi } from "../document.ts";
import { type FormValues, formInputs, formStart, toFormFields } from "../try-it/form-body.ts";
import { pretty } from "../try-it/pretty.ts";
import { TryIt } from "../try-it/try-it.tsx";
import classes from "./endpoint.module.css";
import { Errors } from "./errors.tsx";
import { type Body, type BodyExample, bodyExamples, eventText, namedExamples } from "./examples.ts";
import { FieldList } from "./field-list.tsx";
import { Parameters } from "./parameters.tsx";
import { Method, Words } from "./words.tsx";

interface EndpointViewProps {
  readonly document: OpenApi;
  readonly endpoint: Endpoint;
  readonly access: Access;
  /** Whether one came here from another endpoint, and not by opening the page. */
  readonly takesFocus: boolean;
}

export function EndpointView({ document, endpoint, access, takesFocus }: EndpointViewProps) {
  const baseUrl = baseUrlOf(document);
  const models = useModels(access, { endpoint, baseUrl });
  const [edited, setEdited] = useState<string | undefined>();
  const [chosen, setChosen] = useState(0);
  const choose = (at: number) => {
    setChosen(at);
    setEdited(undefined);
  };
  const examples = bodyExamples(document, endpoint, models);
  const example = examples[chosen]?.body;
  const form = useFormBody({ document, endpoint, example });
  const written = example === undefined ? undefined : JSON.stringify(example, null, 2);
  const body = form === undefined ? (edited ?? written) : undefined;
  const address = endpoint.api === "gateway" ? baseUrl : location.origin;
  const samples = callSamples({
    method: endpoint.method,
    variable: endpoint.api === "gateway" ? "SVC_API_KEY" : "SVC_TOKEN",
    baseUrl: address,
    path: endpoint.path.replace("{account}", access.account?.id ?? "{account}"),
    ...(form === undefined
      ? { body: readBody(body) ?? example }
      : { form: toFormFields(form.inputs, form.values) }),
  });
  return (
    <article className={classes.endpoint} aria-labelledby={endpoint.id}>
      <Head endpoint={endpoint} baseUrl={baseUrl} takesFocus={takesFocus} />
      <div className={classes.columns}>
        <div className={classes.told}>
          <Parameters document={document} parameters={endpoint.parameters} />
          {endpoint.body?.schema !== undefined && (
            <section>
              <h3>Body</h3>
              <FieldList document={document} schema={endpoint.body.schema} label="Body fields" />
            </section>
          )}
          {endpoint.body === undefined && endpoint.parameters.length === 0 && (
            <p className={classes.about}>This endpoint takes no parameters.</p>
          )}
        </div>
        <div className={classes.shown}>
          <section>
            <h3>Request</h3>
            <ExamplePicker examples={examples} chosen={chosen} onChange={choose} />
            <CodeBlock what="the request" samples={samples} />
          </section>
          <section>
            <h3>Try it</h3>
            <TryIt
              endpoint={endpoint}
              baseUrl={baseUrl}
              access={access}
              models={models}
              body={body}
              onBody={setEdited}
              form={form}
            />
          </section>
        </div>
      </div>
      {endpoint.replies
        .filter(({ status }) => status.startsWith("2"))
        .flatMap(({ contents }) => contents)
        .map((content) => (
          <ReplyView key={content.type} document={document} content={content} />
        ))}
      <Errors endpoint={endpoint} />
    </article>
  );
}

interface ExamplePickerProps {
  readonly examples: readonly BodyExample[];
  readonly chosen: number;
  readonly onChange: (at: number) => void;
}

/** Nothing where there is no choice. */
function ExamplePicker({ examples, chosen, onChange }: ExamplePickerProps) {
  if (examples.length < 2) return null;
  return (
    <NativeSelect
      label="Example"
      mb="xs"
      data={examples.map(({ label }, at) => ({ value: String(at), label }))}
      value={String(chosen)}
      onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}
    />
  );
}

interface HeadProps extends Pick<EndpointViewProps, "endpoint" | "takesFocus"> {
  readonly baseUrl: string;
}

function Head({ endpoint, baseUrl, takesFocus }: HeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (takesFocus) heading.current?.focus({ preventScroll: true });
  }, [takesFocus]);
  return (
    <div className={classes.head}>
      <h2 id={endpoint.id} ref={heading} tabIndex={-1}>
        {endpoint.summary}
      </h2>
      <p className={classes.address}>
        <Method method={endpoint.method} />
        <code>
          {endpoint.api === "gateway" && <span>{baseUrl}</span>}
          {endpoint.path}
        </code>
      </p>
      {endpoint.isPreview && <p className={classes.notice}>Preview. This endpoint may change.</p>}
      {endpoint.isDeprecated && (
        <p className={classes.notice}>Deprecated. The changelog lists the removal date.</p>
      )}
      {endpoint.description !== "" && (
        <p className={classes.about}>
          <Words text={endpoint.description} />
        </p>
      )}
    </div>
  );
}

/** What a multipart body is filled with; undefined where the body is JSON, or none. */
function useFormBody(options: {
  readonly document: OpenApi;
  readonly endpoint: Endpoint;
  readonly example: Body | undefined;
}) {
  const { document, endpoint, example } = options;
  const [edited, setEdited] = useState<FormValues>({});
  if (endpoint.body?.type !== "multipart/form-data") return undefined;
  const inputs = formInputs(document, endpoint.body.schema);
  const values = { ...formStart(inputs, example), ...edited };
  return { inputs, values, onChange: setEdited };
}

function readBody(text: string | undefined): Body | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Body);
  } catch {
    return undefined;
  }
}

interface ReplyViewProps {
  readonly document: OpenApi;
  readonly content: EndpointReply["contents"][number];
}

function ReplyView({ document, content }: ReplyViewProps) {
  const { type, schema } = content;
  const samples = type === "text/event-stream" ? eventSamples(content) : replySamples(content);
  return (
    <section className={classes.columns}>
      <div className={classes.told}>
        <h3>
          Response <code>{type}</code>
        </h3>
        {schema !== undefined && (
          <FieldList
            document={document}
            schema={schema}
            label={`Response fields, ${type}`}
            isReply
          />
        )}
      </div>
      {samples.length > 0 && (
        <div className={classes.beside}>
          <CodeBlock what="a response" samples={samples} />
        </div>
      )}
    </section>
  );
}

function eventSamples(content: EndpointReply["contents"][number]): readonly Sample[] {
  const code = eventText(content);
  return code === "" ? [] : [{ label: content.type, code }];
}

/** Text, such as subtitles, is shown as it is. */
function replySamples(content: EndpointReply["contents"][number]): readonly Sample[] {
  const { type, example } = content;
  const named = namedExamples(content);
  const all = named.length > 0 || example === undefined ? named : [{ label: type, value: example }];
  return all.map(({ label, value }) => ({
    label,
    code: typeof value === "string" ? value : pretty(JSON.stringify(value)),
  }));
}
