"""A client of the Python SDK that does what it is told.

Standard input holds a plan: the server, as a command or a URL, the mode in which the protocol is
negotiated, and the steps. Standard output gets one JSON array with what came of each step.
"""

import json
import os
import signal
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters


def dumped(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def exists(path):
    while not os.path.exists(path):
        await anyio.sleep(0.01)


async def list_tools(client, _step):
    result = await client.list_tools()
    return [dumped(tool) for tool in result.tools]


async def call(client, step):
    progress = []

    async def on_progress(done, total, message):
        progress.append({"progress": done, "total": total, "message": message})

    callback = on_progress if step.get("progress") else None
    try:
        result = await client.call_tool(
            step["name"], step["arguments"], progress_callback=callback
        )
    except MCPError as error:
        return {"error": {"code": error.error.code, "message": error.error.message}}
    return {"result": dumped(result), "progress": progress}


async def cancel(client, step):
    """Cancels the call once the file exists."""
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:

            async def stop():
                await exists(step["when"])
                scope.cancel()

            group.start_soon(stop)
            await client.call_tool(step["name"], step["arguments"])
            group.cancel_scope.cancel()
    return {"cancelled": scope.cancelled_caught}


async def vanish(client, step):
    """Is gone without a goodbye in the middle of the call, once the file exists."""
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, step["name"], step["arguments"])
        await exists(step["when"])
        os.kill(os.getpid(), signal.SIGKILL)


DOINGS = {"list": list_tools, "call": call, "cancel": cancel, "vanish": vanish}


async def main():
    plan = json.load(sys.stdin)
    server = plan["server"]
    target = server["url"] if "url" in server else StdioServerParameters(**server)
    results = []
    async with Client(target, mode=plan["mode"]) as client:
        for step in plan["steps"]:
            results.append(await DOINGS[step["do"]](client, step))
    print(json.dumps(results))


anyio.run(main)
