import { availableParallelism } from "node:os";
import { InferenceSession } from "onnxruntime-node";

/** Opens a model for this process. `run` blocks the thread it is called on: only hosts call it. */
export function openOnnx(path: string): Promise<InferenceSession> {
  return InferenceSession.create(path, {
    intraOpNumThreads: availableParallelism(),
    interOpNumThreads: 1,
    executionMode: "sequential",
    graphOptimizationLevel: "all",
    logSeverityLevel: 3,
  });
}
