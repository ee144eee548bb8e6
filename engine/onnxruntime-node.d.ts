// The package ships no types of its own; these are those of its interface.
declare module "onnxruntime-node" {
  export { InferenceSession, Tensor } from "onnxruntime-common";
}
