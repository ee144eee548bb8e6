"""llama.cpp's own HTTP server on a free loopback port: chat or embed MODEL.gguf [PORT].

Prints its address, and ends when its standard input does: it never outlives the one who started it.
"""

import os
import sys

import xllamacpp


def main() -> None:
    purpose, model = sys.argv[1], sys.argv[2]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"tiny"}
    # Two at once, each with a context of 1,024 tokens.
    params.n_parallel = 2
    params.n_ctx = 2048
    params.kv_unified = False
    params.endpoint_slots = True
    params.endpoint_metrics = True
    if len(sys.argv) > 3:
        params.port = int(sys.argv[3])
    if purpose == "embed":
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(params)
    print(f"listening {server.listening_address}", flush=True)
    sys.stdin.read()
    os._exit(0)


main()
