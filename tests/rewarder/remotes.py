"""Help for tests of remotes: a scripted runtime, a server around it, and a bare WebSocket client."""

import asyncio
import json
import threading
from contextlib import asynccontextmanager, suppress

import numpy as np
from websockets.asyncio.client import connect

from rewarder.sdk.runtime import Runtime, Tick, serve


class Scripted(Runtime):
    """Returns the ticks of `script`, a function of the tick's number in its episode; records its input."""

    env_ids = ("test.Scripted-v0", "test.Other-v0")
    fps, width, height = 200, 16, 8

    def __init__(self, script=lambda number: Tick()):
        self.script = script
        self.resets = []
        self.inputs = []
        self.number = 0
        self.actions = []
        self.threads = set()
        self.gate = threading.Event()  # a reset waits for it
        self.gate.set()
        self.closed = False
        self.loop = asyncio.get_running_loop()
        self.bell = asyncio.Event()

    async def until(self, condition):
        """Wait until `condition()` is true, which is checked at each call of this runtime."""
        async with asyncio.timeout(60):
            while not condition():
                self.bell.clear()
                await self.bell.wait()

    def ring(self):
        with suppress(RuntimeError):  # the test is over
            self.loop.call_soon_threadsafe(self.bell.set)

    def open(self):
        self.threads.add(threading.get_ident())

    def reset(self, env_id, seed):
        self.threads.add(threading.get_ident())
        self.resets.append((env_id, seed))
        self.number = 0
        self.ring()
        self.gate.wait(30)
        return Tick(frame=np.full((8, 16, 3), len(self.resets), np.uint8))

    def tick(self, events):
        self.threads.add(threading.get_ident())
        self.inputs += events
        self.number += 1
        self.ring()
        return self.script(self.number)

    def action(self, action):
        self.actions.append(action)
        self.ring()

    def close(self):
        self.closed = True


@asynccontextmanager
async def served(runtime, **options):
    """Serve `runtime`; yield its ports and the task that serves."""
    ports = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(runtime, on_ready=ports.set_result, **options))
    try:
        await asyncio.wait((ports, task), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        yield ports.result(), task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


class Wire:
    """A rewarder connection that records received messages, whole and as (method, episode_id, body)."""

    def __init__(self, websocket):
        self.websocket = websocket
        self.messages = []
        self.ids = 0

    async def send(self, method, **body):
        self.ids += 1
        headers = {"message_id": self.ids, "sent_at": 0.0}
        await self.websocket.send(json.dumps({"method": method, "headers": headers, "body": body}))
        return self.ids

    async def receive(self):
        async with asyncio.timeout(60):
            self.messages.append(json.loads(await self.websocket.recv()))
        return self.messages[-1]

    async def until(self, method, **body):
        """Receive up to the first message of this method with (at least) this body; return it."""
        while True:
            message = await self.receive()
            if message["method"] == method and body.items() <= message["body"].items():
                return message

    def heard(self):
        """Return what was received in short: method without "v0.", episode id, and the essential part of the body."""
        return [
            (
                message["method"].removeprefix("v0."),
                message["headers"].get("episode_id"),
                message["body"].get("env_state", message["body"].get("done")),
            )
            for message in self.messages
        ]


@asynccontextmanager
async def wire(ports, *, observer=False, password=None):
    """Connect to the rewarder port."""
    headers = {"openai-observer": "true"} if observer else {}
    if password is not None:
        headers["Authorization"] = f"Bearer {password}"
    url = f"ws://127.0.0.1:{ports.rewarder_port}/"
    async with connect(url, additional_headers=headers, compression=None, proxy=None) as websocket:
        yield Wire(websocket)


async def get_health(ports):
    reader, writer = await asyncio.open_connection("127.0.0.1", ports.rewarder_port)
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    assert head.startswith(b"HTTP/1.1 200")
    return json.loads(body)
