/** For tests outside of this package, which do not find its dependencies by name. */
export { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from "mediabunny";
