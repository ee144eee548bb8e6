import { upstreamError } from "../kit/failure.ts";

export interface Place {
  readonly project: string;
  readonly location: string;
  /** Express mode: calls are made with a key, which knows its project by itself. */
  readonly isExpress: boolean;
}

/** Where a location's models answer. */
export function toBaseUrl({ location, isExpress }: Place): string {
  if (isExpress || location === "global") return "https://aiplatform.googleapis.com/v1";
  // Locations of several regions have hosts of another form.
  if (location === "us" || location === "eu")
    return `https://aiplatform.${location}.rep.googleapis.com/v1`;
  return `https://${location}-aiplatform.googleapis.com/v1`;
}

/** What is wrong with the place, if anything: it becomes part of the address. */
export function placeProblem({ project, location, isExpress }: Place): string | undefined {
  if (isExpress) return undefined;
  if (!/^(?!\.+$)[\w.:-]+$/.test(project))
    return "project must be the id of a Google Cloud project";
  if (!/^[a-z0-9-]+$/.test(location))
    return "location must be a Google Cloud location, such as us-central1 or global";
  return undefined;
}

/** Before all models: behind the version. */
export function placePath({ project, location, isExpress }: Place): string {
  return isExpress ? "" : `/projects/${project}/locations/${location}`;
}

/**
 * A model by its resource. `gemini-2.5-flash` is Google's own; `meta/llama-4` and
 * `publishers/meta/models/llama-4` are another publisher's; `endpoints/123` is the operator's.
 */
export function modelPath(model: string): string {
  if (!model.includes("/")) return `/publishers/google/models/${toSegment(model)}`;
  const parts = model.split("/").map(toSegment);
  const [first = "", second = "", third = "", fourth = ""] = parts;
  if (first === "publishers" && third === "models") return `/publishers/${second}/models/${fourth}`;
  if (first === "endpoints") return `/endpoints/${second}`;
  const publisher = first === "models" ? "google" : first;
  return `/publishers/${publisher}/models/${parts.slice(1).join("/")}`;
}

/** Versions stand behind an @, which stays as it is documented. Dots alone would leave the folder. */
function toSegment(text: string): string {
  if (/^\.{1,2}$/.test(text))
    throw upstreamError("upstream_unavailable", {
      detail: `the name of a model has the part ${text}`,
      reason: "missing",
    });
  return encodeURIComponent(text).replaceAll("%40", "@");
}
