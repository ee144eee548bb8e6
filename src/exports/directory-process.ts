/** The process that works in the directory of one export (`file-carrier.ts`). */
import { DeliveryFailure } from "./delivery-failure.ts";
import { type DirectoryRequest, work } from "./directory.ts";

export type DirectoryReply =
  | { readonly otherName: string | undefined }
  | { readonly failure: string; readonly isFinal: boolean };

async function reply(request: DirectoryRequest): Promise<DirectoryReply> {
  try {
    return { otherName: await work(request) };
  } catch (error) {
    if (!(error instanceof DeliveryFailure)) throw error;
    return { failure: error.message, isFinal: error.isFinal };
  }
}

process.on("message", (request: DirectoryRequest) => {
  void reply(request).then((answer) => process.send?.(answer));
});
// Its server has ended.
process.on("disconnect", () => process.exit());
