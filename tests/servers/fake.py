"""Servers that start late, end when they are asked something new, or write what is no message."""

import json
import sys
import time

mode = sys.argv[1]
if mode == "slow":
    time.sleep(11)
if mode == "noisy":
    print("Starting up ...\n[info] ready\n{\"level\": 30}", flush=True)
    print("warming up " + "." * 100000, file=sys.stderr, flush=True)

TOOL = {
    "name": "echo",
    "description": "Says what it is told",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}


def result(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": mode, "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        if mode == "noisy":
            print("calling", flush=True)
        return {"content": [{"type": "text", "text": params["arguments"]["text"]}]}
    return None


for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "server/discover" and mode == "exits":
        sys.exit("this is no request of mine")
    if "id" not in message or method is None:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    found = result(method, message.get("params", {}))
    if found is None:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    else:
        answer["result"] = found
    print(json.dumps(answer), flush=True)
