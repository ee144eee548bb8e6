/** How Bedrock refuses and fails: the name of the error stands in a header. */

import { bedrockException } from "../../../fake/vendors/bedrock-frames.ts";
import type { Dialect, ErrorClass, ErrorOptions, StreamFault, VendorReply } from "../../dialect.ts";

interface Said {
  readonly status: number;
  readonly name: string;
  readonly message: string;
}

function vendorError(
  { status, name, message }: Said,
  { words }: Pick<ErrorOptions, "words">,
): VendorReply {
  return {
    status,
    headers: {
      "content-type": "application/json",
      "x-amzn-errortype": `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
      "x-amzn-requestid": "00000000-0000-4000-8000-000000000001",
    },
    packets: [JSON.stringify({ message: `${message} ${words}` })],
  };
}

const invalid = { status: 400, name: "ValidationException" } as const;

const classes: Readonly<Partial<Record<ErrorClass, Said>>> = {
  badKey: {
    status: 403,
    name: "UnrecognizedClientException",
    message: "The security token included in the request is invalid.",
  },
  noPermission: {
    status: 403,
    name: "AccessDeniedException",
    message: "You don't have access to the model with the specified model ID.",
  },
  outOfMoney: {
    status: 400,
    name: "ServiceQuotaExceededException",
    message: "Your request exceeds the service quota for your account.",
  },
  dailyQuota: {
    status: 429,
    name: "ThrottlingException",
    message: "Too many tokens per day, please wait before trying again.",
  },
  overloaded: {
    status: 503,
    name: "ServiceUnavailableException",
    message: "The service is unable to process your request.",
  },
  loading: {
    status: 429,
    name: "ModelNotReadyException",
    message: "Model is not ready for inference. Please wait and try your request again.",
  },
  modelMissing: {
    status: 404,
    name: "ResourceNotFoundException",
    message: "Model not found.",
  },
  badRequest: { ...invalid, message: "Malformed input request: #/temperature: 2 is not <= 1" },
  tooLong: { ...invalid, message: "Input is too long for requested model." },
  serverError: {
    status: 500,
    name: "InternalServerException",
    message: "The system encountered an unexpected error.",
  },
  requestTimeout: {
    status: 408,
    name: "ModelTimeoutException",
    message: "Model has timed out in processing the request.",
  },
};

const faults: Readonly<Record<StreamFault, string>> = {
  failed: "modelStreamErrorException",
  overloaded: "serviceUnavailableException",
  limited: "throttlingException",
};

export const bedrockErrors: Pick<Dialect, "error" | "rateLimited" | "fault"> = {
  error: (kind, options) => {
    const said = classes[kind];
    return said === undefined ? undefined : vendorError(said, options);
  },
  rateLimited: ({ form }, options) => {
    const message = "Too many requests, please wait before trying again.";
    const said = { status: 429, name: "ThrottlingException", message };
    return form === "none" ? vendorError(said, options) : undefined;
  },
  fault: (kind, words) => bedrockException(faults[kind], `Something failed ${words}`),
};
